package io.tarry;

import io.tarry.internal.Call;
import io.tarry.internal.Json;
import io.tarry.internal.Lane;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Which messages to list. Each method sets one thing and returns this request. */
public final class ListRequest {
  private final Map<String, String> query = new LinkedHashMap<>();

  private ListRequest() {}

  /** All messages. */
  public static ListRequest all() {
    return new ListRequest();
  }

  /** Messages in this state. */
  public static ListRequest in(State state) {
    return all().state(state);
  }

  public ListRequest state(State state) {
    query.put("state", state.wire());
    return this;
  }

  /** Only keys that begin so. */
  public ListRequest prefix(String prefix) {
    query.put("prefix", prefix);
    return this;
  }

  /** The most messages of a page. */
  public ListRequest limit(int limit) {
    query.put("limit", Integer.toString(limit));
    return this;
  }

  /** The {@code next} of the page before. */
  public ListRequest after(String next) {
    query.put("after", next);
    return this;
  }

  Call<Page> call(String queue) {
    String path = withQuery(Lane.queue(queue, "/messages"), query);
    return Call.again("GET", path, null, said -> new Page(Json.object(said)));
  }

  static String withQuery(String path, Map<String, ?> query) {
    StringBuilder all = new StringBuilder(path);
    char before = '?';
    for (Map.Entry<String, ?> one : query.entrySet()) {
      all.append(before).append(one.getKey()).append('=');
      all.append(URLEncoder.encode(one.getValue().toString(), StandardCharsets.UTF_8));
      before = '&';
    }
    return all.toString();
  }
}
