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
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.Codec;
import org.redisson.config.Config;

/**
 * A real Redisson client that does as it is told: one command a line of standard input, fields parted by tabs,
 * and one line of answer each, flushed. Values are written KIND:TEXT, of the kinds string, int, long, double and
 * bool. An exception is the answer "threw" and its class and message.
 *
 * <pre>
 *   offer VALUE MS             adds it to the delayed queue
 *   offers PREFIX FROM TO MS   strings PREFIX0.., a line "offered NUMBER" for each, and "done"
 *   poll MS                    the next value of the destination, waiting so long; "none"
 *   drain COUNT MS             up to so many, a line "took VALUE" each, and "done": none came for that long
 *   remove VALUE               from the delayed queue: true or false
 *   all                        what waits in the delayed queue
 * </pre>
 */
public final class Driver {
  private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

  private final RBlockingQueue<Object> destination;
  private final RDelayedQueue<Object> delayed;

  private Driver(RedissonClient client, String queue) {
    destination = client.getBlockingQueue(queue);
    delayed = client.getDelayedQueue(destination);
  }

  public static void main(String[] arguments) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress(arguments[0]).setConnectionMinimumIdleSize(2).setConnectionPoolSize(4);
    if (!arguments[2].equals("default")) {
      config.setCodec((Codec) Class.forName(arguments[2]).getDeclaredConstructor().newInstance());
    }
    Driver driver = new Driver(Redisson.create(config), arguments[1]);
    tell("ready");
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      try {
        tell(driver.answer(line.split("\t", -1)));
      } catch (Exception thrown) {
        tell("threw " + thrown.toString().replace('\n', ' '));
      }
    }
    System.exit(0);
  }

  private String answer(String[] words) throws Exception {
    switch (words[0]) {
      case "offer":
        delayed.offer(value(words[1]), Long.parseLong(words[2]), TimeUnit.MILLISECONDS);
        return "done";
      case "offers":
        for (int i = Integer.parseInt(words[2]); i < Integer.parseInt(words[3]); i++) {
          delayed.offer(words[1] + i, Long.parseLong(words[4]), TimeUnit.MILLISECONDS);
          tell("offered " + i);
        }
        return "done";
      case "poll":
        return text(destination.poll(Long.parseLong(words[1]), TimeUnit.MILLISECONDS));
      case "drain":
        return drain(Integer.parseInt(words[1]), Long.parseLong(words[2]));
      case "remove":
        return String.valueOf(delayed.remove(value(words[1])));
      case "all":
        List<String> all = new ArrayList<>();
        for (Object each : delayed.readAll()) all.add(text(each));
        return String.join("\t", all);
      default:
        throw new IllegalArgumentException("no command " + words[0]);
    }
  }

  // What no client of ours may make of a queue: an entry or a value that it cannot read.
  private String drain(int count, long ms) throws Exception {
    for (int i = 0; i < count; i++) {
      Object taken;
      try {
        taken = destination.poll(ms, TimeUnit.MILLISECONDS);
      } catch (Exception thrown) {
        tell("threw " + thrown.toString().replace('\n', ' '));
        continue;
      }
      if (taken == null) break;
      tell("took " + text(taken));
    }
    return "done";
  }

  private static Object value(String word) {
    String text = word.substring(word.indexOf(':') + 1);
    switch (word.substring(0, word.indexOf(':'))) {
      case "string": return text;
      case "int": return Integer.valueOf(text);
      case "long": return Long.valueOf(text);
      case "double": return Double.valueOf(text);
      case "bool": return Boolean.valueOf(text);
      default: throw new IllegalArgumentException("no kind of " + word);
    }
  }

  private static String text(Object value) {
    if (value == null) return "none";
    if (value instanceof String) return "string:" + value;
    if (value instanceof Integer) return "int:" + value;
    if (value instanceof Long) return "long:" + value;
    if (value instanceof Double) return "double:" + value;
    if (value instanceof Boolean) return "bool:" + value;
    return value.getClass().getName() + ":" + value;
  }

  private static void tell(String line) {
    OUT.print(line + "\n");
    OUT.flush();
  }
}
