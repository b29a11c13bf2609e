package io.tarry;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Asks for the next times of a schedule that need not be saved. Each method sets one thing and
 * returns this request.
 */
public final class OccurrencesRequest {
  final Map<String, Object> body;

  private OccurrencesRequest(ScheduleRequest schedule) {
    body = new LinkedHashMap<>(schedule.times);
  }

  public static OccurrencesRequest of(ScheduleRequest schedule) {
    return new OccurrencesRequest(schedule);
  }

  /** The schedule's name: the jitter follows from it. */
  public OccurrencesRequest name(String name) {
    body.put("name", name);
    return this;
  }

  /** Occurrences after that time; else after now. */
  public OccurrencesRequest from(Instant time) {
    Times.put(body, "from", time);
    return this;
  }

  /** Up to 1000; default 5. */
  public OccurrencesRequest count(int count) {
    body.put("count", count);
    return this;
  }
}
