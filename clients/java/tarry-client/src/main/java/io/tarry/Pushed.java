package io.tarry;

import io.tarry.internal.Json;
import io.tarry.internal.Text;
import java.time.Instant;
import java.util.Map;

/** What a push did, and the message that is there now. */
public final class Pushed {
  private final Outcome outcome;
  private final String id;
  private final String key;
  private final Instant due;

  Pushed(Map<String, Object> said) {
    outcome = Outcome.of(said.get("outcome"));
    id = Json.text(said, "id");
    key = Text.get(said, "key");
    due = Instant.ofEpochMilli(Json.number(said, "due_ms", 0));
  }

  public Outcome outcome() {
    return outcome;
  }

  /** Whether this push is what will be delivered. */
  public boolean isNew() {
    return outcome == Outcome.PUSHED || outcome == Outcome.REPLACED || outcome == Outcome.REVIVED;
  }

  /** The same in each delivery. */
  public String id() {
    return id;
  }

  /** The key; one that the server made, if none was given. */
  public String key() {
    return key;
  }

  public Instant due() {
    return due;
  }

  @Override
  public String toString() {
    return outcome.wire() + " " + key + ", due " + due;
  }
}
