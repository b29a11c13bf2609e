package io.tarry.internal;

import java.util.Map;

/** One item of a batch, as JSON, and the lane in which it goes. */
public final class Item {
  public final Lane lane;
  final String body;

  public Item(Lane lane, Map<String, Object> body) {
    this(lane, Json.write(body));
  }

  private Item(Lane lane, String body) {
    this.lane = lane;
    this.body = body;
  }

  /** A key alone, in a list {@code keys} or {@code keys_base64}. */
  public static Item key(String queue, String verb, String key, boolean repeatable) {
    boolean plain = Text.isPlain(key);
    Lane lane = new Lane(Lane.queue(queue, verb), plain ? "keys" : "keys_base64", repeatable);
    return new Item(lane, Json.write(plain ? key : base64(key)));
  }

  public static String base64(String text) {
    return java.util.Base64.getEncoder().encodeToString(Text.bytes(text));
  }
}
