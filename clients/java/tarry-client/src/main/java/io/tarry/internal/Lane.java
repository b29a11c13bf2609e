package io.tarry.internal;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Single calls that may go together in one request: same path, same list. */
public final class Lane {
  public static final Lane SETTLE = new Lane("/v1/settle", "items", false);
  public static final Lane EXTEND = new Lane("/v1/extend", "items", true);

  final String path;
  final String name;
  final boolean repeatable;

  public Lane(String path, String name, boolean repeatable) {
    this.path = path;
    this.name = name;
    this.repeatable = repeatable;
  }

  /** The path of a queue. */
  public static String queue(String queue, String rest) {
    return "/v1/queues/" + escaped(queue) + rest;
  }

  /** A name as a part of a path. */
  public static String escaped(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Lane
        && ((Lane) other).path.equals(path)
        && ((Lane) other).name.equals(name);
  }

  @Override
  public int hashCode() {
    return Objects.hash(path, name);
  }
}
