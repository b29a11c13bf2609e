import io.tarry.*;
import io.tarry.errors.TarryException;
import io.tarry.internal.Json;
import io.tarry.internal.Text;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;
import java.util.stream.*;

/** The driver of the conformance table for the Java client: clients/conformance/README.md. */
public final class Driver {
  private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
  private final Map<String, Function<Map<String, Object>, Object>> ops = new HashMap<>();
  private TarryClient client;
  private TarryWorker worker;

  public static void main(String[] arguments) throws Exception {
    Driver driver = new Driver();
    InputStreamReader reader = new InputStreamReader(System.in, StandardCharsets.UTF_8);
    for (String line : (Iterable<String>) new BufferedReader(reader).lines()::iterator) {
      Map<String, Object> request = Json.object(Json.parse(line));
      Map<String, Object> answer = map("id", request.remove("id"));
      answer.putAll(driver.carryOut(request));
      say(answer);
    }
    System.exit(0);
  }

  private static synchronized void say(Map<String, Object> line) {
    byte[] bytes = (Json.write(line) + "\n").getBytes(StandardCharsets.UTF_8);
    System.out.write(bytes, 0, bytes.length);
    System.out.flush();
  }

  private static Map<String, Object> map(Object... pairs) {
    Map<String, Object> all = new LinkedHashMap<>();
    for (int at = 0; at < pairs.length; at += 2) {
      all.put((String) pairs[at], pairs[at + 1]);
    }
    return all;
  }

  private Map<String, Object> carryOut(Map<String, Object> f) {
    Function<Map<String, Object>, Object> op = ops.get(f.remove("op"));
    try {
      return op == null
          ? map("error", map("code", "no_such_op"))
          : map("ok", Optional.ofNullable(op.apply(f)).orElse(Map.of()));
    } catch (TarryException error) {
      return failure(error);
    }
  }

  private static Map<String, Object> failure(TarryException error) {
    return map("error", map("code", error.code(), "next", error.next().wire(),
        "status", error.status(), "message", error.detail()));
  }

  // Fields

  private static <T> void with(Map<String, Object> f, String name, Consumer<T> set) {
    if (f.get(name) != null) {
      @SuppressWarnings("unchecked")
      T value = (T) f.get(name);
      set.accept(value);
    }
  }

  private static void span(Map<String, Object> f, String name, Consumer<Duration> set) {
    Driver.<Long>with(f, name, ms -> set.accept(Duration.ofMillis(ms)));
  }

  private static void time(Map<String, Object> f, String name, Consumer<Instant> set) {
    Driver.<Long>with(f, name, ms -> set.accept(Instant.ofEpochMilli(ms)));
  }

  private static int number(Map<String, Object> f, String name) {
    return ((Long) f.get(name)).intValue();
  }

  private static <E extends Enum<E>> E of(Class<E> kind, Object name) {
    return Enum.valueOf(kind, name.toString().toUpperCase(Locale.ROOT));
  }

  @SuppressWarnings("unchecked")
  private static List<String> texts(Map<String, Object> f, String name) {
    return (List<String>) f.get(name);
  }

  private static List<Map<String, Object>> maps(Map<String, Object> f, String name) {
    return Json.list(f.get(name)).stream().map(Json::object).collect(Collectors.toList());
  }

  private static Message message(Map<String, Object> f) {
    Message message = Message.of(Text.bytes(f, "payload"));
    if (f.containsKey("key") || f.containsKey("key_base64")) {
      message.key(Text.get(f, "key"));
    }
    span(f, "delay_ms", message::in);
    time(f, "due_ms", message::at);
    with(f, "headers", all -> Json.object(all).forEach((n, v) -> message.header(n, (String) v)));
    with(f, "priority", message::priority);
    with(f, "if_exists", rule -> message.ifExists(of(IfExists.class, rule)));
    Driver.<Long>with(f, "max_attempts", count -> message.maxAttempts(count.intValue()));
    return message;
  }

  private static Settlement settlement(Map<String, Object> f) {
    Settlement one = Settlement.of((String) f.get("receipt"), of(Action.class, f.get("action")));
    span(f, "delay_ms", one::in);
    with(f, "reason", one::reason);
    with(f, "priority", one::priority);
    return one;
  }

  private static Reschedule reschedule(Map<String, Object> f) {
    String key = Text.get(f, "key");
    Reschedule one = f.containsKey("delay_ms")
        ? Reschedule.in(key, Duration.ofMillis((Long) f.get("delay_ms")))
        : Reschedule.at(key, Instant.ofEpochMilli((Long) f.get("due_ms")));
    with(f, "priority", one::priority);
    return one;
  }

  private Object claim(Map<String, Object> f) {
    ClaimRequest request = ClaimRequest.of(texts(f, "queues"));
    Driver.<Long>with(f, "max", max -> request.max(max.intValue()));
    with(f, "max_bytes", request::maxBytes);
    span(f, "lease_ms", request::lease);
    span(f, "wait_ms", request::waitFor);
    Driver.<List<String>>with(f, "keys", request::keys);
    with(f, "any_state", any -> request.anyState());
    return map("messages", shown(client.claim(request)));
  }

  private static ListRequest list(Map<String, Object> f) {
    ListRequest request = ListRequest.all();
    with(f, "state", state -> request.state(of(State.class, state)));
    with(f, "prefix", request::prefix);
    Driver.<Long>with(f, "limit", limit -> request.limit(limit.intValue()));
    with(f, "after", request::after);
    return request;
  }

  private Object bulk(Map<String, Object> f) {
    BulkRequest request = BulkRequest.of((String) f.get("action"));
    with(f, "prefix", request::prefix);
    with(f, "state", state -> request.state(of(State.class, state)));
    time(f, "due_from_ms", request::dueFrom);
    time(f, "due_to_ms", request::dueTo);
    time(f, "due_ms", request::to);
    span(f, "by_ms", request::by);
    Driver.<Map<String, String>>with(f, "headers", request::headers);
    with(f, "reason", request::reason);
    with(f, "dry_run", yes -> request.dryRun());
    Bulk bulk = queue(f).bulk(request);
    return map("matched", bulk.matched(), "outcomes", bulk.outcomes(), "failed", bulk.failed());
  }

  private Object configure(Map<String, Object> f) {
    TarryQueue queue = queue(f);
    QueueSettings settings = QueueSettings.change();
    f.remove("queue");
    f.forEach(settings::set);
    return queue.configure(settings);
  }

  private TarryQueue queue(Map<String, Object> f) {
    return client.queue((String) f.get("queue"));
  }

  // Answers

  private static Map<String, Object> bytes(Map<String, Object> all, String key, byte[] payload) {
    Text.put(all, "key", key);
    if (payload != null) {
      Text.put(all, "payload", payload);
    }
    return all;
  }

  private static Object shown(Object value) {
    if (value instanceof List) {
      return ((List<?>) value).stream().map(Driver::shown).collect(Collectors.toList());
    } else if (value instanceof Result) {
      Result<?> one = (Result<?>) value;
      return one.error().<Object>map(Driver::failure).orElseGet(() -> shown(one.value()));
    } else if (value instanceof Pushed) {
      Pushed one = (Pushed) value;
      return bytes(map("outcome", one.outcome().wire(), "id", one.id(),
          "due_ms", one.due().toEpochMilli()), one.key(), null);
    } else if (value instanceof Changed) {
      Changed one = (Changed) value;
      return bytes(map("outcome", one.outcome().wire(),
          "due_ms", one.due().map(Instant::toEpochMilli).orElse(null),
          "settlement", map("how", one.settledHow().orElse(null))), one.key(), null);
    } else if (value instanceof Settled) {
      Settled one = (Settled) value;
      return map("outcome", one.outcome().wire(),
          "due_ms", one.due().map(Instant::toEpochMilli).orElse(null));
    } else if (value instanceof Claimed) {
      Claimed one = (Claimed) value;
      return bytes(map("queue", one.queue(), "id", one.id(), "headers", one.headers(),
          "receipt", one.receipt(), "attempt", one.attempt(), "lease_ms", one.lease().toMillis(),
          "due_ms", one.due().toEpochMilli(), "priority", one.priority()),
          one.key(), one.payload());
    } else if (value instanceof QueueInfo) {
      return ((QueueInfo) value).raw();
    }
    return ((Stored) value).raw();
  }

  // The worker

  private CountDownLatch gate(String key) {
    return gates.computeIfAbsent(key, one -> new CountDownLatch(1));
  }

  private Object work(Map<String, Object> f) {
    TarryWorker.Builder builder = TarryWorker.builder(client);
    texts(f, "queues").forEach(queue -> builder.handle(queue, this::handle));
    Driver.<Long>with(f, "concurrency", count -> builder.concurrency(count.intValue()));
    Driver.<Long>with(f, "prefetch", count -> builder.prefetch(count.intValue()));
    span(f, "lease_ms", builder::lease);
    span(f, "drain_ms", builder::drain);
    worker = builder.start();
    return null;
  }

  private Verdict handle(Delivery delivery) throws Exception {
    Map<String, Object> about = map("queue", delivery.queue(), "key", delivery.key(),
        "receipt", delivery.message().receipt(), "attempt", delivery.attempt());
    Map<String, Object> begun = map("event", "begun");
    begun.putAll(about);
    say(begun);
    try {
      String[] words = delivery.text().split(" ", 2);
      String rest = words.length > 1 ? words[1] : "";
      switch (words[0]) {
        case "retry":
          return rest.isEmpty() ? Verdict.retry() : Verdict.retry(Duration.ofMillis(Long.parseLong(rest)));
        case "release":
          return Verdict.release();
        case "bury":
          return Verdict.bury(rest);
        case "throw":
          throw new Exception(rest);
        case "hold":
          Thread teller = new Thread(() -> tell(delivery));
          teller.setDaemon(true);
          teller.start();
          gate(delivery.key()).await();
          return Verdict.ack();
        default:
          return Verdict.ack();
      }
    } finally {
      about.put("event", "ended");
      say(about);
    }
  }

  private static void tell(Delivery delivery) {
    try {
      delivery.awaitStop(1, TimeUnit.HOURS);
      say(map("event", "signalled", "key", delivery.key()));
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  private Object stopWork(Map<String, Object> f) {
    worker.close();
    Counts all = worker.counts();
    return map("delivered", all.delivered(), "acked", all.acked(), "retried", all.retried(),
        "buried", all.buried(), "released", all.released(), "stale", all.stale());
  }

  private Object together(Map<String, Object> f) {
    List<CompletableFuture<Map<String, Object>>> calls = new ArrayList<>();
    ExecutorService threads = Executors.newCachedThreadPool();
    for (Map<String, Object> call : maps(f, "calls")) {
      calls.add(CompletableFuture.supplyAsync(() -> carryOut(call), threads));
    }
    return calls.stream().map(CompletableFuture::join).collect(Collectors.toList());
  }

  private Object open(Map<String, Object> f) {
    TarryClient.Builder builder = TarryClient.builder().url((String) f.get("url"));
    with(f, "token", builder::token);
    if (f.get("url").toString().startsWith("https:")) {
      Driver.<String>with(f, "ca", file -> builder.ca(Path.of(file)));
    }
    span(f, "patience_ms", builder::patience);
    span(f, "timeout_ms", builder::timeout);
    client = builder.build();
    return null;
  }

  private static <T> List<T> each(Map<String, Object> f, String name, Function<Map<String, Object>, T> make) {
    return maps(f, name).stream().map(make).collect(Collectors.toList());
  }

  private Driver() {
    ops.put("open", this::open);
    ops.put("close", f -> { client.close(); return null; });
    ops.put("together", this::together);
    ops.put("work", this::work);
    ops.put("let_go", f -> { gate((String) f.get("key")).countDown(); return null; });
    ops.put("begin_stop", f -> { worker.stop(); return null; });
    ops.put("stop_work", this::stopWork);
    ops.put("push", f -> shown(f.containsKey("messages")
        ? queue(f).push(each(f, "messages", Driver::message))
        : queue(f).push(message(Json.object(f.get("message"))))));
    ops.put("get", f -> shown(f.containsKey("keys")
        ? queue(f).get(texts(f, "keys")) : queue(f).get(Text.get(f, "key"))));
    ops.put("cancel", f -> shown(f.containsKey("keys")
        ? queue(f).cancel(texts(f, "keys")) : queue(f).cancel(Text.get(f, "key"))));
    ops.put("reschedule", f -> shown(f.containsKey("items")
        ? queue(f).reschedule(each(f, "items", Driver::reschedule))
        : queue(f).reschedule(reschedule(Json.object(f.get("item"))))));
    ops.put("claim", this::claim);
    ops.put("settle", f -> shown(f.containsKey("items")
        ? client.settle(each(f, "items", Driver::settlement))
        : client.settle(settlement(Json.object(f.get("item"))))));
    ops.put("extend", f -> {
      List<Map<String, Object>> items =
          f.containsKey("items") ? maps(f, "items") : List.of(Json.object(f.get("item")));
      Long ms = (Long) items.get(0).get("lease_ms");
      Duration lease = ms == null ? null : Duration.ofMillis(ms);
      return shown(f.containsKey("items")
          ? client.extend(items.stream().map(one -> (String) one.get("receipt")).collect(Collectors.toList()), lease)
          : client.extend((String) items.get(0).get("receipt"), lease));
    });
    ops.put("list", f -> {
      Page page = queue(f).page(list(f));
      return map("messages", shown(page.messages()), "next", page.next());
    });
    ops.put("list_all", f -> {
      List<Stored> all = new ArrayList<>();
      queue(f).list(list(f)).forEach(all::add);
      return map("messages", shown(all));
    });
    ops.put("revive", f -> map("count",
        f.containsKey("keys") ? queue(f).revive(texts(f, "keys")) : queue(f).reviveAll()));
    ops.put("bulk", this::bulk);
    ops.put("configure", this::configure);
    ops.put("queue", f -> shown(queue(f).info()));
    ops.put("queues", f -> map("queues", shown(client.queues())));
    ops.put("stats", f -> f.containsKey("queue") ? queue(f).stats() : client.stats());
    ops.put("forecast", f -> queue(f).forecast(
        Duration.ofMillis((Long) f.get("width_ms")), number(f, "buckets")));
    ops.put("pause", f -> {
      if (f.containsKey("until_ms")) {
        queue(f).pause(Instant.ofEpochMilli((Long) f.get("until_ms")));
      } else {
        queue(f).pause();
      }
      return map("paused", true);
    });
    ops.put("resume", f -> { queue(f).resume(); return map("paused", false); });
    ops.put("purge", f -> map("count", queue(f).purge()));
    ops.put("remove", f -> map("count", queue(f).remove(f.containsKey("force"))));
    ops.put("advance", f -> map("advanced_ms",
        client.advance(Duration.ofMillis((Long) f.get("by_ms"))).toMillis()));
    ops.put("health", f -> client.health());
  }
}
