import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * fill|work REDIS-URL COUNT: offers so many values to an RDelayedQueue without a delay; or takes them
 * from its destination in four threads, as many as tarry's worker has, and prints the seconds from
 * first to last. A value that was taken is gone: there is nothing to settle.
 */
final class RedissonRate {
  public static void main(String[] arguments) throws Exception {
    long count = Long.parseLong(arguments[2]);
    Config config = new Config();
    config.useSingleServer().setAddress(arguments[1]);
    config.setCodec(StringCodec.INSTANCE);
    RedissonClient redisson = Redisson.create(config);
    RBlockingQueue<String> destination = redisson.getBlockingQueue("bench");
    RDelayedQueue<String> delayed = redisson.getDelayedQueue(destination);
    if (arguments[0].equals("fill")) {
      for (long number = 0; number < count; number++) {
        delayed.offer(number + "x".repeat(100), 0, TimeUnit.MILLISECONDS);
      }
      while (destination.size() < count) {
        Thread.sleep(20);
      }
      System.exit(0);
    }
    AtomicLong seen = new AtomicLong();
    AtomicLong began = new AtomicLong();
    CountDownLatch done = new CountDownLatch(1);
    for (int thread = 0; thread < 4; thread++) {
      Thread worker = new Thread(() -> take(destination, count, seen, began, done));
      worker.setDaemon(true);
      worker.start();
    }
    done.await();
    System.out.println((System.nanoTime() - began.get()) / 1e9);
    System.exit(0);
  }

  private static void take(
      RBlockingQueue<String> from, long count, AtomicLong seen, AtomicLong began, CountDownLatch done) {
    try {
      while (true) {
        from.take();
        long number = seen.incrementAndGet();
        if (number == 1) {
          began.set(System.nanoTime());
        }
        if (number == count) {
          done.countDown();
        }
      }
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }
}
