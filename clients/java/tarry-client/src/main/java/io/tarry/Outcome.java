package io.tarry;

import java.util.Locale;

/** What a verb did. docs/semantics.md has the table. */
public enum Outcome {
  /** It is there, and will be delivered. */
  PUSHED,
  /** The key is taken by a waiting message. */
  EXISTS,
  /** The key is taken; the old message stays, as was asked. */
  KEPT,
  /** The old message was replaced. */
  REPLACED,
  /** The old message has the new time. */
  MOVED,
  /** The key is taken by a message that is being delivered. */
  IN_FLIGHT,
  /** The message has ended, and is remembered. */
  SETTLED,
  /** It was dead, and waits again. */
  REVIVED,
  /** It is gone, and will not be delivered. */
  CANCELLED,
  /** The running delivery may finish; none begins after it. */
  STOPPING,
  /** There is no such message. */
  UNKNOWN,
  /** It has the new time. */
  RESCHEDULED,
  /** The claim has ended, or was extended. */
  DONE,
  /** The claim had ended before. */
  STALE,
  /** There is a new schedule. */
  ADDED;

  /** The name that the server uses. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Outcome of(Object wire) {
    return valueOf(wire.toString().toUpperCase(Locale.ROOT));
  }
}
