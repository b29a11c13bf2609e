package io.tarry;

import io.tarry.internal.Call;
import io.tarry.internal.Item;
import io.tarry.internal.Json;
import io.tarry.internal.Lane;
import io.tarry.internal.Text;
import io.tarry.internal.Tracing;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

/** A queue of a client: its verbs, each for one message and for many. Thread safe. */
public final class TarryQueue {
  private final TarryClient client;
  private final String name;

  TarryQueue(TarryClient client, String name) {
    this.client = client;
    this.name = name;
  }

  public String name() {
    return name;
  }

  // Messages

  /** Pushes a text under a key, due after the delay. */
  public Pushed push(String key, String payload, Duration delay) {
    return push(Message.of(payload).key(key).in(delay));
  }

  /**
   * Pushes a message. A taken key is an outcome: look at it. Throws {@link
   * io.tarry.errors.UnknownOutcomeException} if the answer was lost; with a key you may push again.
   */
  public Pushed push(Message message) {
    try (Tracing.Sending span = Tracing.sending(name)) {
      return span.watch(
          () -> client.transport().single(message.item(name, span.headers()), Pushed::new));
    }
  }

  /** Pushes messages. */
  public List<Result<Pushed>> push(Collection<Message> messages) {
    try (Tracing.Sending span = Tracing.sending(name)) {
      List<Item> items = new ArrayList<>();
      messages.forEach(one -> items.add(one.item(name, span.headers())));
      return span.watch(() -> client.transport().batch(items, Pushed::new));
    }
  }

  /** Throws {@link io.tarry.errors.NotFoundException} if there is none. */
  public Stored get(String key) {
    return client.transport().single(Item.key(name, "/get", key, true), Stored::new);
  }

  public List<Result<Stored>> get(Collection<String> keys) {
    return client.transport().batch(keys("/get", keys, true), Stored::new);
  }

  /** Why the message has not been delivered, in one sentence. */
  public Why why(String key) {
    Map<String, Object> query = new LinkedHashMap<>();
    Text.put(query, "key", key);
    return client
        .transport()
        .run(
            Call.again(
                "GET",
                ListRequest.withQuery(path("/why"), query),
                null,
                said -> new Why(Json.object(said))));
  }

  /** What has happened to the message, if the queue has the setting {@code history}. */
  public History history(String key) {
    Map<String, Object> query = new LinkedHashMap<>();
    Text.put(query, "key", key);
    return client
        .transport()
        .run(
            Call.again(
                "GET",
                ListRequest.withQuery(path("/history"), query),
                null,
                said -> new History(Json.object(said))));
  }

  public Changed cancel(String key) {
    return client.transport().single(Item.key(name, "/cancel", key, false), Changed::new);
  }

  public List<Result<Changed>> cancel(Collection<String> keys) {
    return client.transport().batch(keys("/cancel", keys, false), Changed::new);
  }

  private List<Item> keys(String verb, Collection<String> keys, boolean repeatable) {
    List<Item> items = new ArrayList<>();
    keys.forEach(key -> items.add(Item.key(name, verb, key, repeatable)));
    return items;
  }

  public Changed reschedule(String key, Duration delay) {
    return reschedule(Reschedule.in(key, delay));
  }

  public Changed reschedule(String key, Instant due) {
    return reschedule(Reschedule.at(key, due));
  }

  public Changed reschedule(Reschedule item) {
    return client.transport().single(item.item(name), Changed::new);
  }

  public List<Result<Changed>> reschedule(Collection<Reschedule> items) {
    List<Item> all = new ArrayList<>();
    items.forEach(one -> all.add(one.item(name)));
    return client.transport().batch(all, Changed::new);
  }

  /** Claims up to {@code max} messages that are due now. */
  public List<Claimed> claim(int max) {
    return client.claim(ClaimRequest.of(name).max(max));
  }

  // Lists

  public Page page(ListRequest request) {
    return client.transport().run(request.call(name));
  }

  /** All messages that match, page after page as they are needed. */
  public Iterable<Stored> list(ListRequest request) {
    return () -> new Pages(request);
  }

  /** The dead messages, with their reasons. */
  public Iterable<Stored> dead() {
    return list(ListRequest.in(State.DEAD));
  }

  private final class Pages implements Iterator<Stored> {
    private final ListRequest request;
    private Page page;
    private Iterator<Stored> messages;

    Pages(ListRequest request) {
      this.request = request;
      turn();
    }

    private void turn() {
      page = page(request);
      messages = page.messages().iterator();
    }

    @Override
    public boolean hasNext() {
      while (!messages.hasNext() && !page.next().isEmpty()) {
        request.after(page.next());
        turn();
      }
      return messages.hasNext();
    }

    @Override
    public Stored next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return messages.next();
    }
  }

  // The queue as a whole

  /** Revives dead messages; how many there were. */
  public long revive(Collection<String> keys) {
    Map<String, Object> body = new LinkedHashMap<>();
    ClaimRequest.putKeys(body, keys);
    return count("POST", "/revive", body);
  }

  /** Revives all dead messages. */
  public long reviveAll() {
    return count("POST", "/revive", Map.of("all", true));
  }

  /** Carries out a verb for all messages that match. */
  public Bulk bulk(BulkRequest request) {
    Map<String, Object> body = new LinkedHashMap<>(request.body);
    Bulk sum = new Bulk();
    while (true) {
      Map<String, Object> page =
          client.transport().run(Call.once("POST", path("/bulk"), body, Json::object));
      sum.add(page);
      if (Json.text(page, "next").isEmpty()) {
        return sum;
      }
      body.put("after", page.get("next"));
    }
  }

  /** Changes settings; makes the queue if there is none. All settings, as the server names them. */
  public Map<String, Object> configure(QueueSettings settings) {
    return client.transport().run(Call.again("PUT", path(""), settings.body, Json::object));
  }

  /** Throws {@link io.tarry.errors.NotFoundException} if there is no such queue. */
  public QueueInfo info() {
    return client
        .transport()
        .run(Call.again("GET", path(""), null, said -> new QueueInfo(Json.object(said))));
  }

  /** The store's figures, of this queue. */
  public Map<String, Object> stats() {
    return client.get(ListRequest.withQuery("/v1/stats", Map.of("queue", name)));
  }

  /** How many messages are due now, and in each of so many spans of time. */
  public Map<String, Object> forecast(Duration width, int buckets) {
    Map<String, String> query = new LinkedHashMap<>();
    query.put("width_ms", Long.toString(Times.millis(width)));
    query.put("buckets", Integer.toString(buckets));
    return client.get(ListRequest.withQuery(path("/forecast"), query));
  }

  /**
   * The same, with the field {@code projection}: when the backlog is drained, and how late messages
   * come.
   *
   * @param rate claims of all consumers together, a second, from 0.001
   * @param arrivals new messages a second that are due at once
   */
  public Map<String, Object> forecast(Duration width, int buckets, double rate, double arrivals) {
    Map<String, String> query = new LinkedHashMap<>();
    query.put("width_ms", Long.toString(Times.millis(width)));
    query.put("buckets", Integer.toString(buckets));
    query.put("rate", BigDecimal.valueOf(rate).toPlainString());
    if (arrivals != 0) query.put("arrivals", BigDecimal.valueOf(arrivals).toPlainString());
    return client.get(ListRequest.withQuery(path("/forecast"), query));
  }

  /** No message is claimed until {@link #resume}. */
  public void pause() {
    paused("/pause", Map.of());
  }

  /** No message is claimed until then. */
  public void pause(Instant until) {
    paused("/pause", Map.of("until_ms", Times.millis(until)));
  }

  public void resume() {
    paused("/resume", null);
  }

  private void paused(String verb, Map<String, Object> body) {
    client.transport().run(Call.again("POST", path(verb), body, Json::object));
  }

  /** Deletes all messages that are not leased; how many there were. */
  public long purge() {
    return count("POST", "/purge", null);
  }

  /**
   * Removes the queue with its messages, settings and counters. Without {@code force}, leased
   * messages are a {@link io.tarry.errors.ConflictException}.
   */
  public long remove(boolean force) {
    return count("DELETE", force ? "?force=true" : "", null);
  }

  private long count(String method, String verb, Map<String, Object> body) {
    return client
        .transport()
        .run(Call.once(method, path(verb), body, said -> Json.number(Json.object(said), "count")));
  }

  private String path(String rest) {
    return Lane.queue(name, rest);
  }

  @Override
  public String toString() {
    return name;
  }
}
