package io.tarry;

import io.tarry.internal.Json;
import io.tarry.internal.Text;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;

/** A message as get and list show it. Lists have no payloads. */
public final class Stored {
  private final Map<String, Object> said;
  private final State state;

  Stored(Map<String, Object> said) {
    this.said = Collections.unmodifiableMap(said);
    state = State.of(said.get("state"));
  }

  public String queue() {
    return Json.text(said, "queue");
  }

  public String id() {
    return Json.text(said, "id");
  }

  public String key() {
    return Text.get(said, "key");
  }

  public State state() {
    return state;
  }

  public Instant due() {
    return Instant.ofEpochMilli(Json.number(said, "due_ms", 0));
  }

  /** How many attempts have begun. */
  public int attempt() {
    return (int) Json.number(said, "attempt", 0);
  }

  public long priority() {
    return Json.number(said, "priority", 1024);
  }

  public Map<String, String> headers() {
    return Claimed.headers(said);
  }

  public byte[] payload() {
    return Text.bytes(said, "payload");
  }

  /** The payload as UTF-8 text. */
  public String text() {
    return new String(payload(), StandardCharsets.UTF_8);
  }

  /** Why it is dead. */
  public String reason() {
    return Text.get(said, "reason");
  }

  /** Whether it was cancelled while it was leased. */
  public boolean isStopping() {
    return Json.flag(said, "stopping");
  }

  /** The server's whole answer: numbers are {@link Long}. */
  public Map<String, Object> raw() {
    return said;
  }

  @Override
  public String toString() {
    return queue() + " " + key() + ", " + state.wire();
  }
}
