import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RFuture;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A real Redisson client that the comparison drives: a command a line of standard input, its answer on standard
 * output, flushed.
 *
 * <pre>
 *   push COUNT       and as many lines "DUE_MS PAYLOAD", offered without waiting for one another: "done"
 *   claim MAX MS     up to so many values, waiting so long for the first: how many, and a line each
 *   cancel PAYLOAD   removes it by its value: true or false
 * </pre>
 */
public final class Client {
  public static void main(String[] arguments) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress(arguments[0]);
    config.setCodec(StringCodec.INSTANCE);
    RedissonClient redisson = Redisson.create(config);
    RBlockingQueue<String> destination = redisson.getBlockingQueue("q");
    RDelayedQueue<String> delayed = redisson.getDelayedQueue(destination);
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    out.print("ready\n");
    out.flush();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ", 3);
      switch (words[0]) {
        case "push": push(delayed, in, Integer.parseInt(words[1])); out.print("done\n"); break;
        case "claim": claim(destination, Integer.parseInt(words[1]), Long.parseLong(words[2]), out); break;
        case "cancel": out.print(delayed.remove(line.substring(7)) + "\n"); break;
        default: throw new IllegalArgumentException("no command " + words[0]);
      }
      out.flush();
    }
    System.exit(0);
  }

  private static void push(RDelayedQueue<String> delayed, BufferedReader in, int count) throws Exception {
    List<RFuture<Void>> offered = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String line = in.readLine();
      int space = line.indexOf(' ');
      long delay = Math.max(0, Long.parseLong(line.substring(0, space)) - System.currentTimeMillis());
      offered.add(delayed.offerAsync(line.substring(space + 1), delay, TimeUnit.MILLISECONDS));
    }
    for (RFuture<Void> each : offered) each.toCompletableFuture().join();
  }

  private static void claim(RBlockingQueue<String> destination, int max, long ms, PrintStream out)
      throws InterruptedException {
    List<String> values = new ArrayList<>(destination.poll(max));
    if (values.isEmpty() && ms > 0) {
      String first = destination.poll(ms, TimeUnit.MILLISECONDS);
      if (first != null) values.add(first);
    }
    out.print(values.size() + "\n");
    for (String value : values) out.print(value + "\n");
  }
}
