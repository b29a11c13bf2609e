package io.tarry.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;

/** One request, and how its answer is read. */
public final class Call<T> {
  final String method;
  final String path;
  final byte[] body;
  final Function<Object, T> reader;
  final boolean repeatable;
  final Duration wait;

  private Call(
      String method,
      String path,
      String body,
      Function<Object, T> reader,
      boolean repeatable,
      Duration wait) {
    this.method = method;
    this.path = path;
    this.body = body == null ? null : body.getBytes(StandardCharsets.UTF_8);
    this.reader = reader;
    this.repeatable = repeatable;
    this.wait = wait;
  }

  /** A request that is told as {@code unknown_outcome} if its answer is lost. */
  public static <T> Call<T> once(
      String method, String path, Object body, Function<Object, T> read) {
    return new Call<>(method, path, text(body), read, false, Duration.ZERO);
  }

  /** A request that does the same a second time, and answers as truthfully. */
  public static <T> Call<T> again(
      String method, String path, Object body, Function<Object, T> read) {
    return new Call<>(method, path, text(body), read, true, Duration.ZERO);
  }

  static <T> Call<T> raw(String path, String body, boolean repeatable, Function<Object, T> read) {
    return new Call<>("POST", path, body, read, repeatable, Duration.ZERO);
  }

  /** The server may take so long on purpose. */
  public Call<T> waiting(Duration wait) {
    return new Call<>(
        method,
        path,
        body == null ? null : new String(body, StandardCharsets.UTF_8),
        reader,
        repeatable,
        wait);
  }

  private static String text(Object body) {
    return body == null ? null : Json.write(body);
  }
}
