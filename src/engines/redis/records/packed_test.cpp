#include "engines/redis/records/packed.h"

#include <gtest/gtest.h>

#include <string>

namespace tarry::redis {
namespace {

using namespace std::string_literals;

TEST(Packed, ReadsEachLengthOfATextAndAnArray) {
  const std::string middle(200, 'm');
  const std::string large(300, 'l');
  const std::string bytes = "\x92\xa3key\xa0"s + "\xdc\x00\x02"s + "\xd9\xc8" + middle +
                            "\xda\x01\x2c"s + large + "\xdd\x00\x00\x00\x01"s +
                            "\xdb\x00\x00\x00\x01x"s;
  PackedReader reader(bytes);
  EXPECT_EQ(reader.array(), 2);
  EXPECT_EQ(reader.text(), "key");
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.array(), 2);
  EXPECT_EQ(reader.text(), middle);
  EXPECT_EQ(reader.text(), large);
  EXPECT_EQ(reader.array(), 1);
  EXPECT_FALSE(reader.at_end());
  EXPECT_EQ(reader.text(), "x");
  EXPECT_TRUE(reader.at_end());
}

TEST(Packed, ReadsNumbersUpToTheLargest) {
  const std::string bytes =
      "\x7f\xcc\xff\xcd\x01\x00\xce\x00\x01\x00\x00"s + "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff"s;
  PackedReader reader(bytes);
  for (const std::int64_t number : {std::int64_t{127}, std::int64_t{255}, std::int64_t{256},
                                    std::int64_t{65'536}, std::int64_t{INT64_MAX}}) {
    EXPECT_EQ(reader.number(), number);
  }
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(PackedReader("\xcf\x80\x00\x00\x00\x00\x00\x00\x00"s).number(), std::nullopt);
  EXPECT_EQ(PackedReader("\xff"s).number(), std::nullopt) << "-1";
}

TEST(Packed, RefusesWhatIsCutShortOrOfAnotherKind) {
  for (const std::string& bytes : {""s, "\xa3ke"s, "\xd9"s, "\xd9\x05"s, "\xda\x00"s,
                                   "\xdb\xff\xff\xff\xff"s, "\x01"s, "\x90"s}) {
    EXPECT_EQ(PackedReader(bytes).text(), std::nullopt) << bytes.size();
  }
  for (const std::string& bytes : {""s, "\xdc\x00"s, "\xdd\x00\x00"s, "\xa1x"s, "\x05"s}) {
    EXPECT_EQ(PackedReader(bytes).array(), std::nullopt) << bytes.size();
  }
  for (const std::string& bytes : {""s, "\xcd\x00"s, "\xcf\x00"s, "\xa1x"s, "\xd0\x01"s}) {
    EXPECT_EQ(PackedReader(bytes).number(), std::nullopt) << bytes.size();
  }
}

}  // namespace
}  // namespace tarry::redis
