import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.format.DateTimeFormatter.ISO_OFFSET_DATE_TIME;

import io.tarry.*;
import io.tarry.errors.TarryException;
import io.tarry.internal.Json;
import io.tarry.internal.Text;
import java.io.*;
import java.lang.reflect.*;
import java.nio.file.Path;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;
import java.util.stream.Stream;

/** The driver of the conformance table for the Java client: clients/conformance/README.md. */
public final class Driver {
  /** How a field becomes a parameter of the library's methods. */
  private static final Map<Class<?>, Function<Object, Object>> PARAMETERS = Map.of(
      int.class, field -> ((Long) field).intValue(), long.class, field -> field,
      double.class, field -> ((Number) field).doubleValue(),
      Duration.class, field -> Duration.ofMillis((Long) field),
      Instant.class, field -> Instant.ofEpochMilli((Long) field),
      Path.class, field -> Path.of((String) field),
      ZoneId.class, field -> ZoneId.of((String) field));
  /** The methods of fields and verbs that are named otherwise. */
  private static final Map<String, String> METHODS =
      Map.of("delay", "in", "due", "at|to", "wait", "waitFor", "queue", "queue|info");
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();
  private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
  private TarryClient client;
  private TarryWorker worker;

  public static void main(String[] arguments) {
    Driver driver = new Driver();
    say(Map.of("names", "camel", "durations", "ms", "times", "ms",
        "bytes", "base64"));
    var input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    input.lines().map(Json::parse).map(Driver::read)
        .forEach(request -> THREADS.execute(() -> say(driver.answer(request))));
    System.exit(0);
  }

  /** A request, or an item of one, with a key and a payload as the library takes them. */
  private static Map<String, Object> read(Object said) {
    Map<String, Object> f = Json.object(said);
    f.computeIfPresent("key", (name, coded) -> Keys.of(bytes(coded)));
    f.computeIfPresent("payload", (name, coded) -> bytes(coded));
    f.computeIfPresent("items", (name, items) -> each(Json.list(items), Driver::read));
    return f;
  }

  private static byte[] bytes(Object coded) {
    return Base64.getDecoder().decode((String) coded);
  }

  private static synchronized void say(Map<String, Object> line) {
    byte[] bytes = (Json.write(line) + "\n").getBytes(UTF_8);
    System.out.write(bytes, 0, bytes.length);
    System.out.flush();
  }

  private Map<String, Object> answer(Map<String, Object> f) {
    Map<String, Object> answer = new HashMap<>(Map.of("id", f.remove("id")));
    try {
      answer.put("ok", plain(carryOut((String) f.remove("op"), f)));
    } catch (TarryException error) {
      answer.put("error", plain(error));
    }
    return answer;
  }

  @SuppressWarnings("unchecked")
  private Object carryOut(String op, Map<String, Object> f) {
    TarryQueue queue = client == null ? null : client.queue((String) f.getOrDefault("queue", "-"));
    List<String> queues = (List<String>) f.get("queues");
    List<Map<String, Object>> items = (List<Map<String, Object>>) f.get("items");
    switch (op) {
      case "push": return queue.push(message(f));
      case "pushMany": return queue.push(each(items, Driver::message));
      case "reschedule": return queue.reschedule(move(f));
      case "rescheduleMany": return queue.reschedule(each(items, Driver::move));
      case "claim": return client.claim(set(ClaimRequest.of(queues), f));
      case "claimKeys": return client.claim(set(ClaimRequest.of(queue.name()), f));
      case "settle": return client.settle(settlement(f));
      case "settleMany": return client.settle(each(items, Driver::settlement));
      case "extend": return client.extend(receipt(f), as(Duration.class, f.get("lease")));
      case "extendMany":
        Duration lease = as(Duration.class, items.get(0).get("lease"));
        return client.extend(each(items, Driver::receipt), lease);
      case "list": return queue.page(set(ListRequest.all(), f));
      case "listAll": return queue.list(set(ListRequest.all(), f));
      case "bulk": return queue.bulk(set(BulkRequest.of((String) f.get("action")), f));
      case "configure": return queue.configure(set(QueueSettings.change(), f));
      case "forecast":
        Duration width = as(Duration.class, f.get("width"));
        int buckets = as(int.class, f.get("buckets"));
        return f.get("rate") == null ? queue.forecast(width, buckets)
            : queue.forecast(width, buckets, as(double.class, f.get("rate")),
                as(double.class, f.get("arrivals")));
      case "remove": return queue.remove(f.containsKey("force"));
      case "putSchedule": return client.putSchedule((String) f.get("name"), schedule(f));
      case "occurrences": return client.occurrences(set(OccurrencesRequest.of(schedule(f)), f));
      case "open":
        client = set(TarryClient.builder(), f)
            .certificate(as(Path.class, f.get("cert")), as(Path.class, f.get("key"))).build();
        return null;
      case "work":
        TarryWorker.Builder builder = set(TarryWorker.builder(client), f);
        queues.forEach(one -> builder.handle(one, this::handle));
        worker = builder.start();
        return null;
      case "letGo":
        gate((String) f.get("key")).countDown();
        return null;
      case "beginStop":
        worker.stop();
        return null;
      case "stopWork":
        worker.close();
        return worker.counts();
      default: // a verb of at most one field is the method of its name
        Object target = f.remove("queue") == null ? client : queue;
        Object field = f.values().stream().findFirst().orElse(null);
        return call(method(target, op.replace("Many", ""), field)
            .orElseThrow(() -> TarryException.of("no_such_op", op, 0)), target, field);
    }
  }

  private CountDownLatch gate(String key) {
    return gates.computeIfAbsent(key, one -> new CountDownLatch(1));
  }

  private Verdict handle(Delivery delivery) throws Exception {
    say("begun", delivery);
    try {
      return verdict(delivery);
    } finally {
      say("ended", delivery);
    }
  }

  private static void say(String event, Delivery one) {
    say(Map.of("event", event, "queue", one.queue(), "key", one.key(),
        "receipt", one.message().receipt(), "attempt", one.attempt()));
  }

  /** Does what the payload says. */
  private Verdict verdict(Delivery delivery) throws Exception {
    String[] words = delivery.text().split(" ", 2);
    switch (words[0]) {
      case "retry":
        return words.length == 1 ? Verdict.retry()
            : Verdict.retry(Duration.ofMillis(Long.parseLong(words[1])));
      case "release": return Verdict.release();
      case "bury": return Verdict.bury(words[1]);
      case "throw": throw new Exception(words[1]);
      case "hold":
        THREADS.submit(() -> {
          delivery.awaitStop(1, TimeUnit.HOURS);
          say("signalled", delivery);
          return null;
        });
        gate(delivery.key()).await();
        return Verdict.ack();
      default: return Verdict.ack();
    }
  }

  private static Message message(Map<String, Object> f) {
    return set(Message.of((byte[]) f.getOrDefault("payload", new byte[0])), f);
  }

  private static Reschedule move(Map<String, Object> f) {
    String key = (String) f.get("key");
    return set(f.containsKey("delay") ? Reschedule.in(key, as(Duration.class, f.get("delay")))
        : Reschedule.at(key, as(Instant.class, f.get("due"))), f);
  }

  private static Settlement settlement(Map<String, Object> f) {
    return set(Settlement.of(receipt(f), as(Action.class, f.get("action"))), f);
  }

  private static String receipt(Map<String, Object> f) {
    return (String) f.get("receipt");
  }

  private static ScheduleRequest schedule(Map<String, Object> f) {
    return set(ScheduleRequest.when((String) f.get("when")), f);
  }

  private static <T, R> List<R> each(Iterable<T> list, Function<? super T, R> make) {
    List<R> all = new ArrayList<>();
    list.forEach(one -> all.add(make.apply(one)));
    return all;
  }

  /** Gives the target the fields for which it has methods. */
  private static <T> T set(T target, Map<String, Object> fields) {
    fields.forEach((name, field) ->
        method(target, name, field).ifPresent(one -> call(one, target, field)));
    return target;
  }

  /** The method that takes the field; nothing, if there is none, or if it is a flag. */
  private static Optional<Method> method(Object target, String name, Object field) {
    int count = field == null || field == Boolean.TRUE ? 0 : 1;
    return Stream.of(target.getClass().getMethods())
        .filter(one -> one.getName().matches(METHODS.getOrDefault(name, name)))
        .filter(one -> one.getParameterCount() == count)
        .filter(one -> count == 0 || as(one.getParameterTypes()[0], field) != null)
        .findFirst();
  }

  private static Object call(Method method, Object target, Object field) {
    try {
      Class<?>[] types = method.getParameterTypes();
      return method.invoke(target, each(List.of(types), type -> as(type, field)).toArray());
    } catch (InvocationTargetException error) {
      throw (RuntimeException) error.getCause();
    } catch (IllegalAccessException error) {
      throw new IllegalStateException(error);
    }
  }

  /** The field as a parameter of that type; null: it is none. */
  @SuppressWarnings("unchecked")
  private static <T> T as(Class<T> type, Object field) {
    Function<Object, Object> make = type.isEnum()
        ? one -> Enum.valueOf(type.asSubclass(Enum.class), one.toString().toUpperCase(Locale.ROOT))
        : PARAMETERS.getOrDefault(type, one -> type.isInstance(one) ? one : null);
    return (T) (field == null ? null : make.apply(field));
  }

  /** A value of the library as JSON has it: an object has a field for each of its getters. */
  private static Object plain(Object value) {
    if (value instanceof Result) {
      Result<?> one = (Result<?>) value;
      return one.error().isEmpty() ? plain(one.value()) : Map.of("error", plain(one.error()));
    }
    if (value instanceof Optional) return plain(((Optional<?>) value).orElse(null));
    if (value instanceof Iterable) return each((Iterable<?>) value, Driver::plain);
    if (value instanceof Enum) return value.toString().toLowerCase(Locale.ROOT);
    if (value instanceof Instant) return Map.of("ms", ((Instant) value).toEpochMilli());
    if (value instanceof Duration) return Map.of("ms", ((Duration) value).toMillis());
    if (value instanceof OffsetDateTime) return ISO_OFFSET_DATE_TIME.format((OffsetDateTime) value);
    if (value instanceof byte[]) {
      return Map.of("base64", Base64.getEncoder().encodeToString((byte[]) value));
    }
    if (value instanceof String && !Text.isPlain((String) value)) {
      return plain(Keys.bytes((String) value));
    }
    Map<String, Object> said = new TreeMap<>();
    if (value != null) {
      Stream.of(value.getClass().getMethods())
          .filter(one -> one.getDeclaringClass().getName().startsWith("io.tarry."))
          .filter(one -> one.getParameterCount() == 0 && !one.getName().equals("toString"))
          .forEach(one -> said.put(one.getName(), plain(call(one, value, null))));
    }
    return said.isEmpty() ? value : said;
  }
}
