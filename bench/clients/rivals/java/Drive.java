import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** The contract of go/drive for rivals whose client is in Java. */
final class Drive {
  static final int CLIENTS = 4;
  private static final int MOST_OUTSTANDING = 5000;
  private static final int PAYLOAD_BYTES = 100;
  private static final int FILL_BATCH = 100;
  private static final long LATE_DELAY_MS = 1000;
  private static final long LONGEST_DRAIN_S = 120;
  private static final double WARM = 1.0 / 3; // of the time, which does not count

  /** Returns when the server has accepted the messages. */
  interface Push {
    void push(List<String> payloads, long delayMs) throws Exception;
  }

  interface Work {
    void run() throws Exception;
  }

  interface Rival {
    Push producer() throws Exception;

    /** Starts the consumers, which run until the program ends. */
    void consume(int batch, Consumer<String> settled) throws Exception;
  }

  private final Rival rival;

  private Drive(Rival rival) {
    this.rival = rival;
  }

  /** Carries out VERB NUMBER NUMBER, prints a line of JSON, and ends the program. */
  static void main(String[] words, Rival rival) throws Exception {
    double first = Double.parseDouble(words[2]);
    double second = Double.parseDouble(words[3]);
    var drive = new Drive(rival);
    String told =
        switch (words[1]) {
          case "rate" -> drive.rate(first, (int) second);
          case "late" -> drive.late(first, second);
          case "fill" -> drive.fill((long) first, (long) (second * 1000));
          default -> throw new IllegalArgumentException("no verb " + words[1]);
        };
    System.out.println(told);
    System.exit(0);
  }

  /** Runs that in as many threads as there are clients; an error ends the program. */
  static List<Thread> inThreads(Work work) {
    List<Thread> threads = new ArrayList<>();
    for (int number = 0; number < CLIENTS; number++) {
      var thread = new Thread(() -> orEnd(work));
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    return threads;
  }

  private static void orEnd(Work work) {
    try {
      work.run();
    } catch (Exception error) {
      error.printStackTrace();
      System.exit(1);
    }
  }

  private interface Produce {
    void with(Push push) throws Exception;
  }

  private void inTurns(Produce produce) throws Exception {
    for (Thread thread : inThreads(() -> produce.with(rival.producer()))) {
      thread.join();
    }
  }

  private static long nowMicros() {
    var now = java.time.Instant.now();
    return now.getEpochSecond() * 1_000_000 + now.getNano() / 1000;
  }

  private static List<String> payloads(int count, long delayMs) {
    String text = nowMicros() + delayMs * 1000 + " ";
    return Collections.nCopies(count, text + "x".repeat(PAYLOAD_BYTES - text.length()));
  }

  private static double secondsSince(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }

  private String rate(double seconds, int batch) throws Exception {
    var outstanding = new Semaphore(MOST_OUTSTANDING);
    var pushed = new AtomicLong();
    var settled = new AtomicLong();
    var arrivals = new Semaphore(0);
    rival.consume(
        batch,
        payload -> {
          settled.incrementAndGet();
          outstanding.release();
          arrivals.release();
        });
    long begin = System.nanoTime();
    var warmAt = new AtomicLong();
    var before = new AtomicLong();
    inTurns(
        push -> {
          while (secondsSince(begin) < seconds) {
            if (secondsSince(begin) > seconds * WARM
                && warmAt.compareAndSet(0, System.nanoTime())) {
              before.set(settled.get());
            }
            outstanding.acquire(batch);
            push.push(payloads(batch, 0), 0);
            pushed.addAndGet(batch);
          }
        });
    await(arrivals, pushed.get());
    return String.format(
        Locale.ROOT,
        "{\"lives\":%d,\"seconds\":%f,\"all\":%d}",
        pushed.get() - before.get(),
        secondsSince(warmAt.get()),
        pushed.get());
  }

  private static void await(Semaphore arrivals, long count) throws Exception {
    if (!arrivals.tryAcquire((int) count, LONGEST_DRAIN_S, TimeUnit.SECONDS)) {
      throw new TimeoutException(arrivals.availablePermits() + " of " + count + " messages came");
    }
  }

  private String late(double seconds, double aSecond) throws Exception {
    long pace = (long) (CLIENTS / aSecond * 1e9);
    int each = (int) (seconds * 1e9 / pace);
    List<Double> all = Collections.synchronizedList(new ArrayList<>());
    var arrivals = new Semaphore(0);
    rival.consume(
        1,
        payload -> {
          all.add((nowMicros() - Long.parseLong(payload.split(" ")[0])) / 1e3);
          arrivals.release();
        });
    var producers = new AtomicLong();
    long begin = System.nanoTime();
    inTurns(
        push -> {
          long next = begin + pace / CLIENTS * producers.getAndIncrement();
          for (int turn = 0; turn < each; turn++, next += pace) {
            TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
            push.push(payloads(1, LATE_DELAY_MS), LATE_DELAY_MS);
          }
        });
    await(arrivals, (long) each * CLIENTS);
    Double[] sorted = all.toArray(Double[]::new);
    Arrays.sort(sorted);
    return String.format(
        Locale.ROOT,
        "{\"messages\":%d,\"p50_ms\":%f,\"p99_ms\":%f,\"max_ms\":%f}",
        sorted.length,
        sorted[sorted.length / 2],
        sorted[(int) (sorted.length * 99L / 100)],
        sorted[sorted.length - 1]);
  }

  private String fill(long count, long delayMs) throws Exception {
    var begun = new AtomicLong();
    inTurns(
        push -> {
          for (long left; (left = count - begun.getAndAdd(FILL_BATCH)) > 0; ) {
            push.push(payloads((int) Math.min(left, FILL_BATCH), delayMs), delayMs);
          }
        });
    return "{\"filled\":" + count + "}";
  }
}
