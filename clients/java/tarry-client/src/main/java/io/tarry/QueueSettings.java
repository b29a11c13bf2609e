package io.tarry;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Settings to change; the others stay. Each method sets one and returns this. */
public final class QueueSettings {
  final Map<String, Object> body = new LinkedHashMap<>();

  private QueueSettings() {}

  public static QueueSettings change() {
    return new QueueSettings();
  }

  public QueueSettings lease(Duration lease) {
    Times.put(body, "lease", lease);
    return this;
  }

  public QueueSettings maxAttempts(int attempts) {
    body.put("max_attempts", attempts);
    return this;
  }

  /** Between attempts: from, doubled each time, up to. */
  public QueueSettings backoff(Duration from, Duration upTo) {
    return backoffMin(from).backoffMax(upTo);
  }

  /** After the first attempt; it is doubled each time. */
  public QueueSettings backoffMin(Duration from) {
    Times.put(body, "backoff_min", from);
    return this;
  }

  /** The most between attempts. */
  public QueueSettings backoffMax(Duration upTo) {
    Times.put(body, "backoff_max", upTo);
    return this;
  }

  /** For so long the keys of ended messages stay known. */
  public QueueSettings remember(Duration remember) {
    Times.put(body, "remember", remember);
    return this;
  }

  public QueueSettings deadKeep(Duration keep) {
    Times.put(body, "dead_keep", keep);
    return this;
  }

  public QueueSettings ifExists(IfExists rule) {
    body.put("if_exists", rule.wire());
    return this;
  }

  /** The lateness objective, such as {@code 99% within 1s}; {@code none} removes it. */
  public QueueSettings objective(String objective) {
    body.put("objective", objective);
    return this;
  }

  /** So long after its due time a message expires; zero: never. */
  public QueueSettings expire(Duration after) {
    Times.put(body, "expire", after);
    return this;
  }

  /** What becomes of a message that expires: {@code end} or {@code dead}. */
  public QueueSettings onExpiry(String rule) {
    body.put("on_expiry", rule);
    return this;
  }

  /** How many messages are leased at once, over all consumers; 0: no limit. */
  public QueueSettings maxLeased(int most) {
    body.put("max_leased", most);
    return this;
  }

  /** How many are claimed at most, such as {@code 100/1s burst 20}; {@code none} removes it. */
  public QueueSettings rate(String rate) {
    body.put("rate", rate);
    return this;
  }

  /** What names a message's group: {@code key}, {@code header:NAME}, or {@code none}. */
  public QueueSettings group(String group) {
    body.put("group", group);
    return this;
  }

  /** How many messages of a group are leased at once; 0: no limit. */
  public QueueSettings groupMaxLeased(int most) {
    body.put("group_max_leased", most);
    return this;
  }

  /** How many events of each message are kept, 1 to 100; 0: none. */
  public QueueSettings history(int most) {
    body.put("history", most);
    return this;
  }

  /** In which order a group's messages come: {@code due}, or {@code push}, one at a time. */
  public QueueSettings groupOrder(String order) {
    body.put("group_order", order);
    return this;
  }

  /** A setting under its name in the HTTP interface. */
  public QueueSettings set(String name, Object value) {
    body.put(name, value);
    return this;
  }
}
