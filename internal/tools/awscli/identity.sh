want "sts: knows the account" 123456789012 "$(aws sts get-caller-identity --query Account --output text)"
trust='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sts:AssumeRole"}]}'
allow='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"dynamodb:ListTables","Resource":"*"}]}'
for r in a b; do aws iam create-role --role-name "cli-$r" --path /cli/ --assume-role-policy-document "$trust" >/dev/null; done
want "iam: roles of a path, a page each" 2 "$(all aws iam list-roles --path-prefix /cli/ --page-size 1 --query 'Roles[].RoleName')"
want "iam: a page of roles has a next one" "$one_and_more" "$(first Roles aws iam list-roles --path-prefix /cli/)"
aws iam put-role-policy --role-name cli-a --policy-name list --policy-document "$allow"
want "iam: a policy is read as it was written" dynamodb:ListTables \
	"$(aws iam get-role-policy --role-name cli-a --policy-name list --query 'PolicyDocument.Statement[0].Action' --output text)"
want "iam: and simulated" "allowed implicitDeny" "$(aws iam simulate-principal-policy --policy-source-arn arn:aws:iam::123456789012:role/cli/cli-a \
	--action-names dynamodb:ListTables dynamodb:DeleteTable --query 'EvaluationResults[].EvalDecision' --output text | tr '\t' ' ')"
refused "iam: a role that exists" EntityAlreadyExists aws iam create-role --role-name cli-a --assume-role-policy-document "$trust"
refused "iam: a malformed policy" MalformedPolicyDocument aws iam put-role-policy --role-name cli-a --policy-name bad --policy-document '{'
refused "iam: a role with policies" DeleteConflict aws iam delete-role --role-name cli-a

set -- $(aws sts assume-role --role-arn arn:aws:iam::123456789012:role/cli/cli-a --role-session-name cli --query 'Credentials.[AccessKeyId,SecretAccessKey,SessionToken]' --output text)
as_role() { AWS_ACCESS_KEY_ID=$1 AWS_SECRET_ACCESS_KEY=$2 AWS_SESSION_TOKEN=$3 aws dynamodb "$4" ${5:+--table-name "$5"}; }
as_role "$1" "$2" "$3" list-tables >/dev/null
refused "sts: a session may do what its role may, and nothing else" AccessDeniedException as_role "$1" "$2" "$3" delete-table x
refused "sts: a session that is too long" ValidationError aws sts assume-role --role-arn arn:aws:iam::123456789012:role/cli/cli-a --role-session-name cli --duration-seconds 1000000

aws iam delete-role-policy --role-name cli-a --policy-name list
for r in a b; do aws iam delete-role --role-name "cli-$r"; done
refused "iam: a deleted role is gone" NoSuchEntity aws iam get-role --role-name cli-a
