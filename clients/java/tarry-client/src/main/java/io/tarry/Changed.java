package io.tarry;

import io.tarry.internal.Json;
import io.tarry.internal.Text;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** What a cancel or a reschedule did. */
public final class Changed {
  private final Outcome outcome;
  private final String key;
  private final Long dueMs;
  private final String how;

  Changed(Map<String, Object> said) {
    outcome = Outcome.of(said.get("outcome"));
    key = Text.get(said, "key");
    dueMs = (Long) said.get("due_ms");
    Object settlement = said.get("settlement");
    how = settlement == null ? null : Json.text(Json.object(settlement), "how");
  }

  public Outcome outcome() {
    return outcome;
  }

  public String key() {
    return key;
  }

  public Optional<Instant> due() {
    return Optional.ofNullable(dueMs).map(Instant::ofEpochMilli);
  }

  /**
   * How the message ended ({@code acked}, {@code cancelled}, {@code expired}), if the outcome is
   * settled.
   */
  public Optional<String> settledHow() {
    return Optional.ofNullable(how);
  }

  @Override
  public String toString() {
    return outcome.wire() + " " + key;
  }
}
