import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/**
 * One client of AWS's SDK with 16 threads that send, receive and delete by tens.
 *
 * <p>usage: SqsRate ENDPOINT lives WARM COUNT: prints the lives a second of COUNT messages, after as
 * many as WARM to warm up. SqsRate ENDPOINT fill COUNT: sends COUNT messages, and leaves them there.
 */
public class SqsRate {
  private static final int THREADS = 16;
  private static final int BATCH = 10;
  private static final String BODY = "x".repeat(100);

  private final SqsClient sqs;
  private final String url;

  private SqsRate(String endpoint) {
    sqs =
        SqsClient.builder()
            .endpointOverride(URI.create(endpoint))
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("anyone", "anything")))
            .build();
    url = sqs.createQueue(q -> q.queueName("rate")).queueUrl();
  }

  public static void main(String[] words) throws Exception {
    var rate = new SqsRate(words[0]);
    if (words[1].equals("fill")) {
      long rounds = Long.parseLong(words[2]) / BATCH / THREADS;
      rate.inThreads(() -> rate.send(rounds));
      System.out.println(1);
    } else {
      rate.live(Long.parseLong(words[2]));
      System.out.println(rate.live(Long.parseLong(words[3])));
    }
    System.exit(0);
  }

  /** Each thread sends, receives and deletes in turn; what others have taken away it gets later. */
  private double live(long count) throws Exception {
    long all = Math.max(1, count / BATCH / THREADS) * BATCH * THREADS;
    var done = new AtomicLong();
    long begin = System.nanoTime();
    inThreads(
        () -> {
          for (long i = all / BATCH / THREADS; i > 0; --i) {
            send(1);
            done.addAndGet(take());
          }
          while (done.get() < all) {
            done.addAndGet(take());
          }
          return null;
        });
    return done.get() / ((System.nanoTime() - begin) / 1e9);
  }

  private Void send(long batches) {
    for (long i = 0; i < batches; ++i) {
      var sent =
          sqs.sendMessageBatch(
              b ->
                  b.queueUrl(url)
                      .entries(
                          IntStream.range(0, BATCH)
                              .mapToObj(
                                  n ->
                                      SendMessageBatchRequestEntry.builder()
                                          .id("" + n)
                                          .messageBody(BODY)
                                          .build())
                              .toList()));
      if (sent.successful().size() != BATCH) {
        throw new IllegalStateException("not sent: " + sent.failed());
      }
    }
    return null;
  }

  private int take() {
    List<Message> messages =
        sqs.receiveMessage(r -> r.queueUrl(url).maxNumberOfMessages(BATCH)).messages();
    if (messages.isEmpty()) {
      return 0;
    }
    var gone =
        sqs.deleteMessageBatch(
            b ->
                b.queueUrl(url)
                    .entries(
                        IntStream.range(0, messages.size())
                            .mapToObj(
                                n ->
                                    DeleteMessageBatchRequestEntry.builder()
                                        .id("" + n)
                                        .receiptHandle(messages.get(n).receiptHandle())
                                        .build())
                            .toList()));
    if (gone.successful().size() != messages.size()) {
      throw new IllegalStateException("not deleted: " + gone.failed());
    }
    return messages.size();
  }

  private void inThreads(Callable<Void> work) throws Exception {
    var pool = Executors.newFixedThreadPool(THREADS);
    List<Future<Void>> all = new ArrayList<>();
    for (int i = 0; i < THREADS; ++i) {
      all.add(pool.submit(work));
    }
    for (Future<Void> one : all) {
      one.get();
    }
    pool.shutdown();
  }
}
