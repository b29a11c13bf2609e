// Amazon's SDK for Go, v2, unchanged, as a client of tarry: the endpoint is the first argument.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

var ctx = context.Background()

func check(good bool, what string) {
	if !good {
		log.Fatal(what)
	}
}

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	client := sqs.New(sqs.Options{Region: "us-east-1", BaseEndpoint: aws.String(os.Args[1]),
		Credentials: credentials.NewStaticCredentialsProvider("anyone", "anything", "")})
	create := func(name string, attributes map[string]string) *string {
		return got(client.CreateQueue(ctx, &sqs.CreateQueueInput{
			QueueName: &name, Attributes: attributes})).QueueUrl
	}
	receive := func(url *string, visibility int32) []types.Message {
		return got(client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 20,
			VisibilityTimeout: visibility, MessageAttributeNames: []string{"All"}})).Messages
	}

	dead := create("go-dead", nil)
	arn := got(client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: dead, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})).Attributes["QueueArn"]
	url := create("go", map[string]string{
		"RedrivePolicy": `{"deadLetterTargetArn":"` + arn + `","maxReceiveCount":2}`})

	got(client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("later ☃"),
		DelaySeconds: 1, MessageAttributes: map[string]types.MessageAttributeValue{
			"color": {DataType: aws.String("String"), StringValue: aws.String("red")}}}))
	messages := receive(url, 5)
	check(len(messages) == 1 && *messages[0].Body == "later ☃", "the delayed message")
	check(*messages[0].MessageAttributes["color"].StringValue == "red", "its attribute")
	for _, timeout := range []int32{600, 0} {
		got(client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: url, ReceiptHandle: messages[0].ReceiptHandle, VisibilityTimeout: timeout}))
	}
	messages = receive(url, 60)
	got(client.DeleteMessage(ctx, &sqs.DeleteMessageInput{
		QueueUrl: url, ReceiptHandle: messages[0].ReceiptHandle}))

	var entries []types.SendMessageBatchRequestEntry
	for i := range 10 {
		text := strconv.Itoa(i)
		entries = append(entries, types.SendMessageBatchRequestEntry{Id: &text, MessageBody: &text})
	}
	sent := got(client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: url, Entries: entries}))
	check(len(sent.Successful) == 10, "the batch is sent")
	messages = receive(url, 60)
	check(len(messages) == 10, "the batch is received")
	var gone []types.DeleteMessageBatchRequestEntry
	for i := range messages {
		gone = append(gone, types.DeleteMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), ReceiptHandle: messages[i].ReceiptHandle})
	}
	deleted := got(client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: url, Entries: gone}))
	check(len(deleted.Successful) == 10, "the batch is deleted")

	got(client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("poison")}))
	for range 2 {
		messages = receive(url, 60)
		got(client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: url, ReceiptHandle: messages[0].ReceiptHandle, VisibilityTimeout: 0}))
	}
	messages = receive(dead, 60)
	check(len(messages) == 1 && *messages[0].Body == "poison", "the dead message")

	got(client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: url}))
	_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String("x")})
	var missing *types.QueueDoesNotExist
	check(errors.As(err, &missing), "the queue is gone")
	fmt.Println("go: done")
}
