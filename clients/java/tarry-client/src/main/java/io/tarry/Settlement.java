package io.tarry;

import io.tarry.internal.Item;
import io.tarry.internal.Lane;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** How a claim shall end, for a batch. */
public final class Settlement {
  private final String receipt;
  private final Action action;
  private Duration delay;
  private String reason;
  private Long priority;

  private Settlement(String receipt, Action action) {
    this.receipt = receipt;
    this.action = action;
  }

  public static Settlement of(String receipt, Action action) {
    return new Settlement(receipt, action);
  }

  /** Before a retry; else the queue's backoff. */
  public Settlement in(Duration delay) {
    this.delay = delay;
    return this;
  }

  /** Kept with the message. */
  public Settlement reason(String reason) {
    this.reason = reason;
    return this;
  }

  /** The message's priority from now on. */
  public Settlement priority(long priority) {
    this.priority = priority;
    return this;
  }

  Map<String, Object> body() {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("receipt", receipt);
    body.put("action", action.wire());
    Times.put(body, "delay", delay);
    Times.put(body, "reason", reason);
    Times.put(body, "priority", priority);
    return body;
  }

  Item item() {
    return new Item(Lane.SETTLE, body());
  }
}
