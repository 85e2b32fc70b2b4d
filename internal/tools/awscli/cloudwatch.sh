for a in a b; do
	aws cloudwatch put-metric-alarm --alarm-name "cli-$a" --namespace CLI --metric-name Latency --statistic Maximum --period 60 --evaluation-periods 1 \
		--threshold 20000 --comparison-operator GreaterThanThreshold --treat-missing-data breaching
done
aws cloudwatch put-composite-alarm --alarm-name cli-any --alarm-rule 'ALARM(cli-a) OR ALARM(cli-b)'
want "cloudwatch: alarms, a page each" 2 "$(all aws cloudwatch describe-alarms --alarm-name-prefix cli- --page-size 1 --query 'MetricAlarms[].AlarmName')"
want "cloudwatch: a page of alarms has a next one" "$one_and_more" "$(first MetricAlarms aws cloudwatch describe-alarms --alarm-name-prefix cli-)"
want "cloudwatch: the rule of a composite alarm" 'ALARM(cli-a) OR ALARM(cli-b)' \
	"$(aws cloudwatch describe-alarms --alarm-names cli-any --alarm-types CompositeAlarm --query 'CompositeAlarms[0].AlarmRule' --output text)"
aws cloudwatch set-alarm-state --alarm-name cli-b --state-value ALARM --state-reason test
want "cloudwatch: the history has the new state" StateUpdate "$(aws cloudwatch describe-alarm-history --alarm-name cli-b --history-item-type StateUpdate \
	--max-items 1 --query 'AlarmHistoryItems[0].HistoryItemType' --output text | head -n 1)"
aws cloudwatch put-metric-data --namespace CLI --metric-data 'MetricName=Latency,Value=7,Unit=Milliseconds'
want "cloudwatch: a metric is listed" Latency "$(aws cloudwatch list-metrics --namespace CLI --query 'Metrics[0].MetricName' --output text)"
refused "cloudwatch: a state that does not exist" ValidationError aws cloudwatch set-alarm-state --alarm-name cli-a --state-value BROKEN --state-reason test
refused "cloudwatch: an alarm that does not exist" ResourceNotFound aws cloudwatch set-alarm-state --alarm-name no-such --state-value OK --state-reason test
aws cloudwatch delete-alarms --alarm-names cli-any
aws cloudwatch delete-alarms --alarm-names cli-a cli-b
want "cloudwatch: deleted alarms are gone" 0 "$(aws cloudwatch describe-alarms --alarm-name-prefix cli- --query 'length(MetricAlarms)')"
