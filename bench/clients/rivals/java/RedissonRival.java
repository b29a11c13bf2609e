import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RFuture;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Redisson's RDelayedQueue, with the contract of Drive. A value that was taken is gone: there is
 * nothing to settle. Of a batch, the values are offered without waiting for one another.
 *
 * <p>ADDRESS work COUNT, for scripts/bench clients: takes as many values in four threads, and prints
 * the seconds from first to last.
 */
final class RedissonRival implements Drive.Rival {
  private final RBlockingQueue<String> destination;
  private final RDelayedQueue<String> delayed;

  private RedissonRival(String address) {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://" + address);
    config.setCodec(StringCodec.INSTANCE);
    RedissonClient redisson = Redisson.create(config);
    destination = redisson.getBlockingQueue("bench");
    delayed = redisson.getDelayedQueue(destination);
  }

  public static void main(String[] words) throws Exception {
    var rival = new RedissonRival(words[0]);
    if (words[1].equals("work")) {
      System.out.println(rival.work(Long.parseLong(words[2])));
      System.exit(0);
    }
    Drive.main(words, rival);
  }

  @Override
  public Drive.Push producer() {
    return (payloads, delayMs) -> {
      List<RFuture<Void>> offered = new ArrayList<>();
      for (String payload : payloads) {
        offered.add(delayed.offerAsync(payload, delayMs, TimeUnit.MILLISECONDS));
      }
      for (RFuture<Void> one : offered) {
        one.toCompletableFuture().join();
      }
    };
  }

  @Override
  public void consume(int batch, Consumer<String> settled) {
    Drive.inThreads(
        () -> {
          while (true) {
            settled.accept(destination.take());
            if (batch > 1) {
              destination.poll(batch - 1).forEach(settled);
            }
          }
        });
  }

  private double work(long count) throws InterruptedException {
    var seen = new AtomicLong();
    var began = new AtomicLong();
    var done = new CountDownLatch(1);
    consume(
        1,
        payload -> {
          long number = seen.incrementAndGet();
          if (number == 1) {
            began.set(System.nanoTime());
          }
          if (number == count) {
            done.countDown();
          }
        });
    done.await();
    return (System.nanoTime() - began.get()) / 1e9;
  }
}
