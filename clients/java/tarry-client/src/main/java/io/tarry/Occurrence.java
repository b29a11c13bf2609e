package io.tarry;

import io.tarry.internal.Json;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;

/** One of a schedule's times. */
public final class Occurrence {
  private final Instant time;
  private final Instant due;
  private final OffsetDateTime local;

  Occurrence(Map<String, Object> said) {
    time = Instant.ofEpochMilli(Json.number(said, "time_ms"));
    due = Instant.ofEpochMilli(Json.number(said, "due_ms"));
    local = OffsetDateTime.parse(Json.text(said, "local"));
  }

  public Instant time() {
    return time;
  }

  /** The time with the jitter. */
  public Instant due() {
    return due;
  }

  /** The time on the local clock of the zone. */
  public OffsetDateTime local() {
    return local;
  }

  @Override
  public String toString() {
    return local.toString();
  }
}
