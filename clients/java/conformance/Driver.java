import io.tarry.*;
import io.tarry.errors.TarryException;
import io.tarry.internal.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;
import java.util.stream.*;

/** The driver of the conformance table for the Java client: clients/conformance/README.md. */
public final class Driver {
  private static final List<String> SHOWN = List.of("outcome", "queue", "id", "headers", "receipt",
      "attempt", "priority", "due", "lease", "key", "payload", "settledHow");
  private static final Map<Class<?>, Function<Long, Object>> NUMBERS = Map.of(int.class, Long::intValue,
      long.class, value -> value, Duration.class, Duration::ofMillis, Instant.class, Instant::ofEpochMilli);
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();
  private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
  private TarryClient client; private TarryWorker worker;

  public static void main(String[] arguments) {
    Driver driver = new Driver();
    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().forEach(line -> {
      Map<String, Object> request = Json.object(Json.parse(line));
      Map<String, Object> answer = map("id", request.remove("id"));
      answer.putAll(driver.answer(request));
      say(answer);
    });
    System.exit(0);
  }

  private static synchronized void say(Map<String, Object> line) {
    byte[] bytes = (Json.write(line) + "\n").getBytes(StandardCharsets.UTF_8);
    System.out.write(bytes, 0, bytes.length); System.out.flush();
  }

  private static Map<String, Object> map(Object... pairs) {
    Map<String, Object> all = new LinkedHashMap<>();
    IntStream.range(0, pairs.length / 2).forEach(n -> all.put((String) pairs[2 * n], pairs[2 * n + 1]));
    return all;
  }

  private Map<String, Object> answer(Map<String, Object> f) {
    try {
      return map("ok", Optional.ofNullable(shown(carryOut((String) f.remove("op"), f))).orElse(Map.of()));
    } catch (TarryException error) {
      return failure(error);
    }
  }

  private static Map<String, Object> failure(TarryException error) {
    return map("error", map("code", error.code(), "next", error.next().wire(), "status", error.status(), "message", error.detail()));
  }

  private static Object as(Class<?> type, Object value) {
    if (type.isEnum()) return Stream.of(type.getEnumConstants()).filter(one -> one.toString().equalsIgnoreCase((String) value)).findFirst().orElseThrow();
    return NUMBERS.containsKey(type) ? NUMBERS.get(type).apply((Long) value)
        : type == java.nio.file.Path.class ? java.nio.file.Path.of((String) value) : type.isInstance(value) ? value : null;
  }

  private static Duration span(Map<String, Object> f, String name) {
    return f.get(name) == null ? null : Duration.ofMillis((Long) f.get(name));
  }

  /** What the method of that name answers, with no argument or with the value. */
  private static Object call(Object target, String name, Object value) {
    try {
      for (var one : target.getClass().getMethods()) {
        if (one.getName().equals(name) && one.getParameterCount() < 2) {
          Object[] given = Stream.of(one.getParameterTypes()).map(type -> as(type, value)).toArray();
          if (!Arrays.asList(given).contains(null)) return one.invoke(target, given);
        }
      }
      return null;
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(name, error);
    }
  }

  /** Sets fields; after a colon there is the method's name, if it is another one. */
  private static <T> T set(T target, Map<String, Object> f, String... fields) {
    Stream.of(fields).map(one -> one.split(":")).filter(one -> f.get(one[0]) != null)
        .forEach(one -> call(target, one[one.length - 1], f.get(one[0])));
    return target;
  }

  private static Message message(Map<String, Object> f) {
    Message one = Message.of(Text.bytes(f, "payload"));
    if (f.containsKey("key") || f.containsKey("key_base64")) one.key(Text.get(f, "key"));
    Json.object(f.getOrDefault("headers", Map.of())).forEach((name, text) -> one.header(name, (String) text));
    return set(one, f, "delay_ms:in", "due_ms:at", "priority", "if_exists:ifExists", "max_attempts:maxAttempts");
  }

  private static Settlement settlement(Map<String, Object> f) {
    return set(Settlement.of((String) f.get("receipt"), (Action) as(Action.class, f.get("action"))), f, "delay_ms:in", "reason", "priority");
  }

  private static Reschedule reschedule(Map<String, Object> f) {
    String key = Text.get(f, "key");
    return set(f.containsKey("delay_ms") ? Reschedule.in(key, span(f, "delay_ms"))
        : Reschedule.at(key, Instant.ofEpochMilli((Long) f.get("due_ms"))), f, "priority");
  }

  private static <T> List<T> each(Map<String, Object> f, String name, Function<Map<String, Object>, T> make) {
    return Json.list(f.get(name)).stream().map(one -> make.apply(Json.object(one))).collect(Collectors.toList());
  }

  /** What the client answered, as the table names it. */
  private static Object shown(Object said) {
    if (said == null || said instanceof Map) return said;
    if (said instanceof Iterable) return StreamSupport.stream(((Iterable<?>) said).spliterator(), false).map(Driver::shown).collect(Collectors.toList());
    if (said instanceof Result) return ((Result<?>) said).error().<Object>map(Driver::failure).orElseGet(() -> shown(((Result<?>) said).value()));
    Object raw = call(said, "raw", null);
    if (raw != null) return raw;
    Map<String, Object> all = map();
    for (String name : SHOWN) {
      Object one = call(said, name, null);
      if (one instanceof Optional) one = ((Optional<?>) one).orElse(null);
      if (one instanceof byte[]) Text.put(all, name, (byte[]) one);
      else if (one instanceof String && name.equals("key")) Text.put(all, name, (String) one);
      else if (one instanceof Instant) all.put(name + "_ms", ((Instant) one).toEpochMilli());
      else if (one instanceof Duration) all.put(name + "_ms", ((Duration) one).toMillis());
      else all.put(name, one instanceof Outcome ? ((Outcome) one).wire() : one);
    }
    all.put("settlement", map("how", all.remove("settledHow")));
    return all;
  }

  private Verdict handle(Delivery delivery) throws Exception {
    Map<String, Object> about = map("event", "begun", "queue", delivery.queue(), "key", delivery.key(),
        "receipt", delivery.message().receipt(), "attempt", delivery.attempt());
    say(about);
    String[] words = (delivery.text() + " ").split(" ", 2);
    String rest = words[1].trim();
    try {
      switch (words[0]) {
        case "retry": return rest.isEmpty() ? Verdict.retry() : Verdict.retry(Duration.ofMillis(Long.parseLong(rest)));
        case "release": return Verdict.release();
        case "bury": return Verdict.bury(rest);
        case "throw": throw new Exception(rest);
        case "hold":
          THREADS.submit(() -> { delivery.awaitStop(1, TimeUnit.HOURS); say(map("event", "signalled", "key", delivery.key())); return null; });
          gates.computeIfAbsent(delivery.key(), one -> new CountDownLatch(1)).await();
      }
      return Verdict.ack();
    } finally {
      about.put("event", "ended");
      say(about);
    }
  }

  @SuppressWarnings("unchecked")
  private Object carryOut(String op, Map<String, Object> f) {
    TarryQueue queue = client == null ? null : client.queue((String) f.getOrDefault("queue", "none"));
    List<String> keys = (List<String>) f.get("keys");
    boolean many = keys != null || f.containsKey("messages") || f.containsKey("items");
    String key = many ? null : Text.get(f, "key");
    switch (op) {
      case "open":
        f.computeIfPresent("ca", (name, file) -> f.get("url").toString().startsWith("https:") ? file : null);
        TarryClient.Builder made = set(TarryClient.builder(), f, "url", "token", "ca", "patience_ms:patience", "timeout_ms:timeout");
        if (f.containsKey("cert")) made.certificate(new File((String) f.get("cert")).toPath(), new File((String) f.get("key")).toPath());
        client = made.build(); return null;
      case "close": client.close(); return null;
      case "together": return each(f, "calls", one -> CompletableFuture.supplyAsync(() -> answer(one), THREADS))
          .stream().map(CompletableFuture::join).collect(Collectors.toList());
      case "work":
        TarryWorker.Builder builder = TarryWorker.builder(client);
        ((List<String>) f.get("queues")).forEach(one -> builder.handle(one, this::handle));
        worker = set(builder, f, "concurrency", "prefetch", "lease_ms:lease", "drain_ms:drain").start();
        return null;
      case "let_go": gates.computeIfAbsent(key, one -> new CountDownLatch(1)).countDown(); return null;
      case "begin_stop": worker.stop(); return null;
      case "stop_work":
        worker.close(); return Stream.of("delivered", "acked", "retried", "buried", "released", "stale")
            .collect(Collectors.toMap(one -> one, one -> call(worker.counts(), one, null)));
      case "push": return many ? queue.push(each(f, "messages", Driver::message)) : queue.push(message(Json.object(f.get("message"))));
      case "get": return many ? queue.get(keys) : queue.get(key);
      case "cancel": return many ? queue.cancel(keys) : queue.cancel(key);
      case "reschedule": return many ? queue.reschedule(each(f, "items", Driver::reschedule)) : queue.reschedule(reschedule(Json.object(f.get("item"))));
      case "claim": return map("messages", shown(client.claim(set(ClaimRequest.of((List<String>) f.get("queues")), f,
          "max", "max_bytes:maxBytes", "lease_ms:lease", "wait_ms:waitFor", "keys", "any_state:anyState"))));
      case "settle": return many ? client.settle(each(f, "items", Driver::settlement)) : client.settle(settlement(Json.object(f.get("item"))));
      case "extend":
        Map<String, Object> first = Json.object(many ? Json.list(f.get("items")).get(0) : f.get("item"));
        return many ? client.extend(each(f, "items", one -> (String) one.get("receipt")), span(first, "lease_ms")) : client.extend((String) first.get("receipt"), span(first, "lease_ms"));
      case "list":
        Page page = queue.page(set(ListRequest.all(), f, "state", "prefix", "limit", "after"));
        return map("messages", shown(page.messages()), "next", page.next());
      case "list_all": return map("messages", shown(queue.list(set(ListRequest.all(), f, "state", "prefix", "limit"))));
      case "revive": return map("count", many ? queue.revive(keys) : queue.reviveAll());
      case "bulk":
        Bulk bulk = queue.bulk(set(BulkRequest.of((String) f.get("action")), f, "prefix", "state", "due_from_ms:dueFrom",
            "due_to_ms:dueTo", "due_ms:to", "by_ms:by", "headers", "reason", "dry_run:dryRun"));
        return map("matched", bulk.matched(), "outcomes", bulk.outcomes(), "failed", bulk.failed());
      case "configure":
        QueueSettings settings = QueueSettings.change();
        f.forEach((name, value) -> { if (!name.equals("queue")) settings.set(name, value); });
        return queue.configure(settings);
      case "queue": return queue.info();
      case "why": return queue.why(key);
      case "queues": return map("queues", shown(client.queues()));
      case "stats": return f.containsKey("queue") ? queue.stats() : client.stats();
      case "forecast": return queue.forecast(span(f, "width_ms"), ((Long) f.get("buckets")).intValue());
      case "pause":
        if (f.containsKey("until_ms")) queue.pause(Instant.ofEpochMilli((Long) f.get("until_ms"))); else queue.pause();
        return map("paused", true);
      case "resume": queue.resume(); return map("paused", false);
      case "purge": return map("count", queue.purge());
      case "remove": return map("count", queue.remove(f.containsKey("force")));
      case "advance": return map("advanced_ms", client.advance(span(f, "by_ms")).toMillis());
      case "health": return client.health();
      default: throw TarryException.of("no_such_op", op, 0);
    }
  }
}
