package io.tarry;

import java.util.Locale;

/** How a claim ends. */
public enum Action {
  /** Done. */
  ACK,
  /** Again after a delay. */
  RETRY,
  /** Again now; the attempt is not counted. */
  RELEASE,
  /** Set aside as dead. */
  BURY;

  /** The name that the server uses. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Action of(Object wire) {
    return valueOf(wire.toString().toUpperCase(Locale.ROOT));
  }
}
