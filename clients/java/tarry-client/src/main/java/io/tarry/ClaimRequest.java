package io.tarry;

import io.tarry.errors.TarryException;
import io.tarry.internal.Call;
import io.tarry.internal.Item;
import io.tarry.internal.Json;
import io.tarry.internal.Text;
import io.tarry.internal.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What to claim. Each method sets one thing and returns this request. */
public final class ClaimRequest {
  private final Map<String, Object> body = new LinkedHashMap<>();
  private Duration wait = Duration.ZERO;
  private int settlements;

  private ClaimRequest() {}

  /** Due messages of these queues. */
  public static ClaimRequest of(Collection<String> queues) {
    ClaimRequest request = new ClaimRequest();
    request.body.put("queues", new ArrayList<>(queues));
    return request;
  }

  /** Due messages of these queues. */
  public static ClaimRequest of(String... queues) {
    return of(List.of(queues));
  }

  /** At most so many; default 1. */
  public ClaimRequest max(int count) {
    body.put("max", count);
    return this;
  }

  /** Stop at so many bytes of payload; at least one message is always returned. */
  public ClaimRequest maxBytes(long bytes) {
    body.put("max_bytes", bytes);
    return this;
  }

  /** Else the queue's. */
  public ClaimRequest lease(Duration lease) {
    Times.put(body, "lease", lease);
    return this;
  }

  /** If nothing is due, wait so long for the first message. */
  public ClaimRequest waitFor(Duration wait) {
    this.wait = wait;
    Times.put(body, "wait", wait);
    return this;
  }

  /** Only these messages. */
  public ClaimRequest keys(Collection<String> keys) {
    putKeys(body, keys);
    return this;
  }

  /** With keys: whatever the state of the messages, unless they are leased. */
  public ClaimRequest anyState() {
    body.put("any_state", true);
    return this;
  }

  static void putKeys(Map<String, Object> body, Collection<String> keys) {
    if (keys.stream().allMatch(Text::isPlain)) {
      body.put("keys", new ArrayList<>(keys));
    } else {
      List<String> coded = new ArrayList<>();
      keys.forEach(key -> coded.add(Item.base64(key)));
      body.put("keys_base64", coded);
    }
  }

  /** Ends these claims first. */
  ClaimRequest settle(List<Settlement> first) {
    List<Object> items = new ArrayList<>();
    first.forEach(one -> items.add(one.body()));
    if (!items.isEmpty()) {
      body.put("settle", items);
    }
    settlements = items.size();
    return this;
  }

  /** What a claim answers: the messages, and how long it waited in milliseconds; -1: not told. */
  static final class Answer {
    final List<Claimed> messages = new ArrayList<>();
    final List<Result<Settled>> settled;
    final TarryException error;
    final long waitedMs;

    Answer(Map<String, Object> said, int settlements) {
      Json.list(said.get("messages")).forEach(one -> messages.add(new Claimed(Json.object(one))));
      settled =
          settlements == 0
              ? List.of()
              : Transport.results(Json.list(said.get("settled")), settlements, Settled::new);
      error = said.containsKey("error") ? Transport.error(said) : null;
      waitedMs = Json.number(said, "waited_ms", -1);
    }
  }

  Call<Answer> call() {
    return Call.once("POST", "/v1/claim", body, said -> new Answer(Json.object(said), settlements))
        .waiting(wait);
  }
}
