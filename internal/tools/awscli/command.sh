# A command on the simulated hosts: only the sandbox has them.
want "ec2: four hosts run" 4 "$(aws ec2 describe-instances --filters Name=instance-state-name,Values=running --query 'length(Reservations[].Instances[])' --output text)"
instance=$(aws ec2 describe-instances --filters Name=tag:Name,Values=db2-a --query 'Reservations[0].Instances[0].InstanceId' --output text)
want "ssm: all of them are managed" 4 "$(all aws ssm describe-instance-information --page-size 5 --query 'InstanceInformationList[].InstanceId')"
command=$(aws ssm send-command --document-name AWS-RunShellScript --instance-ids "$instance" \
	--parameters 'commands=["runuser -l db2inst1 -c \"db2pd -db SAMPLE -hadr\""]' --query Command.CommandId --output text)
aws ssm wait command-executed --command-id "$command" --instance-id "$instance"
role=$(aws ssm get-command-invocation --command-id "$command" --instance-id "$instance" --query StandardOutputContent --output text | sed -n 's/^ *HADR_ROLE = //p')
want "ssm: a command on the primary says that it is the primary" PRIMARY "$role"
want "ssm: the invocation is listed" Success "$(aws ssm list-command-invocations --command-id "$command" --query 'CommandInvocations[0].Status' --output text)"
refused "ssm: a command that does not exist" InvocationDoesNotExist \
	aws ssm get-command-invocation --command-id 00000000-0000-0000-0000-000000000000 --instance-id "$instance"
