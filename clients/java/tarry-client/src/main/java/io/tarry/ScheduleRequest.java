package io.tarry;

import io.tarry.internal.Text;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a schedule pushes, and when. Each method sets one thing and returns this request. It needs a
 * queue; for {@link OccurrencesRequest}, only times count.
 */
public final class ScheduleRequest {
  final Map<String, Object> body = new LinkedHashMap<>();
  final Map<String, Object> times = new LinkedHashMap<>();

  private ScheduleRequest(String when) {
    times.put("when", when);
  }

  /** {@code 0 9 * * MON-FRI}, {@code @daily} or {@code every 15m}. */
  public static ScheduleRequest when(String when) {
    return new ScheduleRequest(when);
  }

  /** The time zone of the expression; else UTC. */
  public ScheduleRequest zone(ZoneId zone) {
    times.put("zone", zone.getId());
    return this;
  }

  /** No occurrence before that time. */
  public ScheduleRequest start(Instant time) {
    Times.put(times, "start", time);
    return this;
  }

  /** No occurrence after that time. */
  public ScheduleRequest end(Instant time) {
    Times.put(times, "end", time);
    return this;
  }

  /** Each occurrence is due up to this much later. */
  public ScheduleRequest jitter(Duration jitter) {
    Times.put(times, "jitter", jitter);
    return this;
  }

  /** It gets the messages. */
  public ScheduleRequest queue(String queue) {
    body.put("queue", queue);
    return this;
  }

  /** Of the messages, in UTF-8. */
  public ScheduleRequest payload(String payload) {
    return payload(payload.getBytes(StandardCharsets.UTF_8));
  }

  /** Of the messages. */
  public ScheduleRequest payload(byte[] payload) {
    Text.put(body, "payload", payload);
    return this;
  }

  /** Of the messages. */
  public ScheduleRequest headers(Map<String, String> headers) {
    body.put("headers", new LinkedHashMap<>(headers));
    return this;
  }

  /** Of the messages; default 1024. */
  public ScheduleRequest priority(long priority) {
    body.put("priority", priority);
    return this;
  }

  public ScheduleRequest missed(Missed policy) {
    body.put("missed", policy.wire());
    return this;
  }

  /** It is saved, and waits until it is resumed. */
  public ScheduleRequest paused() {
    body.put("paused", true);
    return this;
  }
}
