package io.tarry;

import io.tarry.internal.Json;
import io.tarry.internal.Text;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;

/** An event of a message's {@link History}. */
public final class HistoryEvent {
  private final Map<String, Object> said;

  HistoryEvent(Map<String, Object> said) {
    this.said = Collections.unmodifiableMap(said);
  }

  /** One of those in docs/reference/command-line.md, {@code claimed} for instance. */
  public String event() {
    return Json.text(said, "event");
  }

  public Instant at() {
    return Instant.ofEpochMilli(Json.number(said, "at_ms", 0));
  }

  /** The attempt that it concerns; 0: none had begun. */
  public int attempt() {
    return (int) Json.number(said, "attempt", 0);
  }

  /** The new due time, if it sets one. */
  public Optional<Instant> due() {
    return said.containsKey("due_ms")
        ? Optional.of(Instant.ofEpochMilli(Json.number(said, "due_ms", 0)))
        : Optional.empty();
  }

  /** Why it happened; empty if that is not known. */
  public String reason() {
    return Text.get(said, "reason");
  }

  /** Who claimed the message; empty if that is not known. */
  public String by() {
    return Text.get(said, "by");
  }

  /** What the server answered. */
  public Map<String, Object> raw() {
    return said;
  }
}
