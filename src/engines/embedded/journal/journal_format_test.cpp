#include "engines/embedded/journal/journal_format.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace tarry::embedded {
namespace {

SegmentHeader sample() {
  SegmentHeader header;
  header.shard = 3;
  header.store_id = 0x1122'3344'5566'7788;
  header.segment = 12;
  header.salt = 0x99AA'BBCC'DDEE'FF00;
  header.first_batch = 1000;
  header.seal = {11, 65'536, 999, true};
  return header;
}

TEST(SegmentHeader, RoundTrip) {
  const std::string bytes = encode(sample());
  ASSERT_EQ(bytes.size(), kSegmentHeaderBytes);
  const DecodedHeader decoded = decode_segment_header(bytes + "what follows");
  ASSERT_EQ(decoded.state, HeaderState::valid);
  EXPECT_EQ(encode(decoded.header), bytes);
  EXPECT_EQ(decoded.header.version, kFormatVersion);
  EXPECT_EQ(decoded.header.shard, 3u);
  EXPECT_EQ(decoded.header.store_id, 0x1122'3344'5566'7788u);
  EXPECT_EQ(decoded.header.segment, 12u);
  EXPECT_EQ(decoded.header.salt, 0x99AA'BBCC'DDEE'FF00u);
  EXPECT_EQ(decoded.header.first_batch, 1000u);
  EXPECT_EQ(decoded.header.seal.segment, 11u);
  EXPECT_EQ(decoded.header.seal.length, 65'536u);
  EXPECT_EQ(decoded.header.seal.last_batch, 999u);
  EXPECT_TRUE(decoded.header.seal.proven);
}

TEST(SegmentHeader, EveryFlippedBitBreaksIt) {
  const std::string good = encode(sample());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(decode_segment_header(bytes).state, HeaderState::broken) << bit;
  }
}

TEST(SegmentHeader, CutShortIsBrokenAndNothingIsBlank) {
  const std::string good = encode(sample());
  EXPECT_EQ(decode_segment_header("").state, HeaderState::blank);
  for (std::size_t length = 1; length < good.size(); ++length) {
    EXPECT_EQ(decode_segment_header(good.substr(0, length)).state, HeaderState::broken);
    EXPECT_EQ(decode_segment_header(std::string(length, '\0')).state, HeaderState::blank);
  }
  EXPECT_EQ(decode_segment_header(std::string(4096, '\0')).state, HeaderState::blank);
}

TEST(SegmentHeader, AnotherVersionIsNamedNotGuessed) {
  SegmentHeader header = sample();
  header.version = kFormatVersion + 1;
  const DecodedHeader decoded = decode_segment_header(encode(header));
  EXPECT_EQ(decoded.state, HeaderState::newer);
  EXPECT_EQ(decoded.header.version, kFormatVersion + 1);
}

std::string sealed(std::string_view body, std::uint64_t salt = 7) {
  std::string batch(kBatchHeaderBytes, '\0');
  batch += body;
  BatchHeader header;
  header.salt = salt;
  header.number = 5;
  header.durable = 3;
  header.realtime_ms = 1'767'225'600'000;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  seal_batch(batch, header);
  return batch;
}

RC_GTEST_PROP(Batch, RoundTrip, (const std::string& body, std::uint64_t salt)) {
  const std::string batch = sealed(body, salt);
  RC_ASSERT(batch.size() == padded(kBatchHeaderBytes + body.size()));
  const auto header = peek_batch_header(batch, salt);
  RC_ASSERT(header.has_value());
  RC_ASSERT(header->salt == salt);
  RC_ASSERT(header->number == 5u);
  RC_ASSERT(header->durable == 3u);
  RC_ASSERT(header->realtime_ms == 1'767'225'600'000);
  RC_ASSERT(header->body_bytes == body.size());
  RC_ASSERT(batch_checks(batch.substr(0, kBatchHeaderBytes + body.size())));
  RC_ASSERT(!peek_batch_header(batch, salt + 1));
  const auto guessed = guess_batch_header(batch);
  RC_ASSERT(guessed && guessed->salt == salt && guessed->number == 5u);
}

TEST(Batch, EveryFlippedBitIsSeenAndPaddingIsNot) {
  const std::string body = "five!";
  const std::string good = sealed(body);
  const std::size_t covered = kBatchHeaderBytes + body.size();
  ASSERT_EQ(good.size(), covered + 3);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const bool checks =
        peek_batch_header(bytes, 7) && batch_checks(std::string_view(bytes).substr(0, covered));
    EXPECT_EQ(checks, bit / 8 >= covered) << bit;
  }
}

TEST(Batch, TooShortIsNone) {
  const std::string good = sealed("body");
  for (std::size_t length = 0; length < kBatchHeaderBytes; ++length) {
    EXPECT_FALSE(peek_batch_header(std::string_view(good).substr(0, length), 7));
    EXPECT_FALSE(guess_batch_header(std::string_view(good).substr(0, length)));
    EXPECT_FALSE(batch_checks(std::string_view(good).substr(0, length)));
  }
}

TEST(Padding, IsToEightBytes) {
  EXPECT_EQ(padded(0), 0u);
  EXPECT_EQ(padded(1), 8u);
  EXPECT_EQ(padded(8), 8u);
  EXPECT_EQ(padded(9), 16u);
}

TEST(SegmentName, RoundTrip) {
  EXPECT_EQ(segment_name(1), "0000000001.seg");
  for (const std::uint64_t number :
       {std::uint64_t{1}, std::uint64_t{9'999'999'999}, std::uint64_t{10'000'000'000}}) {
    EXPECT_EQ(segment_number(segment_name(number)), number);
  }
}

TEST(SegmentName, OtherNamesAreNoSegments) {
  for (const char* const name :
       {"", ".seg", "1.seg", "000000001.seg", "00000000001.seg", "0000000000.seg",
        "0000000001.seg.bak", "0000000001", "000000000x.seg", "+000000001.seg", "STORE",
        "99999999999999999999.seg"}) {
    EXPECT_EQ(segment_number(name), 0u) << name;
  }
}

}  // namespace
}  // namespace tarry::embedded
