package io.tarry;

import io.tarry.internal.Text;

/**
 * Keys that are not UTF-8. In this library a key is a text; each byte of it that is not UTF-8 is a
 * lone surrogate, U+DC80 to U+DCFF.
 */
public final class Keys {
  private Keys() {}

  /** The key with these bytes. */
  public static String of(byte[] bytes) {
    return Text.of(bytes);
  }

  /** The bytes of a key. */
  public static byte[] bytes(String key) {
    return Text.bytes(key);
  }
}
