import io.tarry.*;
import io.tarry.errors.TarryException;
import io.tarry.internal.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/** The driver of the conformance table for the Java client: clients/conformance/README.md. */
public final class Driver extends Values {
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();
  private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
  private TarryClient client;
  private TarryWorker worker;

  public static void main(String[] arguments) {
    Driver driver = new Driver();
    var input = new InputStreamReader(System.in, StandardCharsets.UTF_8);
    new BufferedReader(input).lines().forEach(line -> {
      Map<String, Object> request = Json.object(Json.parse(line));
      Map<String, Object> answer = map("id", request.remove("id"));
      answer.putAll(driver.answer(request));
      say(answer);
    });
    System.exit(0);
  }

  private Map<String, Object> answer(Map<String, Object> f) {
    try {
      Object said = shown(carryOut((String) f.remove("op"), f));
      return map("ok", said == null ? Map.of() : said);
    } catch (TarryException error) {
      return failure(error);
    }
  }

  private static Message message(Map<String, Object> f) {
    Message one = Message.of(Text.bytes(f, "payload"));
    if (f.containsKey("key") || f.containsKey("key_base64")) one.key(Text.get(f, "key"));
    Json.object(f.getOrDefault("headers", Map.of()))
        .forEach((name, text) -> one.header(name, (String) text));
    return set(one, f, "delay_ms:in", "due_ms:at", "priority", "if_exists:ifExists",
        "max_attempts:maxAttempts");
  }

  private static Settlement settlement(Map<String, Object> f) {
    Action action = (Action) as(Action.class, f.get("action"));
    return set(Settlement.of((String) f.get("receipt"), action), f, "delay_ms:in", "reason",
        "priority");
  }

  private static Reschedule reschedule(Map<String, Object> f) {
    String key = Text.get(f, "key");
    return set(f.containsKey("delay_ms") ? Reschedule.in(key, span(f, "delay_ms"))
        : Reschedule.at(key, Instant.ofEpochMilli((Long) f.get("due_ms"))), f, "priority");
  }

  private static ScheduleRequest times(Map<String, Object> f) {
    return set(ScheduleRequest.when((String) f.get("when")), f, "zone", "start_ms:start",
        "end_ms:end", "jitter_ms:jitter");
  }

  private CountDownLatch gate(String key) {
    return gates.computeIfAbsent(key, one -> new CountDownLatch(1));
  }

  private Verdict handle(Delivery delivery) throws Exception {
    Map<String, Object> about = map("event", "begun", "queue", delivery.queue(),
        "key", delivery.key(), "receipt", delivery.message().receipt(),
        "attempt", delivery.attempt());
    say(about);
    String[] words = (delivery.text() + " ").split(" ", 2);
    String rest = words[1].trim();
    try {
      switch (words[0]) {
        case "retry":
          return rest.isEmpty() ? Verdict.retry()
              : Verdict.retry(Duration.ofMillis(Long.parseLong(rest)));
        case "release": return Verdict.release();
        case "bury": return Verdict.bury(rest);
        case "throw": throw new Exception(rest);
        case "hold":
          THREADS.submit(() -> {
            delivery.awaitStop(1, TimeUnit.HOURS);
            say(map("event", "signalled", "key", delivery.key()));
            return null;
          });
          gate(delivery.key()).await();
      }
      return Verdict.ack();
    } finally {
      about.put("event", "ended");
      say(about);
    }
  }

  @SuppressWarnings("unchecked")
  private Object carryOut(String op, Map<String, Object> f) {
    String name = (String) f.getOrDefault("queue", "none");
    TarryQueue queue = client == null ? null : client.queue(name);
    List<String> keys = (List<String>) f.get("keys");
    boolean many = keys != null || f.containsKey("messages") || f.containsKey("items");
    String key = many ? null : Text.get(f, "key");
    switch (op) {
      case "open":
        if (!f.get("url").toString().startsWith("https:")) f.remove("ca");
        TarryClient.Builder made = set(TarryClient.builder(), f, "url", "token", "ca",
            "patience_ms:patience", "timeout_ms:timeout");
        if (f.containsKey("cert")) {
          made.certificate(Path.of((String) f.get("cert")), Path.of((String) f.get("key")));
        }
        client = made.build();
        return null;
      case "close": client.close(); return null;
      case "together":
        return each(f, "calls", one -> CompletableFuture.supplyAsync(() -> answer(one), THREADS))
            .stream().map(CompletableFuture::join).collect(Collectors.toList());
      case "work":
        TarryWorker.Builder builder = TarryWorker.builder(client);
        ((List<String>) f.get("queues")).forEach(one -> builder.handle(one, this::handle));
        set(builder, f, "concurrency", "prefetch", "lease_ms:lease", "drain_ms:drain");
        worker = builder.start();
        return null;
      case "let_go": gate(key).countDown(); return null;
      case "begin_stop": worker.stop(); return null;
      case "stop_work":
        worker.close();
        return Stream.of("delivered", "acked", "retried", "buried", "released", "stale")
            .collect(Collectors.toMap(one -> one, one -> call(worker.counts(), one, null)));
      case "push":
        return many ? queue.push(each(f, "messages", Driver::message))
            : queue.push(message(Json.object(f.get("message"))));
      case "get": return many ? queue.get(keys) : queue.get(key);
      case "cancel": return many ? queue.cancel(keys) : queue.cancel(key);
      case "reschedule":
        return many ? queue.reschedule(each(f, "items", Driver::reschedule))
            : queue.reschedule(reschedule(Json.object(f.get("item"))));
      case "claim":
        ClaimRequest claim = set(ClaimRequest.of((List<String>) f.get("queues")), f, "max",
            "max_bytes:maxBytes", "lease_ms:lease", "wait_ms:waitFor", "keys",
            "any_state:anyState");
        return map("messages", shown(client.claim(claim)));
      case "settle":
        return many ? client.settle(each(f, "items", Driver::settlement))
            : client.settle(settlement(Json.object(f.get("item"))));
      case "extend":
        var first = Json.object(many ? Json.list(f.get("items")).get(0) : f.get("item"));
        Duration lease = span(first, "lease_ms");
        return many ? client.extend(each(f, "items", one -> (String) one.get("receipt")), lease)
            : client.extend((String) first.get("receipt"), lease);
      case "list":
        Page page = queue.page(set(ListRequest.all(), f, "state", "prefix", "limit", "after"));
        return map("messages", shown(page.messages()), "next", page.next());
      case "list_all":
        ListRequest all = set(ListRequest.all(), f, "state", "prefix", "limit");
        return map("messages", shown(queue.list(all)));
      case "revive": return map("count", many ? queue.revive(keys) : queue.reviveAll());
      case "bulk":
        Bulk bulk = queue.bulk(set(BulkRequest.of((String) f.get("action")), f, "prefix", "state",
            "due_from_ms:dueFrom", "due_to_ms:dueTo", "due_ms:to", "by_ms:by", "headers", "reason",
            "dry_run:dryRun"));
        return map("matched", bulk.matched(), "outcomes", bulk.outcomes(), "failed", bulk.failed());
      case "configure":
        QueueSettings settings = QueueSettings.change();
        f.remove("queue");
        f.forEach(settings::set);
        return queue.configure(settings);
      case "queue": return queue.info();
      case "why": return queue.why(key);
      case "queues": return map("queues", shown(client.queues()));
      case "stats": return f.containsKey("queue") ? queue.stats() : client.stats();
      case "forecast":
        if (f.containsKey("rate")) {
          return queue.forecast(span(f, "width_ms"), ((Long) f.get("buckets")).intValue(),
              ((Number) f.get("rate")).doubleValue(), ((Number) f.get("arrivals")).doubleValue());
        }
        return queue.forecast(span(f, "width_ms"), ((Long) f.get("buckets")).intValue());
      case "pause":
        if (f.containsKey("until_ms")) queue.pause(Instant.ofEpochMilli((Long) f.get("until_ms")));
        else queue.pause();
        return map("paused", true);
      case "resume": queue.resume(); return map("paused", false);
      case "purge": return map("count", queue.purge());
      case "remove": return map("count", queue.remove(f.containsKey("force")));
      case "advance": return map("advanced_ms", client.advance(span(f, "by_ms")).toMillis());
      case "put_schedule":
        ScheduleRequest schedule = times(f).payload(Text.bytes(f, "payload"));
        set(schedule, f, "queue", "headers", "priority", "missed", "paused");
        return map("outcome", client.putSchedule((String) f.get("name"), schedule).wire());
      case "schedule": return client.schedule((String) f.get("name"));
      case "schedules":
        return map("schedules", shown(client.schedules((String) f.getOrDefault("prefix", ""))));
      case "pause_schedule": client.pauseSchedule((String) f.get("name")); return null;
      case "resume_schedule": client.resumeSchedule((String) f.get("name")); return null;
      case "run_schedule": return map("key", client.runSchedule((String) f.get("name")));
      case "remove_schedule": client.removeSchedule((String) f.get("name")); return null;
      case "occurrences":
        return map("occurrences", shown(client.occurrences(
            set(OccurrencesRequest.of(times(f)), f, "name", "from_ms:from", "count"))));
      case "health": return client.health();
      default: throw TarryException.of("no_such_op", op, 0);
    }
  }
}
