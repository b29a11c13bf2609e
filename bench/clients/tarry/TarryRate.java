import io.tarry.TarryClient;
import io.tarry.TarryWorker;
import io.tarry.Verdict;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** URL COUNT: handles that many messages of the queue bench; prints the seconds from first to last. */
final class TarryRate {
  public static void main(String[] arguments) throws Exception {
    long count = Long.parseLong(arguments[1]);
    AtomicLong seen = new AtomicLong();
    AtomicLong began = new AtomicLong();
    AtomicLong ended = new AtomicLong();
    CountDownLatch done = new CountDownLatch(1);
    try (TarryClient client = TarryClient.open(arguments[0]);
        TarryWorker worker =
            TarryWorker.builder(client)
                .handle(
                    "bench",
                    delivery -> {
                      long number = seen.incrementAndGet();
                      if (number == 1) {
                        began.set(System.nanoTime());
                      }
                      if (number == count) {
                        ended.set(System.nanoTime());
                        done.countDown();
                      }
                      return Verdict.ack();
                    })
                .start()) {
      done.await();
      worker.close();
    }
    System.out.println((ended.get() - began.get()) / 1e9);
  }
}
