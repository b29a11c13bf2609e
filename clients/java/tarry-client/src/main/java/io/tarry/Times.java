package io.tarry;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** Durations and times as whole milliseconds, rounded up: nothing is delivered early. */
final class Times {
  private Times() {}

  static long millis(Duration duration) {
    long whole = duration.toMillis();
    return duration.compareTo(Duration.ofMillis(whole)) > 0 ? whole + 1 : whole;
  }

  static long millis(Instant time) {
    long whole = time.toEpochMilli();
    return time.isAfter(Instant.ofEpochMilli(whole)) ? whole + 1 : whole;
  }

  static void put(Map<String, Object> body, String name, Duration duration) {
    if (duration != null) {
      body.put(name + "_ms", millis(duration));
    }
  }

  static void put(Map<String, Object> body, String name, Instant time) {
    if (time != null) {
      body.put(name + "_ms", millis(time));
    }
  }

  static void put(Map<String, Object> body, Duration delay, Instant due) {
    if (delay != null && due != null) {
      throw new IllegalArgumentException("delay " + delay + " and due " + due + ": give one");
    }
    put(body, "delay", delay);
    put(body, "due", due);
  }

  static void put(Map<String, Object> body, String name, Object value) {
    if (value != null) {
      body.put(name, value);
    }
  }
}
