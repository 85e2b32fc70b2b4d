for p in a b; do aws ssm put-parameter --name "/cli/$p" --type String --value "$p" >/dev/null; done
want "ssm: parameters of a path, a page each" 2 "$(all aws ssm get-parameters-by-path --path /cli --page-size 1 --query 'Parameters[].Name')"
want "ssm: a page of parameters has a next one" "$one_and_more" "$(first Parameters aws ssm get-parameters-by-path --path /cli)"
want "ssm: a parameter is read" b "$(aws ssm get-parameter --name /cli/b --query Parameter.Value --output text)"
aws ssm put-parameter --name /cli/b --value '{"metrics":{"force_flush_interval":5}}' --overwrite >/dev/null
want "ssm: a parameter that is overwritten has a second version" 2 "$(aws ssm get-parameter --name /cli/b --query Parameter.Version --output text)"
want "ssm: and its JSON as it was given" '{"metrics":{"force_flush_interval":5}}' "$(aws ssm get-parameter --name /cli/b --query Parameter.Value --output text)"
refused "ssm: a parameter that exists" ParameterAlreadyExists aws ssm put-parameter --name /cli/a --type String --value x
want "ssm: and one that does not is told apart" "/cli/x" "$(aws ssm delete-parameters --names /cli/a /cli/x --query 'InvalidParameters[]' --output text)"
refused "ssm: a deleted parameter is gone" ParameterNotFound aws ssm get-parameter --name /cli/a

content='{"schemaVersion":"2.2","description":"d","mainSteps":[{"action":"aws:runShellScript","name":"s","inputs":{"runCommand":["echo hi"]}}]}'
aws ssm create-document --name cli-document --document-type Command --content "$content" >/dev/null
want "ssm: a document is read" 2.2 "$(aws ssm get-document --name cli-document --query Content --output text | sed 's/.*schemaVersion": *"\([^"]*\)".*/\1/')"
want "ssm: own documents" cli-document "$(aws ssm list-documents --filters Key=Owner,Values=Self --page-size 5 --query "DocumentIdentifiers[?Name=='cli-document'].Name" --output text)"
refused "ssm: a document that exists" DocumentAlreadyExists aws ssm create-document --name cli-document --document-type Command --content "$content"
aws ssm delete-document --name cli-document
refused "ssm: a deleted document is gone" InvalidDocument aws ssm get-document --name cli-document
