package io.tarry;

import java.util.Locale;

/** What becomes of a schedule's occurrences that no server could push for a minute. */
public enum Missed {
  /** They are not pushed. */
  SKIP,
  /** Only the latest of them is pushed: the default. */
  ONE,
  /** Each is pushed, under its own key. */
  ALL;

  /** The name that the server uses. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Missed of(Object wire) {
    return valueOf(wire.toString().toUpperCase(Locale.ROOT));
  }
}
