package io.tarry;

import java.util.Locale;

/** What a push does if its key is taken. */
public enum IfExists {
  /** Nothing; the outcome says so. */
  REJECT,
  /** Nothing; the message that is there is what was wanted. */
  KEEP,
  /** Replaces the message: payload, due time, attempts. */
  REPLACE,
  /** Moves the message if that is earlier. */
  EARLIER,
  /** Moves the message if that is later. */
  LATER;

  /** The name that the server uses. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  static IfExists of(Object wire) {
    return valueOf(wire.toString().toUpperCase(Locale.ROOT));
  }
}
