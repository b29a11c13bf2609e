package io.tarry.internal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Reads one HTTP/1.1 answer. Throws {@link IOException} if it is not HTTP or is cut off. */
final class AnswerReader {
  private static final int MAX_HEAD = 64 * 1024;
  private static final int PIECE = 16 * 1024;

  private final Wire wire;
  private final long deadline;
  private byte[] held = new byte[PIECE];
  private int begin;
  private int end;
  private int head;

  AnswerReader(Wire wire, long deadline) {
    this.wire = wire;
    this.deadline = deadline;
  }

  Answer read() throws IOException {
    while (true) {
      head = 0;
      String[] words = line().split(" ", 3);
      if (words.length < 2 || !words[0].startsWith("HTTP/1.") || !words[1].matches("[1-9]\\d\\d")) {
        throw new IOException("the answer is not HTTP");
      }
      Map<String, String> headers = headers();
      int status = Integer.parseInt(words[1]);
      if (status >= 200) {
        String reason = words.length > 2 ? words[2] : "";
        return whole(status, reason, headers, words[0].equals("HTTP/1.1"));
      }
    }
  }

  private Map<String, String> headers() throws IOException {
    Map<String, String> headers = new HashMap<>();
    while (true) {
      String line = line();
      if (line.isEmpty()) {
        return headers;
      }
      int colon = line.indexOf(':');
      if (colon < 0) {
        throw new IOException("the answer's head is not HTTP");
      }
      headers.put(
          line.substring(0, colon).trim().toLowerCase(Locale.ROOT),
          line.substring(colon + 1).trim());
    }
  }

  private Answer whole(int status, String reason, Map<String, String> headers, boolean recent)
      throws IOException {
    String wish = headers.getOrDefault("connection", "").toLowerCase(Locale.ROOT);
    boolean keep = recent ? !wish.equals("close") : wish.equals("keep-alive");
    byte[] body;
    String length = headers.get("content-length");
    if (status == 204 || status == 304) {
      body = new byte[0];
    } else if ("chunked".equalsIgnoreCase(headers.get("transfer-encoding"))) {
      body = chunks();
    } else if (length != null) {
      if (!length.matches("\\d{1,9}")) {
        throw new IOException("the answer's Content-Length is " + length);
      }
      body = exactly(Integer.parseInt(length));
    } else {
      body = rest();
      keep = false;
    }
    return new Answer(status, reason, headers, body, keep && begin == end);
  }

  private byte[] chunks() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    while (true) {
      head = 0;
      int size;
      try {
        size = Integer.parseInt(line().split(";", 2)[0].trim(), 16);
      } catch (NumberFormatException error) {
        throw new IOException("a chunk of the answer has no size");
      }
      if (size == 0) {
        while (!line().isEmpty()) {
          // A trailer has nothing for us.
        }
        return all.toByteArray();
      }
      all.write(exactly(size));
      if (!line().isEmpty()) {
        throw new IOException("a chunk of the answer is longer than its size");
      }
    }
  }

  private String line() throws IOException {
    int at = begin;
    while (true) {
      for (; at < end; at++) {
        if (held[at] == '\n') {
          int stop = at > begin && held[at - 1] == '\r' ? at - 1 : at;
          String line = new String(held, begin, stop - begin, StandardCharsets.ISO_8859_1);
          head += at + 1 - begin;
          begin = at + 1;
          return line;
        }
      }
      if (head + end - begin > MAX_HEAD) {
        throw new IOException("the answer's head is over " + MAX_HEAD + " bytes");
      }
      int before = begin;
      need();
      at -= before - begin;
    }
  }

  private byte[] exactly(int size) throws IOException {
    byte[] all = new byte[size];
    int have = Math.min(size, end - begin);
    System.arraycopy(held, begin, all, 0, have);
    begin += have;
    while (have < size) {
      int count = wire.read(all, have, deadline);
      if (count < 0) {
        throw new IOException("the connection ended before the answer did");
      }
      have += count;
    }
    return all;
  }

  private byte[] rest() throws IOException {
    while (fill()) {
      // All of it belongs to the body.
    }
    byte[] all = Arrays.copyOfRange(held, begin, end);
    begin = end;
    return all;
  }

  private void need() throws IOException {
    if (!fill()) {
      throw new IOException("the connection ended before the answer did");
    }
  }

  private boolean fill() throws IOException {
    if (begin > 0) {
      System.arraycopy(held, begin, held, 0, end - begin);
      end -= begin;
      begin = 0;
    }
    if (end == held.length) {
      held = Arrays.copyOf(held, 2 * held.length);
    }
    int count = wire.read(held, end, deadline);
    end += Math.max(count, 0);
    return count >= 0;
  }
}
