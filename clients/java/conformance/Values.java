import io.tarry.*;
import io.tarry.errors.TarryException;
import io.tarry.internal.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.function.Function;
import java.util.stream.*;

/** The protocol's values: fields of requests, and answers as they are written. */
class Values {
  private static final List<String> SHOWN = List.of("outcome", "queue", "id", "headers", "receipt",
      "attempt", "priority", "due", "lease", "key", "payload", "settledHow", "time", "local");
  private static final Map<Class<?>, Function<Long, Object>> NUMBERS = Map.of(
      int.class, Long::intValue, long.class, value -> value,
      Duration.class, Duration::ofMillis, Instant.class, Instant::ofEpochMilli);
  private static final DateTimeFormatter LOCAL =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ssxxx");
  private static final Map<Class<?>, Function<String, Object>> TEXTS =
      Map.of(Path.class, Path::of, ZoneId.class, ZoneId::of);

  static synchronized void say(Map<String, Object> line) {
    byte[] bytes = (Json.write(line) + "\n").getBytes(StandardCharsets.UTF_8);
    System.out.write(bytes, 0, bytes.length);
    System.out.flush();
  }

  static Map<String, Object> map(Object... pairs) {
    Map<String, Object> all = new LinkedHashMap<>();
    for (int at = 0; at < pairs.length; at += 2) {
      all.put((String) pairs[at], pairs[at + 1]);
    }
    return all;
  }

  static Map<String, Object> failure(TarryException error) {
    return map("error", map("code", error.code(), "next", error.next().wire(),
        "status", error.status(), "message", error.detail()));
  }

  static Object as(Class<?> type, Object value) {
    if (type.isEnum()) {
      return Stream.of(type.getEnumConstants())
          .filter(one -> one.toString().equalsIgnoreCase((String) value))
          .findFirst().orElseThrow();
    }
    if (TEXTS.containsKey(type)) {
      return TEXTS.get(type).apply((String) value);
    }
    if (NUMBERS.containsKey(type)) {
      return NUMBERS.get(type).apply((Long) value);
    }
    return type.isInstance(value) ? value : null;
  }

  static Duration span(Map<String, Object> f, String name) {
    return f.get(name) == null ? null : Duration.ofMillis((Long) f.get(name));
  }

  /** What the method of that name answers, with no argument or with the value. */
  static Object call(Object target, String name, Object value) {
    try {
      for (var one : target.getClass().getMethods()) {
        if (one.getName().equals(name) && one.getParameterCount() < 2) {
          Object[] given =
              Stream.of(one.getParameterTypes()).map(type -> as(type, value)).toArray();
          if (!Arrays.asList(given).contains(null)) return one.invoke(target, given);
        }
      }
      return null;
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(name, error);
    }
  }

  /** Sets fields; after a colon there is the method's name, if it is another one. */
  static <T> T set(T target, Map<String, Object> f, String... fields) {
    Stream.of(fields).map(one -> one.split(":")).filter(one -> f.get(one[0]) != null)
        .forEach(one -> call(target, one[one.length - 1], f.get(one[0])));
    return target;
  }

  static <T> List<T> each(
      Map<String, Object> f, String name, Function<Map<String, Object>, T> make) {
    return Json.list(f.get(name)).stream()
        .map(one -> make.apply(Json.object(one))).collect(Collectors.toList());
  }

  /** What the client answered, as the table names it. */
  static Object shown(Object said) {
    if (said == null || said instanceof Map) return said;
    if (said instanceof Iterable) {
      return StreamSupport.stream(((Iterable<?>) said).spliterator(), false)
          .map(Values::shown).collect(Collectors.toList());
    }
    if (said instanceof Result) {
      Result<?> item = (Result<?>) said;
      return item.error().<Object>map(Values::failure).orElseGet(() -> shown(item.value()));
    }
    Object raw = call(said, "raw", null);
    if (raw != null) return raw;
    Map<String, Object> all = map();
    for (String name : SHOWN) {
      Object one = call(said, name, null);
      if (one instanceof Optional) one = ((Optional<?>) one).orElse(null);
      if (one instanceof byte[]) Text.put(all, name, (byte[]) one);
      else if (one instanceof String && name.equals("key")) Text.put(all, name, (String) one);
      else if (one instanceof Instant) all.put(name + "_ms", ((Instant) one).toEpochMilli());
      else if (one instanceof Duration) all.put(name + "_ms", ((Duration) one).toMillis());
      else if (one instanceof OffsetDateTime) all.put(name, LOCAL.format((OffsetDateTime) one));
      else all.put(name, one instanceof Outcome ? ((Outcome) one).wire() : one);
    }
    all.put("settlement", map("how", all.remove("settledHow")));
    return all;
  }
}
