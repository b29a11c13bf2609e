package io.tarry.internal;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/**
 * Bytes as text. A byte that is not UTF-8 becomes a lone surrogate (U+DC80 to U+DCFF), and the same
 * byte again on the way back.
 */
public final class Text {
  private Text() {}

  /** Never fails. */
  public static String of(byte[] bytes) {
    String plain = utf8(bytes);
    if (plain != null) {
      return plain;
    }
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CharBuffer out = CharBuffer.allocate(bytes.length);
    while (true) {
      CoderResult result = decoder.decode(in, out, true);
      if (result.isUnderflow()) {
        return out.flip().toString();
      }
      for (int left = result.length(); left > 0; left--) {
        out.put((char) (0xDC00 | (in.get() & 0xFF)));
      }
      decoder.reset();
    }
  }

  /** The text, or null if the bytes are not UTF-8. */
  public static String utf8(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException notUtf8) {
      return null;
    }
  }

  /** Throws {@link IllegalArgumentException} if the text has other lone surrogates. */
  public static byte[] bytes(String text) {
    if (isPlain(text)) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    ByteBuffer out = ByteBuffer.allocate(3 * text.length());
    for (int index = 0; index < text.length(); ) {
      int point = text.codePointAt(index);
      index += Character.charCount(point);
      if (point >= 0xDC80 && point <= 0xDCFF) {
        out.put((byte) point);
      } else if (point >= 0xD800 && point <= 0xDFFF) {
        throw new IllegalArgumentException("a text has half a surrogate pair");
      } else {
        out.put(new String(Character.toChars(point)).getBytes(StandardCharsets.UTF_8));
      }
    }
    byte[] bytes = new byte[out.position()];
    out.flip().get(bytes);
    return bytes;
  }

  /** Whether the text has no lone surrogates. */
  public static boolean isPlain(String text) {
    for (int index = 0; index < text.length(); index++) {
      if (Character.isSurrogate(text.charAt(index))) {
        int point = text.codePointAt(index);
        if (point < 0x10000) {
          return false;
        }
        index++;
      }
    }
    return true;
  }

  /** Sets NAME, or NAME_base64 if the text stands for bytes that are not UTF-8. */
  public static void put(Map<String, Object> body, String name, String text) {
    if (text == null) {
      return;
    }
    if (isPlain(text)) {
      body.put(name, text);
    } else {
      put(body, name, bytes(text));
    }
  }

  /** Sets NAME, or NAME_base64 if the bytes are not UTF-8. */
  public static void put(Map<String, Object> body, String name, byte[] bytes) {
    String plain = utf8(bytes);
    if (plain != null) {
      body.put(name, plain);
    } else {
      body.put(name + "_base64", Base64.getEncoder().encodeToString(bytes));
    }
  }

  /** The text under NAME or NAME_base64; empty if there is none. */
  public static String get(Map<String, Object> said, String name) {
    Object coded = said.get(name + "_base64");
    return coded == null ? Json.text(said, name) : of(Base64.getDecoder().decode(coded.toString()));
  }

  /** The bytes under NAME or NAME_base64; empty if there are none. */
  public static byte[] bytes(Map<String, Object> said, String name) {
    Object coded = said.get(name + "_base64");
    return coded == null
        ? Json.text(said, name).getBytes(StandardCharsets.UTF_8)
        : Base64.getDecoder().decode(coded.toString());
  }
}
