package io.tarry;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** What a settle or an extend did: done, or stale. */
public final class Settled {
  private final Outcome outcome;
  private final Long dueMs;

  Settled(Map<String, Object> said) {
    outcome = Outcome.of(said.get("outcome"));
    dueMs = (Long) said.get("due_ms");
  }

  public Outcome outcome() {
    return outcome;
  }

  /** False: the claim had ended before, and another delivery may have begun. */
  public boolean isDone() {
    return outcome == Outcome.DONE;
  }

  /** When a retry is due again. */
  public Optional<Instant> due() {
    return Optional.ofNullable(dueMs).map(Instant::ofEpochMilli);
  }

  @Override
  public String toString() {
    return outcome.wire();
  }
}
