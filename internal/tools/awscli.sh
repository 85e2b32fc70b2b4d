#!/bin/sh
# Looks at a sandbox with the AWS CLI: a client whose wire protocols nobody here
# wrote. Usage: awscli.sh DIRECTORY-OF-BINARIES
set -eu
bin=$1
out=$(mktemp)
"$bin/hadr" sandbox --listen 127.0.0.1:0 --speed 10 >"$out" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null; wait $pid 2>/dev/null; rm -f "$out"' EXIT
for _ in $(seq 300); do
	if grep -q '^Ready' "$out"; then break; fi
	kill -0 $pid 2>/dev/null || { cat "$out"; exit 1; }
	sleep 0.2
done
eval "$(grep '^export ' "$out")"
unset AWS_PROFILE
export AWS_PAGER=
passed=0

want() { # WHAT EXPECTED ACTUAL
	if [ "$2" = "$3" ]; then
		echo "ok: $1"
		passed=$((passed + 1))
	else
		echo "FAILED: $1: want '$2', got '$3'" >&2
		exit 1
	fi
}

want "STS knows the account" 123456789012 "$(aws sts get-caller-identity --query Account --output text)"
want "EC2 has four hosts that run" 4 "$(aws ec2 describe-instances --filters Name=instance-state-name,Values=running --query 'length(Reservations[].Instances[])' --output text)"
instance=$(aws ec2 describe-instances --filters Name=tag:Name,Values=db2-a --query 'Reservations[0].Instances[0].InstanceId' --output text)
want "all of them are managed by Systems Manager" 4 "$(aws ssm describe-instance-information --query 'length(InstanceInformationList)' --output text)"
command=$(aws ssm send-command --document-name AWS-RunShellScript --instance-ids "$instance" --parameters 'commands=["runuser -l db2inst1 -c \"db2pd -db SAMPLE -hadr\""]' --query Command.CommandId --output text)
for _ in $(seq 100); do
	status=$(aws ssm list-command-invocations --command-id "$command" --query 'CommandInvocations[0].Status' --output text)
	case $status in Success | Failed | TimedOut | Cancelled) break ;; esac
	sleep 0.2
done
want "a command on the primary succeeds" Success "$status"
role=$(aws ssm get-command-invocation --command-id "$command" --instance-id "$instance" --query StandardOutputContent --output text | sed -n 's/^ *HADR_ROLE = //p')
want "db2pd says that it is the primary" PRIMARY "$role"
aws cloudwatch put-metric-alarm --alarm-name cli --namespace HADR --metric-name SQLLatency --statistic Maximum --period 60 --evaluation-periods 1 --threshold 20000 --comparison-operator GreaterThanThreshold --treat-missing-data breaching
want "a new alarm is there" cli "$(aws cloudwatch describe-alarms --query 'MetricAlarms[].AlarmName' --output text)"
aws dynamodb create-table --table-name cli --billing-mode PAY_PER_REQUEST --attribute-definitions AttributeName=pk,AttributeType=S --key-schema AttributeName=pk,KeyType=HASH >/dev/null
aws dynamodb wait table-exists --table-name cli
aws dynamodb put-item --table-name cli --item '{"pk":{"S":"x"},"n":{"N":"1"}}'
want "a condition that holds not is refused" ConditionalCheckFailedException "$(aws dynamodb put-item --table-name cli --item '{"pk":{"S":"x"}}' --condition-expression 'attribute_not_exists(pk)' 2>&1 | sed -n 's/.*(\(ConditionalCheckFailedException\)).*/\1/p')"
echo "$passed passed, 0 failed"
