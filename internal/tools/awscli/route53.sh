zone=$(aws route53 create-hosted-zone --name cli.example. --caller-reference "cli-$$" --query HostedZone.Id --output text)
change() { # ACTION NAME VALUE
	aws route53 change-resource-record-sets --hosted-zone-id "$zone" --query ChangeInfo.Id --output text --change-batch \
		'{"Changes":[{"Action":"'"$1"'","ResourceRecordSet":{"Name":"'"$2"'.cli.example.","Type":"A","TTL":30,"ResourceRecords":[{"Value":"'"$3"'"}]}}]}'
}
for n in a b; do id=$(change CREATE $n 10.0.0.1); done
aws route53 wait resource-record-sets-changed --id "$id"
want "route53: records, a page each" 4 "$(all aws route53 list-resource-record-sets --hosted-zone-id "$zone" --page-size 1 --query 'ResourceRecordSets[].join(`/`, [Name, Type])')"
want "route53: a page of records has a next one" "$one_and_more" "$(first ResourceRecordSets aws route53 list-resource-record-sets --hosted-zone-id "$zone")"
refused "route53: a record that exists" InvalidChangeBatch change CREATE a 10.0.0.1
refused "route53: a zone with records" HostedZoneNotEmpty aws route53 delete-hosted-zone --id "$zone"
check=$(aws route53 create-health-check --caller-reference "cli-$$" --health-check-config Type=CALCULATED,HealthThreshold=0 --query HealthCheck.Id --output text)
want "route53: a health check is listed" "$check" "$(aws route53 list-health-checks --query "HealthChecks[?Id=='$check'].Id" --output text)"
aws route53 delete-health-check --health-check-id "$check"
refused "route53: a deleted health check is gone" NoSuchHealthCheck aws route53 get-health-check --health-check-id "$check"
for n in a b; do change DELETE $n 10.0.0.1 >/dev/null; done
aws route53 delete-hosted-zone --id "$zone" >/dev/null
refused "route53: a deleted zone is gone" NoSuchHostedZone aws route53 get-hosted-zone --id "$zone"
