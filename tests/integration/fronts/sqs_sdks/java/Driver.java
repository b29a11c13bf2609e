import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** Amazon's SDK for Java, v2, and Spring Cloud AWS, unchanged: the endpoint is the first argument. */
public class Driver {
  private final SqsClient sqs;

  private Driver(String endpoint) {
    sqs =
        SqsClient.builder()
            .endpointOverride(URI.create(endpoint))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("anyone", "anything")))
            .build();
  }

  public static void main(String[] words) throws Exception {
    new Driver(words[0]).run();
    System.out.println("java: done");
    spring(words[0]);
    System.out.println("spring: done");
    System.exit(0);
  }

  private void run() {
    String dead = sqs.createQueue(q -> q.queueName("java-dead")).queueUrl();
    String arn =
        sqs.getQueueAttributes(
                q -> q.queueUrl(dead).attributeNames(QueueAttributeName.QUEUE_ARN))
            .attributes()
            .get(QueueAttributeName.QUEUE_ARN);
    String policy = "{\"deadLetterTargetArn\":\"" + arn + "\",\"maxReceiveCount\":2}";
    String url =
        sqs.createQueue(
                q ->
                    q.queueName("java")
                        .attributes(Map.of(QueueAttributeName.REDRIVE_POLICY, policy)))
            .queueUrl();

    var red = MessageAttributeValue.builder().dataType("String").stringValue("red").build();
    sqs.sendMessage(
        m ->
            m.queueUrl(url)
                .messageBody("later ☃")
                .delaySeconds(1)
                .messageAttributes(Map.of("color", red)));
    Message later = receive(url).get(0);
    check(later.body().equals("later ☃"), "the delayed message");
    check(later.messageAttributes().get("color").stringValue().equals("red"), "its attribute");
    for (int timeout : new int[] {600, 0}) {
      visible(url, later, timeout);
    }
    Message again = receive(url).get(0);
    sqs.deleteMessage(m -> m.queueUrl(url).receiptHandle(again.receiptHandle()));

    var sent =
        sqs.sendMessageBatch(
            b ->
                b.queueUrl(url)
                    .entries(
                        IntStream.range(0, 10)
                            .mapToObj(
                                i ->
                                    SendMessageBatchRequestEntry.builder()
                                        .id("" + i)
                                        .messageBody("" + i)
                                        .build())
                            .toList()));
    check(sent.successful().size() == 10, "the batch is sent");
    List<Message> batch = receive(url);
    check(batch.size() == 10, "the batch is received");
    var changed =
        sqs.changeMessageVisibilityBatch(
            b ->
                b.queueUrl(url)
                    .entries(
                        batch.stream()
                            .map(
                                m ->
                                    ChangeMessageVisibilityBatchRequestEntry.builder()
                                        .id(m.body())
                                        .receiptHandle(m.receiptHandle())
                                        .visibilityTimeout(60)
                                        .build())
                            .toList()));
    check(changed.successful().size() == 10, "the batch is extended");
    var gone =
        sqs.deleteMessageBatch(
            b ->
                b.queueUrl(url)
                    .entries(
                        batch.stream()
                            .map(
                                m ->
                                    DeleteMessageBatchRequestEntry.builder()
                                        .id(m.body())
                                        .receiptHandle(m.receiptHandle())
                                        .build())
                            .toList()));
    check(gone.successful().size() == 10, "the batch is deleted");

    sqs.sendMessage(m -> m.queueUrl(url).messageBody("poison"));
    for (int i = 0; i < 2; ++i) {
      visible(url, receive(url).get(0), 0);
    }
    check(receive(dead).get(0).body().equals("poison"), "the dead message");

    sqs.deleteQueue(q -> q.queueUrl(url));
    try {
      sqs.sendMessage(m -> m.queueUrl(url).messageBody("x"));
      check(false, "the queue is gone");
    } catch (QueueDoesNotExistException expected) {
      check(expected.statusCode() == 400, "the status of the error");
    }
  }

  private List<Message> receive(String url) {
    return sqs.receiveMessage(
            r ->
                r.queueUrl(url)
                    .maxNumberOfMessages(10)
                    .waitTimeSeconds(20)
                    .messageAttributeNames("All"))
        .messages();
  }

  private void visible(String url, Message message, int timeout) {
    sqs.changeMessageVisibility(
        c ->
            c.queueUrl(url).receiptHandle(message.receiptHandle()).visibilityTimeout(timeout));
  }

  private static void check(boolean good, String what) {
    if (!good) {
      throw new IllegalStateException(what);
    }
  }

  /** Spring Cloud AWS by the properties of docs/guide/sqs.md: a template sends, a listener hears. */
  private static void spring(String endpoint) throws InterruptedException {
    try (var context =
        SpringApplication.run(
            Application.class,
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--spring.cloud.aws.sqs.endpoint=" + endpoint,
            "--spring.cloud.aws.region.static=us-east-1",
            "--spring.cloud.aws.credentials.access-key=anyone",
            "--spring.cloud.aws.credentials.secret-key=anything")) {
      var template = context.getBean(SqsTemplate.class);
      template.send(to -> to.queue("spring").payload("later").delaySeconds(1));
      template.sendMany(
          "spring",
          List.of(
              org.springframework.messaging.support.MessageBuilder.withPayload("a").build(),
              org.springframework.messaging.support.MessageBuilder.withPayload("fails").build()));
      var heard = context.getBean(Listener.class).heard;
      var all = new java.util.TreeSet<String>();
      while (all.size() < 4) {
        String one = heard.poll(60, TimeUnit.SECONDS);
        check(one != null, "heard only " + all);
        all.add(one);
      }
      check(all.toString().equals("[a, failed, fails, later]"), "heard " + all);
    }
  }

  /** The application. */
  @Configuration
  @EnableAutoConfiguration
  public static class Application {
    @Bean
    Listener listener() {
      return new Listener();
    }
  }

  /** Fails once, and hears the same message again. */
  public static class Listener {
    final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    /** A message of the queue, which is made by its first use. */
    @SqsListener(value = "spring", messageVisibilitySeconds = "1")
    public void hear(String text) {
      if (text.equals("fails") && !failed) {
        failed = true;
        heard.add("failed");
        throw new IllegalStateException("once");
      }
      heard.add(text);
    }

    private volatile boolean failed;
  }
}
