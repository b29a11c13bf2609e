package io.tarry;

import io.tarry.internal.Json;
import io.tarry.internal.Text;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A claimed message. Its receipt names this claim, for settle and extend. */
public final class Claimed {
  private final String queue;
  private final String id;
  private final String key;
  private final byte[] payload;
  private final Map<String, String> headers;
  private final String receipt;
  private final int attempt;
  private final Duration lease;
  private final Instant due;
  private final long priority;

  Claimed(Map<String, Object> said) {
    queue = Json.text(said, "queue");
    id = Json.text(said, "id");
    key = Text.get(said, "key");
    payload = Text.bytes(said, "payload");
    headers = headers(said);
    receipt = Json.text(said, "receipt");
    attempt = (int) Json.number(said, "attempt", 1);
    lease = Duration.ofMillis(Json.number(said, "lease_ms"));
    due = Instant.ofEpochMilli(Json.number(said, "due_ms"));
    priority = Json.number(said, "priority", 1024);
  }

  static Map<String, String> headers(Map<String, Object> said) {
    Map<String, String> headers = new LinkedHashMap<>();
    if (said.get("headers") != null) {
      Json.object(said.get("headers")).forEach((name, value) -> headers.put(name, "" + value));
    }
    return Collections.unmodifiableMap(headers);
  }

  public String queue() {
    return queue;
  }

  /** The same in each delivery of this message: drop duplicates by it. */
  public String id() {
    return id;
  }

  public String key() {
    return key;
  }

  /** The payload's bytes. Not a copy: do not change them. */
  public byte[] payload() {
    return payload;
  }

  /** The payload as UTF-8 text. */
  public String text() {
    return new String(payload, StandardCharsets.UTF_8);
  }

  public Map<String, String> headers() {
    return headers;
  }

  public String receipt() {
    return receipt;
  }

  /** 1 for the first. */
  public int attempt() {
    return attempt;
  }

  /** Counts from the claim on. Measure it from before you sent the claim. */
  public Duration lease() {
    return lease;
  }

  public Instant due() {
    return due;
  }

  public long priority() {
    return priority;
  }

  @Override
  public String toString() {
    return queue + " " + key + ", attempt " + attempt;
  }
}
