package io.tarry;

import io.tarry.internal.Json;
import java.util.Collections;
import java.util.Map;

/** A queue's figures. */
public final class QueueInfo {
  private final Map<String, Object> said;

  QueueInfo(Map<String, Object> said) {
    this.said = Collections.unmodifiableMap(said);
  }

  public String queue() {
    return Json.text(said, "queue");
  }

  public long scheduled() {
    return Json.number(said, "scheduled", 0);
  }

  public long ready() {
    return Json.number(said, "ready", 0);
  }

  public long leased() {
    return Json.number(said, "leased", 0);
  }

  public long dead() {
    return Json.number(said, "dead", 0);
  }

  public long remembered() {
    return Json.number(said, "remembered", 0);
  }

  public boolean isPaused() {
    return Json.flag(said, "paused");
  }

  /** The server's whole answer, with {@code settings} and {@code counters}. */
  public Map<String, Object> raw() {
    return said;
  }

  @Override
  public String toString() {
    return queue()
        + ": "
        + scheduled()
        + " scheduled, "
        + ready()
        + " ready, "
        + leased()
        + " leased, "
        + dead()
        + " dead";
  }
}
