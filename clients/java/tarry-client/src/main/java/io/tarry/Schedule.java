package io.tarry;

import io.tarry.internal.Json;
import io.tarry.internal.Text;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;

/** A schedule as the server keeps it. */
public final class Schedule {
  private final Map<String, Object> said;

  Schedule(Map<String, Object> said) {
    this.said = Collections.unmodifiableMap(said);
  }

  public String name() {
    return Json.text(said, "name");
  }

  public String when() {
    return Json.text(said, "when");
  }

  /** The time zone of the expression; empty: UTC. */
  public String zone() {
    return Json.text(said, "zone");
  }

  public Optional<Instant> start() {
    return time("start_ms");
  }

  public Optional<Instant> end() {
    return time("end_ms");
  }

  public Duration jitter() {
    return Duration.ofMillis(Json.number(said, "jitter_ms", 0));
  }

  public String queue() {
    return Json.text(said, "queue");
  }

  public byte[] payload() {
    return Text.bytes(said, "payload");
  }

  /** The payload as UTF-8 text. */
  public String text() {
    return new String(payload(), StandardCharsets.UTF_8);
  }

  public Map<String, String> headers() {
    return Claimed.headers(said);
  }

  public long priority() {
    return Json.number(said, "priority", 1024);
  }

  public Missed missed() {
    return Missed.of(said.get("missed"));
  }

  public boolean isPaused() {
    return Json.flag(said, "paused");
  }

  /** The next occurrence; empty if there is none, or while the schedule is paused. */
  public Optional<Instant> next() {
    return time("next_ms");
  }

  /** When the next occurrence is due, with the jitter. */
  public Optional<Instant> due() {
    return time("due_ms");
  }

  private Optional<Instant> time(String name) {
    return said.containsKey(name)
        ? Optional.of(Instant.ofEpochMilli(Json.number(said, name)))
        : Optional.empty();
  }

  /** The server's whole answer: numbers are {@link Long}. */
  public Map<String, Object> raw() {
    return said;
  }

  @Override
  public String toString() {
    return name() + ", " + when();
  }
}
