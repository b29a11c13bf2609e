package io.tarry;

import io.tarry.internal.Item;
import io.tarry.internal.Lane;
import io.tarry.internal.Text;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A message to push. Without a delay and a due time it is due now. Each method sets one thing and
 * returns this message. Thread safety: none until it is pushed.
 */
public final class Message {
  private final byte[] payload;
  private String key;
  private Duration delay;
  private Instant due;
  private Map<String, String> headers = new LinkedHashMap<>();
  private Long priority;
  private IfExists ifExists;
  private Integer maxAttempts;
  private Duration expire;
  private Instant expireAt;
  private Duration spread;

  private Message(byte[] payload) {
    this.payload = payload;
  }

  /** A message with these bytes. */
  public static Message of(byte[] payload) {
    return new Message(payload.clone());
  }

  /** A message with this text in UTF-8. */
  public static Message of(String payload) {
    return new Message(payload.getBytes(StandardCharsets.UTF_8));
  }

  /** Its name within its queue: cancel, reschedule and repeated pushes go by it. */
  public Message key(String key) {
    this.key = key;
    return this;
  }

  /** A key of any bytes; {@link Keys#bytes} gives them back from answers. */
  public Message key(byte[] key) {
    return key(Keys.of(key));
  }

  /** Due so long after the server accepts it. */
  public Message in(Duration delay) {
    this.delay = delay;
    return this;
  }

  /** Due at that time. */
  public Message at(Instant due) {
    this.due = due;
    return this;
  }

  /** Adds a header. */
  public Message header(String name, String value) {
    headers.put(name, value);
    return this;
  }

  /** Adds headers. */
  public Message headers(Map<String, String> headers) {
    this.headers.putAll(headers);
    return this;
  }

  /** 0 to 4294967295, lower first among what is due; default 1024. */
  public Message priority(long priority) {
    this.priority = priority;
    return this;
  }

  /** What happens if the key is taken; else the queue's rule. */
  public Message ifExists(IfExists rule) {
    this.ifExists = rule;
    return this;
  }

  /** After so many attempts it is dead; else the queue's number. */
  public Message maxAttempts(int attempts) {
    this.maxAttempts = attempts;
    return this;
  }

  /** It ends undelivered so long after its due time; else the queue's. */
  public Message expire(Duration after) {
    this.expire = after;
    return this;
  }

  /** It ends undelivered at this moment. Instead of {@link #expire}. */
  public Message expireAt(Instant at) {
    this.expireAt = at;
    return this;
  }

  /** Due up to this later, when the queue has least to do; the answer says when. */
  public Message spread(Duration spread) {
    this.spread = spread;
    return this;
  }

  Item item(String queue, Map<String, String> trace) {
    Map<String, Object> body = new LinkedHashMap<>();
    Text.put(body, "key", key);
    Text.put(body, "payload", payload);
    Times.put(body, delay, due);
    Map<String, String> all = new LinkedHashMap<>(headers);
    if (!headers.containsKey("traceparent")) {
      all.putAll(trace);
    }
    if (!all.isEmpty()) {
      body.put("headers", all);
    }
    Times.put(body, "priority", priority);
    Times.put(body, "if_exists", ifExists == null ? null : ifExists.wire());
    Times.put(body, "max_attempts", maxAttempts);
    if (expire != null && expireAt != null) {
      throw new IllegalArgumentException(
          "expire " + expire + " and expireAt " + expireAt + ": give one");
    }
    Times.put(body, "expire", expire);
    Times.put(body, "expire_at", expireAt);
    Times.put(body, "spread", spread);
    return new Item(new Lane(Lane.queue(queue, "/push"), "messages", false), body);
  }
}
