#include "engines/redis/layouts/redisson/redisson_value.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text/hex.h"
#include "engines/redis/layouts/keys/layout_find.h"

namespace tarry::redis {
namespace {

using namespace std::string_literals;

std::string decoded(std::string_view value, Decode decode, bool odd = false) {
  std::string scratch;
  const Decoded result = decode_value(value, decode, scratch);
  EXPECT_EQ(result.is_odd, odd) << value;
  return std::string(result.payload);
}

std::string repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(RedissonValue, TextsLoseTheirFrameWhereTheyHaveOne) {
  EXPECT_EQ(decoded("\x04>\nfffffffff1", Decode::string), "fffffffff1");
  EXPECT_EQ(decoded("\x04>\0"s + std::string(256, 'x'), Decode::string), std::string(256, 'x'));
  EXPECT_EQ(decoded("\x04?\x01\x2C"s + std::string(300, 'x'), Decode::string),
            std::string(300, 'x'));
  EXPECT_EQ(decoded("\x04=", Decode::string), "");
  EXPECT_EQ(decoded("\x04>\x02\xC3\xA9\xC3\xA9", Decode::string), "\xC3\xA9\xC3\xA9");
  for (const std::string& plain :
       {"hello"s, ""s, "\x04>"s, "\x04>\x05toolong"s, "\x04?\x01"s, "\x09>\x01x"s}) {
    EXPECT_EQ(decoded(plain, Decode::string), plain);
  }
  EXPECT_EQ(decoded("\x04>\x01x", Decode::raw), "\x04>\x01x");
}

TEST(RedissonValue, JsonStringsAreTheirText) {
  EXPECT_EQ(decoded("\"h\\u00e9llo\\n\"", Decode::json), "h\xC3\xA9llo\n");
  EXPECT_EQ(decoded("{\"a\":1}", Decode::json), "{\"a\":1}");
  EXPECT_EQ(decoded("5", Decode::json), "5");
  EXPECT_EQ(decoded("{\"a\":", Decode::json, true), "{\"a\":");
  EXPECT_EQ(decoded("", Decode::json, true), "");
}

TEST(RedissonValue, WhatIsWrittenIsReadAgain) {
  for (const std::string& payload :
       {"hello"s, ""s, "5"s, "\"quoted\""s, "{\"a\":[1,2]}"s, "[draft] x"s, "{not json"s, "null"s,
        "line\nbreak \xC3\xA9 \\"s, "a\0b"s}) {
    for (const Decode decode : {Decode::raw, Decode::string, Decode::json}) {
      const auto value = encode_value(payload, decode, Seen(), "q");
      ASSERT_TRUE(value) << payload;
      EXPECT_EQ(decoded(*value, decode), payload);
    }
  }
  const auto bytes = encode_value("\xFF\xFE", Decode::json, Seen(), "q");
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().message.find("decode=raw"), std::string::npos);
}

// Values as Redisson 3.10.5 (FST), 3.16.8 (Marshalling) and 3.52.0 and 4.7.0 (Kryo 5) write them by
// default.
struct RealValue {
  std::string text;
  Kind kind;
  std::string fst;
  std::string marshalling;
  std::string kryo5;
};
const std::vector<RealValue>& real_values() {
  static const std::vector<RealValue> values = {
      {"hello", Kind::text, "fc0568656c6c6f", "043e0568656c6c6f", "0368656c6cef"},
      {"a", Kind::text, "fc0161", "043e0161", "038261"},
      {"", Kind::text, "fc00", "043d", "0381"},
      {"h\xC3\xA9\xC3\xA9", Kind::text, "fc0368e9e9", "043e0368c3a9c3a9", "038468c3a9c3a9"},
      {"\xE6\x97\xA5\xE6\x9C\xAC\xF0\x9F\x98\x80", Kind::text, "fc04ffe565ff2c67ff3dd8ff00de",
       "043e04e697a5e69caceda0bdedb880", "0385e697a5e69caceda0bdedb880"},
      {"\xC3\xBF"
       "b",
       Kind::text, "fc02ffff0062", "043e02c3bf62", "0383c3bf62"},
      {std::string(33, 'x'), Kind::text, "fc21" + repeated("78", 33), "043e21" + repeated("78", 33),
       "03a2" + repeated("78", 33)},
      {std::string(70, 'y'), Kind::text, "fc46" + repeated("79", 70), "043e46" + repeated("79", 70),
       "03c701" + repeated("79", 70)},
      {std::string(300, 'z'), Kind::text, "fc802c01" + repeated("7a", 300),
       "043f012c" + repeated("7a", 300), "03ed04" + repeated("7a", 300)},
      {repeated("\xC3\xA9", 200), Kind::text, "fc80c800" + repeated("e9", 200),
       "043ec8" + repeated("c3a9", 200), "03c903" + repeated("c3a9", 200)},
      {"42", Kind::int32, "f72a", "044b0000002a", "0254"},
      {"-7", Kind::int32, "f7f9", "044bfffffff9", "020d"},
      {"100000", Kind::int32, "f781a0860100", "044b000186a0", "02c09a0c"},
      {"200", Kind::int32, "f780c800", "044b000000c8", "029003"},
      {"42", Kind::int64, "f62a", "044c000000000000002a", "0954"},
      {"-129", Kind::int64, "f6807fff", "044cffffffffffffff7f", "098102"},
      {"5000000000", Kind::int64, "f68200f2052a01000000", "044c000000012a05f200", "0980c8afa025"},
      {"2.5", Kind::float64, "00090000000000000440", "044f4004000000000000", "0a0000000000000440"},
      {"true", Kind::boolean, "f0", "0450", "0501"},
      {"false", Kind::boolean, "ef", "0451", "0500"},
      {"{\"a\":1}", Kind::text, "fc077b2261223a317d", "043e077b2261223a317d", "037b2261223a31fd"},
  };
  return values;
}

TEST(RedissonFrames, AreReadAndWrittenAsRealClientsDo) {
  for (const RealValue& real : real_values()) {
    for (const auto& [codec, hex] :
         {std::pair(Codec::fst, real.fst), std::pair(Codec::marshalling, real.marshalling),
          std::pair(Codec::kryo5, real.kryo5)}) {
      const std::string value = from_hex(hex);
      const auto read = read_frame(value, codec);
      ASSERT_TRUE(read) << hex;
      EXPECT_EQ(read->kind, real.kind) << hex;
      EXPECT_EQ(read->text, real.text) << hex;
      EXPECT_EQ(written_as(value), (Written{codec, real.kind})) << hex;
      EXPECT_EQ(decoded(value, Decode::automatic), real.text) << hex;
      const auto written = write_frame(real.text, codec, real.kind);
      ASSERT_TRUE(written) << hex;
      EXPECT_EQ(base::hex_digits(*written), hex);
      EXPECT_FALSE(read_frame(value + "x", codec)) << hex;
      EXPECT_FALSE(read_frame(value.substr(0, value.size() - 1), codec)) << hex;
    }
  }
}

TEST(RedissonFrames, EveryNumberIsReadAgain) {
  for (const Codec codec : {Codec::kryo5, Codec::fst, Codec::marshalling}) {
    for (std::int64_t power = 1; power > 0; power *= 2) {
      for (const std::int64_t number : {power - 1, power, -power, -power - 1, -power + 1}) {
        for (const Kind kind : {Kind::int32, Kind::int64}) {
          const std::string text = std::to_string(number);
          const auto written = write_frame(text, codec, kind);
          EXPECT_EQ(written.has_value(),
                    kind == Kind::int64 || number == static_cast<std::int32_t>(number));
          if (!written) continue;
          const auto read = read_frame(*written, codec);
          ASSERT_TRUE(read) << text;
          EXPECT_EQ(read->text, text);
          EXPECT_EQ(read->kind, kind);
        }
      }
      if (power == std::int64_t{1} << 62) break;
    }
    for (const char* no : {"007", "+1", "1.0", "", "x", "9223372036854775808", "true "}) {
      EXPECT_FALSE(write_frame(no, codec, Kind::int64)) << no;
      EXPECT_FALSE(write_frame(no, codec, Kind::boolean)) << no;
    }
    EXPECT_FALSE(write_frame("\xFF", codec, Kind::text));
  }
}

struct PushCase {
  std::string_view last;  // the queue's content, in hex; "-": nothing
  Decode decode;
  std::string_view payload;
  std::string_view value;    // in hex
  std::string_view refusal;  // not empty: the push is refused, and the error contains this
};

// A client pops a value before it decodes it. If it cannot read the value, or expects another
// class, the value is lost.
TEST(RedissonValue, IsWrittenAsTheQueuesOthersAre) {
  using enum Decode;
  const std::vector<PushCase> all = {
      {"0368656c6cef", automatic, "ok", "036feb", ""},
      {"fc0161", automatic, "ok", "fc026f6b", ""},
      {"043e0161", automatic, "ok", "043e026f6b", ""},
      {"61", automatic, "ok", "6f6b", ""},
      {"226122", automatic, "ok", "226f6b22", ""},
      {"226122", automatic, "{}", "227b7d22", ""},
      {"0254", automatic, "7", "020e", ""},
      {"0254", automatic, "x", "", "decode=kryo5"},
      {"0254", kryo5, "x", "038278", ""},
      {"7b7d", automatic, "[1]", "5b315d", ""},
      {"7b7d", automatic, "1", "", "decode=json"},
      {"7b7d", automatic, "{\"a\":1}", "7b2261223a317d", ""},
      {"7b7d", automatic, "text", "", "decode=string"},
      {"3432", automatic, "43", "3433", ""},
      {"010061", automatic, "x", "", "decode=raw"},
      {"-", automatic, "x", "", "decode=kryo5"},
      {"-", kryo5, "x", "038278", ""},
      {"-", fst, "x", "fc0178", ""},
      {"-", marshalling, "x", "043e0178", ""},
      {"-", json, "x", "227822", ""},
      {"-", string, "x", "78", ""},
      {"-", raw, "x", "78", ""},
      {"fc0161", kryo5, "x", "", "decode=fst"},
      {"0368656c6cef", json, "x", "", "decode=kryo5"},
      {"0368656c6cef", raw, "x", "", "decode=kryo5"},
      {"0368656c6cef", raw, "\x03\x82x", "038278", ""},
      {"0368656c6cef", string, "x", "038278", ""},
      {"61", kryo5, "x", "", "decode=string"},
      {"61", json, "x", "", "decode=string"},
      {"226122", string, "x", "", "decode=json"},
      {"226122", raw, "x", "", "decode=json"},
      {"5b226a6176612e6c616e672e4c6f6e67222c375d", automatic, "8",
       "5b226a6176612e6c616e672e4c6f6e67222c385d", ""},
      {"226122", json, "\x01\"\\\n\xC3\xA9/", "225c75303030315c225c5c5c6ec3a92f22", ""},
  };
  for (const PushCase& each : all) {
    Seen seen;
    if (each.last != "-") seen.written = written_as(from_hex(each.last));
    const auto value = encode_value(each.payload, each.decode, seen, "q");
    const std::string what = std::string(each.last) + " " + std::string(each.payload) + " " +
                             std::string(to_string(each.decode));
    EXPECT_EQ(value.has_value(), each.refusal.empty()) << what;
    const std::string told = value ? base::hex_digits(*value) : value.error().message;
    if (each.refusal.empty()) {
      EXPECT_EQ(told, each.value) << what;
    } else {
      EXPECT_NE(told.find(each.refusal), std::string::npos) << what << ": " << told;
    }
  }
}

TEST(RedissonSeen, IsReadAgainAndFillsGaps) {
  const Seen old{EntryForm::old, Written{Codec::fst, Kind::int64}};
  EXPECT_EQ(spell_seen(old), "old fst long");
  EXPECT_EQ(parse_seen("old fst long"), old);
  EXPECT_EQ(parse_seen(""), Seen());
  EXPECT_EQ(parse_seen("else what is"), Seen());
  EXPECT_EQ(spell_seen({EntryForm::newer, Written{Codec::unknown, Kind::other}}), "new");
  EXPECT_EQ(joined({}, old), old);
  EXPECT_EQ(joined({EntryForm::newer, std::nullopt}, old).form, EntryForm::newer);
  const Seen number{EntryForm::automatic, Written{Codec::either, Kind::int32}};
  const Seen json{EntryForm::newer, Written{Codec::json, Kind::text}};
  EXPECT_EQ(joined(number, json).written, (Written{Codec::json, Kind::int32}));
  EXPECT_EQ(form_of(EntryForm::automatic, {},
                    "\xFC\x01"
                    "a"),
            EntryForm::old);
  EXPECT_EQ(form_of(EntryForm::automatic, {},
                    "\x03\x82"
                    "a"),
            EntryForm::newer);
  EXPECT_EQ(form_of(EntryForm::automatic, old,
                    "\x03\x82"
                    "a"),
            EntryForm::old);
  EXPECT_EQ(form_of(EntryForm::newer, old, "a"), EntryForm::newer);
}

TEST(RedissonEntry, BothFormsUnpack) {
  // Entries as a client of 2021 and one of 2024 wrote them.
  const std::string old = ":\xDF\x0EO\x8C\xA7\xD4\x43\x0D\0\0\0\0\0\0\0\x04>\nfffffffff1"s;
  const auto first = unpack_entry(old);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, old.substr(0, 8));
  EXPECT_EQ(first->value, "\x04>\nfffffffff1");
  const std::string newer =
      "\x08"
      "12345678\x02\0\0\0\0\0\0\0hi"s;
  const auto second = unpack_entry(newer);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->id, "12345678");
  EXPECT_EQ(second->value, "hi");
}

// If ids might have 7 bytes, some of these entries would look like the new form.
TEST(RedissonEntry, AnOldOneIsOldWhateverItsIdBeginsWith) {
  for (int first = 0; first < 256; ++first) {
    const std::string packed =
        std::string(1, static_cast<char>(first)) + "1234567\x06\0\0\0\0\0\0\0seen 0"s;
    const auto entry = unpack_entry(packed);
    ASSERT_TRUE(entry) << first;
    EXPECT_TRUE(entry->is_old) << first;
    EXPECT_EQ(entry->value, "seen 0");
  }
}

TEST(RedissonEntry, WhatIsNoneDoesNot) {
  for (const std::string& bytes :
       {""s, "x"s, "garbage"s, std::string(15, '\0'), std::string(17, '\x08'),
        "\x08"
        "12345678\x03\0\0\0\0\0\0\0hi"s,
        "\x08"
        "12345678\x01\0\0\0\0\0\0\0hi"s}) {
    EXPECT_FALSE(unpack_entry(bytes)) << base::hex_digits(bytes);
  }
}

}  // namespace
}  // namespace tarry::redis
