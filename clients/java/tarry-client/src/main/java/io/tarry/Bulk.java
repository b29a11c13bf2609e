package io.tarry;

import io.tarry.internal.Json;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** What a bulk verb did, over all pages. */
public final class Bulk {
  private final Map<String, Long> outcomes = new TreeMap<>();
  private long matched;
  private long failed;

  Bulk() {}

  void add(Map<String, Object> page) {
    matched += Json.number(page, "matched");
    failed += Json.number(page, "failed");
    Json.object(page.get("outcomes"))
        .forEach((outcome, count) -> outcomes.merge(outcome, (Long) count, Long::sum));
  }

  public long matched() {
    return matched;
  }

  public Map<String, Long> outcomes() {
    return Collections.unmodifiableMap(outcomes);
  }

  public long failed() {
    return failed;
  }
}
