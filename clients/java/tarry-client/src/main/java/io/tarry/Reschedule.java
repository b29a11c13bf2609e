package io.tarry;

import io.tarry.internal.Item;
import io.tarry.internal.Lane;
import io.tarry.internal.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** A message's new time, for a batch. */
public final class Reschedule {
  private final String key;
  private final Duration delay;
  private final Instant due;
  private Long priority;

  private Reschedule(String key, Duration delay, Instant due) {
    this.key = key;
    this.delay = delay;
    this.due = due;
  }

  public static Reschedule in(String key, Duration delay) {
    return new Reschedule(key, delay, null);
  }

  public static Reschedule at(String key, Instant due) {
    return new Reschedule(key, null, due);
  }

  /** The message's priority from now on. */
  public Reschedule priority(long priority) {
    this.priority = priority;
    return this;
  }

  Item item(String queue) {
    Map<String, Object> body = new LinkedHashMap<>();
    Text.put(body, "key", key);
    Times.put(body, delay, due);
    Times.put(body, "priority", priority);
    return new Item(new Lane(Lane.queue(queue, "/reschedule"), "items", false), body);
  }
}
