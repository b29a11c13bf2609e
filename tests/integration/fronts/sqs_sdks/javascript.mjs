// Amazon's SDK for JavaScript and sqs-consumer, unchanged, as clients of tarry: the endpoint is the
// first argument.
import assert from "node:assert/strict";

import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { Consumer } from "sqs-consumer";

const sqs = new SQSClient({
  endpoint: process.argv[2],
  region: "us-east-1",
  credentials: { accessKeyId: "anyone", secretAccessKey: "anything" },
  maxAttempts: 1,
});
const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: "javascript" }));

await sqs.send(
  new SendMessageCommand({
    QueueUrl,
    MessageBody: "later ☃",
    DelaySeconds: 1,
    MessageAttributes: { color: { DataType: "String", StringValue: "red" } },
  }),
);
const [later] = (
  await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20, MessageAttributeNames: ["All"] }),
  )
).Messages;
assert.equal(later.Body, "later ☃");
assert.equal(later.MessageAttributes.color.StringValue, "red");
await sqs.send(
  new ChangeMessageVisibilityCommand({
    QueueUrl,
    ReceiptHandle: later.ReceiptHandle,
    VisibilityTimeout: 0,
  }),
);
const Entries = ["a", "b", "c"].map((Id) => ({ Id, MessageBody: Id }));
const sent = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
assert.equal(sent.Successful.length, 3);
const { Messages } = await sqs.send(
  new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
);
assert.equal(Messages.length, 4);
const gone = await sqs.send(
  new DeleteMessageBatchCommand({
    QueueUrl,
    Entries: Messages.map((one, i) => ({ Id: `${i}`, ReceiptHandle: one.ReceiptHandle })),
  }),
);
assert.equal(gone.Successful.length, 4);
const { Attributes } = await sqs.send(
  new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
);
assert.equal(Attributes.ApproximateNumberOfMessages, "0");

const handled = new Set();
await new Promise((resolve, reject) => {
  const consumer = Consumer.create({
    queueUrl: QueueUrl,
    sqs,
    batchSize: 10,
    waitTimeSeconds: 5,
    handleMessage: async (message) => {
      handled.add(message.Body);
      return message;
    },
  });
  consumer.on("error", reject);
  consumer.on("processing_error", reject);
  consumer.on("message_processed", () => {
    if (handled.size === 3) consumer.stop();
  });
  consumer.on("stopped", resolve);
  consumer.start();
  sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries })).catch(reject);
});
assert.deepEqual([...handled].sort(), ["a", "b", "c"]);

await sqs.send(new DeleteQueueCommand({ QueueUrl }));
await assert.rejects(
  sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" })),
  QueueDoesNotExist,
);
console.log("javascript: done");
