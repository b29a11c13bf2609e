package io.tarry;

import io.tarry.internal.Json;
import java.util.Collections;
import java.util.Map;

/** Why a message has not been delivered, or what has become of it. */
public final class Why {
  private final Map<String, Object> said;

  Why(Map<String, Object> said) {
    this.said = Collections.unmodifiableMap(said);
  }

  /** One of those in docs/reference/command-line.md, {@code not_due} for instance. */
  public String cause() {
    return Json.text(said, "cause");
  }

  /** The cause in a sentence. */
  public String text() {
    return Json.text(said, "text");
  }

  /** The message, without its payload. */
  public Stored message() {
    return new Stored(Json.object(said.get("message")));
  }

  /** Its queue. */
  public QueueInfo queue() {
    return new QueueInfo(Json.object(said.get("queue")));
  }

  /** The server's whole answer. */
  public Map<String, Object> raw() {
    return said;
  }

  @Override
  public String toString() {
    return text();
  }
}
