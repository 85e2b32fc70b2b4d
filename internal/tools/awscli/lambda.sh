role=$(aws iam create-role --role-name cli-lambda --query Role.Arn --output text --assume-role-policy-document \
	'{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}')
for f in a b; do
	aws lambda create-function --function-name "cli-$f" --runtime provided.al2023 --handler bootstrap --role "$role" --zip-file "fileb://$code" >/dev/null
done
aws lambda wait function-active-v2 --function-name cli-b
want "lambda: functions, a page each" 2 "$(all aws lambda list-functions --page-size 1 --query "Functions[?starts_with(FunctionName, 'cli-')].FunctionName")"
want "lambda: a page of functions has a next one" "$one_and_more" "$(first Functions aws lambda list-functions)"
want "lambda: a changed setting" 256 "$(aws lambda update-function-configuration --function-name cli-a --memory-size 256 --query MemorySize --output text)"
version=$(aws lambda publish-version --function-name cli-b --query Version --output text)
aws lambda create-alias --function-name cli-b --name live --function-version "$version" >/dev/null
want "lambda: an alias leads to its version" "$version" "$(aws lambda get-alias --function-name cli-b --name live --query FunctionVersion --output text)"
aws lambda add-permission --function-name cli-a --statement-id alarms --action lambda:InvokeFunction --principal lambda.alarms.cloudwatch.amazonaws.com >/dev/null
want "lambda: a permission is in the policy" alarms "$(aws lambda get-policy --function-name cli-a --query Policy --output text | sed -n 's/.*"Sid": *"\([^"]*\)".*/\1/p')"
refused "lambda: a function that exists" ResourceConflictException aws lambda create-function --function-name cli-a --runtime provided.al2023 \
	--handler bootstrap --role "$role" --zip-file "fileb://$code"
refused "lambda: a function that does not exist" ResourceNotFoundException aws lambda invoke --function-name no-such /dev/null
for f in a b; do aws lambda delete-function --function-name "cli-$f" >/dev/null; done
refused "lambda: a deleted function is gone" ResourceNotFoundException aws lambda get-function --function-name cli-a
aws iam delete-role --role-name cli-lambda
