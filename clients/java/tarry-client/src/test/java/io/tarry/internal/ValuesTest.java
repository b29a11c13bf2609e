package io.tarry.internal;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** JSON, and bytes as text. */
final class ValuesTest {
  public static void main(String[] arguments) {
    readsWhatItWrites();
    refusesWhatIsNotJson();
    bytesComeBack();
    System.out.println("values done");
  }

  private static void check(boolean holds, Object about) {
    if (!holds) {
      throw new AssertionError(about);
    }
  }

  private static void readsWhatItWrites() {
    String text = "{\"a\":[1,-2,\"\\u0000\\\"\\\\\u00e9\",true,false,null,{}],\"b\":[]}";
    check(Json.write(Json.parse(text)).equals(text), Json.write(Json.parse(text)));
    check(Json.parse(" 1.5e3 ").equals(1500.0), "a double");
    check(Json.parse("\"\\ud83d\\ude00\\/\\n\"").equals("\ud83d\ude00/\n"), "escapes");
  }

  private static void refusesWhatIsNotJson() {
    String deep = "[".repeat(100_000);
    for (String bad :
        List.of("", "{", "[1", "[1,]", "{\"a\"}", "\"", "\"\\", "\"\\u12", "tru", "1 2", deep)) {
      try {
        Json.parse(bad);
      } catch (IllegalArgumentException expected) {
        continue;
      }
      throw new AssertionError("accepted: " + bad);
    }
  }

  private static void bytesComeBack() {
    Random random = new Random(7);
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = new byte[random.nextInt(8)];
      for (int at = 0; at < bytes.length; at++) {
        // Lead bytes and continuations often stand beside each other.
        bytes[at] =
            (byte) (random.nextBoolean() ? 0x80 + random.nextInt(128) : random.nextInt(256));
      }
      check(Arrays.equals(bytes, Text.bytes(Text.of(bytes))), Arrays.toString(bytes));
    }
  }
}
