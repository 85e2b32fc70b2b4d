# Version 1 of the CLI has an address of its own for SQS and reads no
# AWS_ENDPOINT_URL for it.
sqs() { aws sqs --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }

for q in a b; do url=$(sqs create-queue --queue-name "cli-$q" --query QueueUrl --output text); done
want "sqs: queues, a page each" 2 "$(all sqs list-queues --queue-name-prefix cli- --page-size 1 --query QueueUrls)"
want "sqs: a page of queues has a next one" "$one_and_more" "$(first QueueUrls sqs list-queues --queue-name-prefix cli-)"
queue=$(sqs get-queue-attributes --queue-url "$url" --attribute-names QueueArn --query Attributes.QueueArn --output text)
refused "sqs: a queue that does not exist" AWS.SimpleQueueService.NonExistentQueue sqs get-queue-url --queue-name no-such

for t in a b; do topic=$(aws sns create-topic --name "cli-$t" --query TopicArn --output text); done
want "sns: topics" 2 "$(all aws sns list-topics --query "Topics[?contains(TopicArn, ':cli-')].TopicArn")"
want "sns: a page of topics has a next one" "$one_and_more" "$(first Topics aws sns list-topics)"
subscription=$(aws sns subscribe --topic-arn "$topic" --protocol sqs --notification-endpoint "$queue" --return-subscription-arn --query SubscriptionArn --output text)
want "sns: the subscription is listed" "$subscription" "$(aws sns list-subscriptions-by-topic --topic-arn "$topic" --query 'Subscriptions[0].SubscriptionArn' --output text)"
sqs set-queue-attributes --queue-url "$url" --attributes '{"Policy":"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"Service\":\"sns.amazonaws.com\"},\"Action\":\"sqs:SendMessage\",\"Resource\":\"'"$queue"'\"}]}"}'
aws sns publish --topic-arn "$topic" --subject s --message hello >/dev/null
receipt=$(sqs receive-message --queue-url "$url" --wait-time-seconds 5 --query 'Messages[0].[Body,ReceiptHandle]' --output text)
want "sns: what is published arrives in the queue" hello "$(echo "$receipt" | sed -n 's/.*"Message": *"\([^"]*\)".*/\1/p')"
sqs delete-message --queue-url "$url" --receipt-handle "$(echo "$receipt" | sed 's/.*	//' | tail -n 1)"
refused "sns: a topic that does not exist" NotFound aws sns publish --topic-arn "$topic-no-such" --message x
aws sns unsubscribe --subscription-arn "$subscription"
aws sns delete-topic --topic-arn "$topic"
refused "sns: a deleted topic is gone" NotFound aws sns get-topic-attributes --topic-arn "$topic"
sqs delete-queue --queue-url "$url"
