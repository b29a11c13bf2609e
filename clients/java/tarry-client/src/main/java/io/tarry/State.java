package io.tarry;

import java.util.Locale;

/** Where a message is in its life. */
public enum State {
  /** Not due yet. */
  SCHEDULED,
  /** Due, and may be claimed. */
  READY,
  /** Claimed. */
  LEASED,
  /** Set aside after its last attempt, or buried. */
  DEAD,
  /** Ended; its key is still known. */
  REMEMBERED;

  /** The name that the server uses. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  static State of(Object wire) {
    return valueOf(wire.toString().toUpperCase(Locale.ROOT));
  }
}
