for g in a b; do aws logs create-log-group --log-group-name "/cli/$g"; done
want "logs: groups, a page each" 2 "$(all aws logs describe-log-groups --log-group-name-prefix /cli/ --page-size 1 --query 'logGroups[].logGroupName')"
want "logs: a page of groups has a next one" "$one_and_more" "$(first logGroups aws logs describe-log-groups --log-group-name-prefix /cli/)"
aws logs create-log-stream --log-group-name /cli/a --log-stream-name s
now=$(date +%s)000
aws logs put-log-events --log-group-name /cli/a --log-stream-name s --log-events "timestamp=$now,message=one" "timestamp=$now,message=two" >/dev/null
want "logs: events of a stream" 2 "$(aws logs get-log-events --log-group-name /cli/a --log-stream-name s --start-from-head --query 'length(events)')"
want "logs: filtered events" two "$(aws logs filter-log-events --log-group-name /cli/a --filter-pattern two --query 'events[].message' --output text)"
refused "logs: a group that exists" ResourceAlreadyExistsException aws logs create-log-group --log-group-name /cli/a
for g in a b; do aws logs delete-log-group --log-group-name "/cli/$g"; done
refused "logs: a deleted group is gone" ResourceNotFoundException aws logs describe-log-streams --log-group-name /cli/a
