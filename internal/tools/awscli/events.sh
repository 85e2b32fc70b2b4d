for r in a b; do aws events put-rule --name "cli-$r" --event-pattern '{"source":["cli"]}' >/dev/null; done
want "events: rules, a page each" 2 "$(all aws events list-rules --name-prefix cli- --page-size 1 --query 'Rules[].Name')"
want "events: a page of rules has a next one" "$one_and_more" "$(first Rules aws events list-rules --name-prefix cli-)"
want "events: a target is taken" 0 "$(aws events put-targets --rule cli-a --targets Id=q,Arn=arn:aws:sqs:eu-central-1:123456789012:q --query FailedEntryCount)"
want "events: and listed" q "$(aws events list-targets-by-rule --rule cli-a --query 'Targets[].Id' --output text)"
want "events: an event is taken" 0 "$(aws events put-events --entries '[{"Source":"cli","DetailType":"t","Detail":"{}"}]' --query FailedEntryCount)"
refused "events: a pattern that is none" InvalidEventPatternException aws events put-rule --name bad --event-pattern '{'
refused "events: a rule with targets" ValidationException aws events delete-rule --name cli-a
aws events remove-targets --rule cli-a --ids q >/dev/null
for r in a b; do aws events delete-rule --name "cli-$r"; done
refused "events: a deleted rule is gone" ResourceNotFoundException aws events describe-rule --name cli-a

schedule() { # VERB NAME RATE
	aws scheduler "$1-schedule" --name "$2" --schedule-expression "rate($3)" --flexible-time-window Mode=OFF \
		--target "Arn=arn:aws:sqs:eu-central-1:123456789012:q,RoleArn=$scheduler" --query ScheduleArn --output text
}
scheduler=$(aws iam create-role --role-name cli-scheduler --query Role.Arn --output text --assume-role-policy-document \
	'{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"scheduler.amazonaws.com"},"Action":"sts:AssumeRole"}]}')
for s in a b; do schedule create "cli-$s" '5 minutes' >/dev/null; done
want "scheduler: schedules, a page each" 2 "$(all aws scheduler list-schedules --name-prefix cli- --page-size 1 --query 'Schedules[].Name')"
want "scheduler: a page of schedules has a next one" "$one_and_more" "$(first Schedules aws scheduler list-schedules --name-prefix cli-)"
schedule update cli-a '1 hour' >/dev/null
want "scheduler: a changed schedule" 'rate(1 hour)' "$(aws scheduler get-schedule --name cli-a --query ScheduleExpression --output text)"
refused "scheduler: a schedule that exists" ConflictException schedule create cli-a '1 hour'
refused "scheduler: an expression that is none" ValidationException schedule update cli-a 'never'
for s in a b; do aws scheduler delete-schedule --name "cli-$s"; done
refused "scheduler: a deleted schedule is gone" ResourceNotFoundException aws scheduler get-schedule --name cli-a
aws iam delete-role --role-name cli-scheduler
