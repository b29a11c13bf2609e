package io.tarry;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** How a handler ends a delivery. */
public final class Verdict {
  private static final int MAX_REASON = 1000;

  private final Action action;
  private final Duration delay;
  private final String reason;

  private Verdict(Action action, Duration delay, String reason) {
    this.action = action;
    this.delay = delay;
    this.reason = reason;
  }

  /** Done. */
  public static Verdict ack() {
    return new Verdict(Action.ACK, null, null);
  }

  /** Again after the queue's backoff. */
  public static Verdict retry() {
    return new Verdict(Action.RETRY, null, null);
  }

  /** Again after this delay. */
  public static Verdict retry(Duration delay) {
    return new Verdict(Action.RETRY, delay, null);
  }

  /** Again now; this attempt is not counted. */
  public static Verdict release() {
    return new Verdict(Action.RELEASE, null, null);
  }

  /** Set aside as dead. */
  public static Verdict bury(String reason) {
    return new Verdict(Action.BURY, null, reason);
  }

  static Verdict failed(Throwable error) {
    return new Verdict(Action.RETRY, null, error.toString());
  }

  Action action() {
    return action;
  }

  Settlement settlement(String receipt) {
    Settlement settlement = Settlement.of(receipt, action);
    if (delay != null) {
      settlement.in(delay);
    }
    if (reason != null && !reason.isEmpty()) {
      settlement.reason(shortened(reason));
    }
    return settlement;
  }

  private static String shortened(String reason) {
    String valid = new String(reason.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    int end = valid.length();
    while (valid.substring(0, end).getBytes(StandardCharsets.UTF_8).length > MAX_REASON) {
      end -= Math.max(1, (end - MAX_REASON) / 2);
      if (Character.isHighSurrogate(valid.charAt(end - 1))) {
        end--;
      }
    }
    return valid.substring(0, end);
  }
}
