package io.tarry;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** A verb for all messages that match. Each method sets one thing and returns this request. */
public final class BulkRequest {
  final Map<String, Object> body = new LinkedHashMap<>();

  private BulkRequest(String action) {
    body.put("action", action);
  }

  /** {@code cancel}, {@code reschedule}, {@code revive} or {@code remove}. */
  public static BulkRequest of(String action) {
    return new BulkRequest(action);
  }

  public static BulkRequest cancel() {
    return of("cancel");
  }

  public static BulkRequest reschedule() {
    return of("reschedule");
  }

  public static BulkRequest revive() {
    return of("revive");
  }

  /** Of dead messages. */
  public static BulkRequest remove() {
    return of("remove");
  }

  public BulkRequest prefix(String prefix) {
    body.put("prefix", prefix);
    return this;
  }

  public BulkRequest state(State state) {
    body.put("state", state.wire());
    return this;
  }

  public BulkRequest dueFrom(Instant time) {
    Times.put(body, "due_from", time);
    return this;
  }

  /** Before that time. */
  public BulkRequest dueTo(Instant time) {
    Times.put(body, "due_to", time);
    return this;
  }

  public BulkRequest headers(Map<String, String> headers) {
    body.put("headers", new LinkedHashMap<>(headers));
    return this;
  }

  /** Of dead messages; may end with {@code *}. */
  public BulkRequest reason(String reason) {
    body.put("reason", reason);
    return this;
  }

  /** The new time. */
  public BulkRequest to(Instant due) {
    Times.put(body, "due", due);
    return this;
  }

  /** Later by so much; earlier if it is negative. */
  public BulkRequest by(Duration by) {
    Times.put(body, "by", by);
    return this;
  }

  /** Only counts. */
  public BulkRequest dryRun() {
    body.put("dry_run", true);
    return this;
  }
}
