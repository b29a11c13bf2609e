#include "base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tarry::base {
namespace {

TEST(Bytes, AreLittleEndian) {
  std::string out;
  ByteWriter writer(out);
  writer.u8(0x01);
  writer.u16(0x0302);
  writer.u32(0x0706'0504);
  writer.u64(0x0F0E'0D0C'0B0A'0908);
  writer.i64(-2);
  writer.bytes("end");
  EXPECT_EQ(out, std::string("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F", 15) +
                     "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF" + "end");

  char raw[8] = {};
  store_u16(raw, 0x0201);
  EXPECT_EQ(std::string(raw, 2), "\x01\x02");
  store_u32(raw, 0x0403'0201);
  EXPECT_EQ(std::string(raw, 4), "\x01\x02\x03\x04");
  store_u64(raw, 0x0807'0605'0403'0201);
  EXPECT_EQ(std::string(raw, 8), "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(load_u16(raw), 0x0201);
  EXPECT_EQ(load_u32(raw + 1), 0x0504'0302U);
  EXPECT_EQ(load_u64(raw), 0x0807'0605'0403'0201U);
}

TEST(Bytes, WriterAppends) {
  std::string out = "before";
  ByteWriter(out).u8('!');
  EXPECT_EQ(out, "before!");
}

RC_GTEST_PROP(Bytes, WhatWasWrittenIsRead,
              (std::uint8_t a, std::uint16_t b, std::uint32_t c, std::uint64_t d, std::int64_t e,
               const std::string& f)) {
  std::string out;
  ByteWriter writer(out);
  writer.u8(a);
  writer.u16(b);
  writer.u32(c);
  writer.u64(d);
  writer.i64(e);
  writer.bytes(f);

  ByteReader reader(out);
  std::uint8_t a2 = 0;
  std::uint16_t b2 = 0;
  std::uint32_t c2 = 0;
  std::uint64_t d2 = 0;
  std::int64_t e2 = 0;
  std::string_view f2;
  RC_ASSERT(reader.remaining() == 1U + 2 + 4 + 8 + 8 + f.size());
  RC_ASSERT(reader.u8(a2) && reader.u16(b2) && reader.u32(c2) && reader.u64(d2) && reader.i64(e2));
  RC_ASSERT(reader.bytes(f.size(), f2));
  RC_ASSERT(reader.remaining() == 0U);
  RC_ASSERT(a == a2 && b == b2 && c == c2 && d == d2 && e == e2 && f == f2);
}

TEST(Bytes, ReaderRefusesWhatIsNotThereAndStaysInPlace) {
  const std::string in = "1234567";
  for (std::size_t size = 0; size < in.size(); ++size) {
    // The copy has exactly this size, so that the sanitizer sees a read past its end.
    const std::string exact(in, 0, size);
    const std::vector<char> heap(exact.begin(), exact.end());
    ByteReader reader(std::string_view(heap.data(), heap.size()));
    std::uint64_t u64 = 99;
    std::int64_t i64 = 99;
    std::uint32_t u32 = 99;
    std::uint16_t u16 = 99;
    std::uint8_t u8 = 99;
    std::string_view bytes = "untouched";
    EXPECT_FALSE(reader.u64(u64));
    EXPECT_FALSE(reader.i64(i64));
    EXPECT_EQ(u64, 99U);
    EXPECT_EQ(i64, 99);
    EXPECT_FALSE(reader.bytes(size + 1, bytes));
    EXPECT_FALSE(reader.bytes(std::numeric_limits<std::size_t>::max(), bytes));
    EXPECT_EQ(bytes, "untouched");
    if (size < 4) {
      EXPECT_FALSE(reader.u32(u32));
    }
    if (size < 2) {
      EXPECT_FALSE(reader.u16(u16));
    }
    if (size < 1) {
      EXPECT_FALSE(reader.u8(u8));
    }
    EXPECT_EQ(u32 + u16 + u8, 3 * 99U);
    EXPECT_EQ(reader.remaining(), size);
    EXPECT_TRUE(reader.bytes(size, bytes));
    EXPECT_EQ(bytes, exact);
  }
}

}  // namespace
}  // namespace tarry::base
