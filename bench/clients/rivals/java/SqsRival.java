import java.net.URI;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** A server of SQS's protocol through AWS's SDK, with the contract of Drive; batches are of ten. */
final class SqsRival implements Drive.Rival {
  private static final int MOST_IN_A_BATCH = 10;
  private static final int WAIT_SECONDS = 1;

  private final SqsClient sqs;
  private final String url;

  private SqsRival(String endpoint) {
    sqs =
        SqsClient.builder()
            .endpointOverride(URI.create(endpoint))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("anyone", "anything")))
            .build();
    url = sqs.createQueue(q -> q.queueName("bench")).queueUrl();
  }

  public static void main(String[] words) throws Exception {
    Drive.main(words, new SqsRival(words[0]));
  }

  @Override
  public Drive.Push producer() {
    return (payloads, delayMs) -> {
      int delay = (int) (delayMs / 1000);
      if (payloads.size() == 1) {
        sqs.sendMessage(s -> s.queueUrl(url).messageBody(payloads.get(0)).delaySeconds(delay));
        return;
      }
      for (int from = 0; from < payloads.size(); from += MOST_IN_A_BATCH) {
        send(payloads.subList(from, Math.min(from + MOST_IN_A_BATCH, payloads.size())), delay);
      }
    };
  }

  private void send(List<String> payloads, int delay) {
    var entries =
        IntStream.range(0, payloads.size())
            .mapToObj(
                n ->
                    SendMessageBatchRequestEntry.builder()
                        .id("" + n)
                        .messageBody(payloads.get(n))
                        .delaySeconds(delay)
                        .build())
            .toList();
    var failed = sqs.sendMessageBatch(b -> b.queueUrl(url).entries(entries)).failed();
    if (!failed.isEmpty()) {
      throw new IllegalStateException("not sent: " + failed);
    }
  }

  @Override
  public void consume(int batch, Consumer<String> settled) {
    Drive.inThreads(
        () -> {
          while (true) {
            var messages =
                sqs.receiveMessage(
                        r ->
                            r.queueUrl(url)
                                .maxNumberOfMessages(batch)
                                .waitTimeSeconds(WAIT_SECONDS))
                    .messages();
            delete(messages);
            messages.forEach(message -> settled.accept(message.body()));
          }
        });
  }

  private void delete(List<Message> messages) {
    if (messages.size() == 1) {
      sqs.deleteMessage(d -> d.queueUrl(url).receiptHandle(messages.get(0).receiptHandle()));
    } else if (!messages.isEmpty()) {
      var entries =
          IntStream.range(0, messages.size())
              .mapToObj(
                  n ->
                      DeleteMessageBatchRequestEntry.builder()
                          .id("" + n)
                          .receiptHandle(messages.get(n).receiptHandle())
                          .build())
              .toList();
      var failed = sqs.deleteMessageBatch(b -> b.queueUrl(url).entries(entries)).failed();
      if (!failed.isEmpty()) {
        throw new IllegalStateException("not deleted: " + failed);
      }
    }
  }
}
