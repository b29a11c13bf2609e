package io.tarry.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON in and out. Objects are maps, arrays are lists, whole numbers are {@link Long}, others
 * {@link Double}.
 */
public final class Json {
  private static final int MAX_DEPTH = 64;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Throws {@link IllegalArgumentException} if the text is not JSON. */
  public static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.skip();
    if (json.at != text.length()) {
      throw json.bad("more after its end");
    }
    return value;
  }

  @SuppressWarnings("unchecked")
  public static Map<String, Object> object(Object value) {
    if (!(value instanceof Map)) {
      throw new IllegalArgumentException("the answer has no object where one belongs");
    }
    return (Map<String, Object>) value;
  }

  @SuppressWarnings("unchecked")
  public static List<Object> list(Object value) {
    if (!(value instanceof List)) {
      throw new IllegalArgumentException("the answer has no list where one belongs");
    }
    return (List<Object>) value;
  }

  public static String text(Map<String, Object> said, String name) {
    Object value = said.get(name);
    return value == null ? "" : value.toString();
  }

  public static long number(Map<String, Object> said, String name, long otherwise) {
    Object value = said.get(name);
    return value instanceof Number ? ((Number) value).longValue() : otherwise;
  }

  /** Throws if there is no such number. */
  public static long number(Map<String, Object> said, String name) {
    Object value = said.get(name);
    if (!(value instanceof Number)) {
      throw new IllegalArgumentException("the answer has no number " + name);
    }
    return ((Number) value).longValue();
  }

  public static boolean flag(Map<String, Object> said, String name) {
    return Boolean.TRUE.equals(said.get(name));
  }

  private Object value(int depth) {
    skip();
    if (at >= text.length() || depth > MAX_DEPTH) {
      throw bad("no value");
    }
    char first = text.charAt(at);
    switch (first) {
      case '{':
        return object(depth);
      case '[':
        return list(depth);
      case '"':
        return string();
      case 't':
        return word("true", Boolean.TRUE);
      case 'f':
        return word("false", Boolean.FALSE);
      case 'n':
        return word("null", null);
      default:
        return number();
    }
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> members = new LinkedHashMap<>();
    at++;
    if (next('}')) {
      return members;
    }
    do {
      skip();
      if (at >= text.length() || text.charAt(at) != '"') {
        throw bad("a name is missing");
      }
      String name = string();
      expect(':');
      members.put(name, value(depth + 1));
    } while (next(','));
    expect('}');
    return members;
  }

  private List<Object> list(int depth) {
    List<Object> items = new ArrayList<>();
    at++;
    if (next(']')) {
      return items;
    }
    do {
      items.add(value(depth + 1));
    } while (next(','));
    expect(']');
    return items;
  }

  private String string() {
    int begin = ++at;
    int end = begin;
    while (end < text.length() && text.charAt(end) != '"' && text.charAt(end) != '\\') {
      end++;
    }
    if (end < text.length() && text.charAt(end) == '"') {
      at = end + 1;
      return text.substring(begin, end);
    }
    StringBuilder out = new StringBuilder();
    while (true) {
      if (at >= text.length()) {
        throw bad("a string does not end");
      }
      char one = text.charAt(at++);
      if (one == '"') {
        return out.toString();
      }
      out.append(one == '\\' ? escape() : one);
    }
  }

  private char escape() {
    if (at >= text.length()) {
      throw bad("a string does not end");
    }
    char one = text.charAt(at++);
    switch (one) {
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        if (at + 4 > text.length()) {
          throw bad("a string does not end");
        }
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
      case '"':
      case '\\':
      case '/':
        return one;
      default:
        throw bad("an unknown escape");
    }
  }

  private Object number() {
    int begin = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String digits = text.substring(begin, at);
    try {
      return Long.valueOf(digits);
    } catch (NumberFormatException notWhole) {
      return Double.valueOf(digits);
    }
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw bad("an unknown word");
    }
    at += word.length();
    return value;
  }

  private void skip() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private boolean next(char wanted) {
    skip();
    if (at < text.length() && text.charAt(at) == wanted) {
      at++;
      return true;
    }
    return false;
  }

  private void expect(char wanted) {
    if (!next(wanted)) {
      throw bad("'" + wanted + "' is missing");
    }
  }

  private IllegalArgumentException bad(String why) {
    return new IllegalArgumentException("not JSON: " + why + " at " + at);
  }

  /** Writes maps, lists, texts, numbers, truth values and nulls. */
  public static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(out, value);
    return out.toString();
  }

  private static void write(StringBuilder out, Object value) {
    if (value instanceof Map) {
      char before = '{';
      for (Map.Entry<?, ?> one : ((Map<?, ?>) value).entrySet()) {
        out.append(before);
        quote(out, one.getKey().toString());
        out.append(':');
        write(out, one.getValue());
        before = ',';
      }
      out.append(before == '{' ? "{}" : "}");
    } else if (value instanceof Iterable) {
      char before = '[';
      for (Object one : (Iterable<?>) value) {
        out.append(before);
        write(out, one);
        before = ',';
      }
      out.append(before == '[' ? "[]" : "]");
    } else if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else {
      quote(out, value.toString());
    }
  }

  private static void quote(StringBuilder out, String text) {
    out.append('"');
    for (int index = 0; index < text.length(); index++) {
      char one = text.charAt(index);
      if (one == '"' || one == '\\') {
        out.append('\\').append(one);
      } else if (one < 0x20) {
        out.append(String.format("\\u%04x", (int) one));
      } else {
        out.append(one);
      }
    }
    out.append('"');
  }
}
