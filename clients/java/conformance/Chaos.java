import io.tarry.Delivery;
import io.tarry.TarryClient;
import io.tarry.TarryWorker;
import io.tarry.Verdict;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;

/**
 * {@code Chaos URL LOG}: the worker of clients/python/tests/chaos.py. It writes a line to the file
 * LOG when a delivery begins, and one when it ends.
 */
public final class Chaos {
  private static final Duration LEASE = Duration.ofSeconds(2);
  private final FileOutputStream log;

  private Chaos(String file) throws IOException {
    log = new FileOutputStream(file, true);
  }

  public static void main(String[] arguments) throws Exception {
    Chaos chaos = new Chaos(arguments[1]);
    TarryClient client =
        TarryClient.builder().url(arguments[0]).timeout(Duration.ofSeconds(5)).build();
    TarryWorker worker =
        TarryWorker.builder(client).handle("chaos", chaos::handle).lease(LEASE).build();
    Runtime.getRuntime().addShutdownHook(new Thread(worker::close));
    worker.run();
  }

  private void note(String what, Delivery one) throws IOException {
    double at = System.currentTimeMillis() / 1e3;
    long process = ProcessHandle.current().pid();
    String line =
        String.format(
            Locale.ROOT, "%.3f %d %s %s %d%n", at, process, what, one.key(), one.attempt());
    log.write(line.getBytes(StandardCharsets.UTF_8));
  }

  private Verdict handle(Delivery one) throws Exception {
    note("begin", one);
    if (Long.parseLong(one.id()) % 200 == 0 && one.attempt() == 1) {
      Thread.sleep(LEASE.toMillis() * 3 / 2);
    }
    note("end", one);
    return Verdict.ack();
  }
}
