#include "engines/embedded/records/records.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "support/embedded/records.h"

namespace tarry::embedded {
namespace {

using test::any_record;
using test::AnyRecord;
using test::encoded;

// Records have no operator== (they hold views); equal bytes of equal types are equal records, since
// every field is in the bytes (FieldsReachTheBytes).
RC_GTEST_PROP(Records, RoundTripOfEveryType, ()) {
  const AnyRecord any = any_record();
  const std::string bytes = encoded(any.record);
  RC_ASSERT(bytes.size() == encoded_size(any.record));
  RC_ASSERT(record_length(bytes) == bytes.size());
  std::string_view rest = bytes;
  const auto decoded = take_record(rest);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(rest.empty());
  RC_ASSERT(decoded->index() == any.record.index());
  RC_ASSERT(encoded(*decoded) == bytes);
}

TEST(RecordsDeathTest, WhatWouldNotBeReadBackIsNotWritten) {
  QueueRecord queue;
  queue.settings.if_exists = static_cast<IfExists>(5);
  EXPECT_DEATH((void)encoded(queue), "if_exists");
}

RC_GTEST_PROP(Records, FollowOneAnother, ()) {
  std::vector<AnyRecord> all;
  std::string bytes;
  for (int i = 0; i < 5; ++i) {
    all.push_back(any_record());
    append_record(bytes, all.back().record);
  }
  std::string_view rest = bytes;
  for (const AnyRecord& any : all) {
    const auto decoded = take_record(rest);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(encoded(*decoded) == encoded(any.record));
  }
  RC_ASSERT(rest.empty());
}

RC_GTEST_PROP(Records, CutShortIsNoRecord, ()) {
  const AnyRecord any = any_record();
  const std::string bytes = encoded(any.record);
  const auto length = *rc::gen::inRange<std::size_t>(0, bytes.size());
  std::string_view rest = std::string_view(bytes).substr(0, length);
  RC_ASSERT(!take_record(rest));
}

// In practice changed bytes are never decoded, because a batch's checksum is checked first.
// Decoding them must do no harm all the same. A put has a checksum of its own.
RC_GTEST_PROP(Records, ChangedBytesDoNoHarm, ()) {
  const AnyRecord any = any_record();
  std::string bytes = encoded(any.record);
  const int changes = *rc::gen::inRange<int>(1, 4);
  for (int i = 0; i < changes; ++i) {
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  }
  std::string_view rest = bytes;
  const auto decoded = take_record(rest);
  if (decoded) RC_ASSERT(encoded_size(*decoded) <= bytes.size());
}

RC_GTEST_PROP(Records, GarbageIsReadWithoutHarm, (std::string bytes)) {
  // The bytes get a type and a length that fit. Otherwise the decoder would look at nothing else.
  if (bytes.size() >= 8) {
    base::store_u32(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    bytes[4] = static_cast<char>(*rc::gen::inRange<int>(1, 14));
  }
  std::string_view rest = bytes;
  while (take_record(rest)) {
  }
  RC_ASSERT(rest.size() <= bytes.size());
}

TEST(Records, UnknownTypesAreNoRecords) {
  for (const int type : {0, 14, 15, 255}) {
    std::string bytes(8, '\0');
    base::store_u32(bytes.data(), 8);
    bytes[4] = static_cast<char>(type);
    std::string_view rest = bytes;
    EXPECT_FALSE(take_record(rest)) << type;
  }
}

// A record must be exactly as long as the grammar says. Spare bytes could be fields of a later
// version.
TEST(Records, TrailingBytesAreRefused) {
  for (int type = 1; type <= 13; ++type) {
    EXPECT_TRUE(rc::check([type] {
      const AnyRecord any = any_record(static_cast<RecordType>(type));
      std::string bytes = encoded(any.record) + '\0';
      base::store_u32(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
      std::string_view rest = bytes;
      RC_ASSERT(!take_record(rest));
    })) << type;
  }
}

TEST(Records, ValuesOutsideTheirEnumsAreRefused) {
  const Ref ref{1, 2};
  const auto with_detail = [](const Record& record, int detail) {
    std::string bytes = encoded(record);
    bytes[5] = static_cast<char>(detail);
    return bytes;
  };
  for (const std::string& bytes : {with_detail(BackRecord{BackWhy::retry, ref, 0, 1, 1, 1, {}}, 3),
                                   with_detail(GoneRecord{GoneWhy::acked, 0, {ref}}, 7),
                                   with_detail(RememberedRecord{Ending::acked, 0, 1, 2, {ref}}, 3),
                                   with_detail(DeadRecord{DeadWhy::buried, ref, 0, 1, 2, 3, ""}, 5),
                                   encoded(DueRecord{ref, 0, -1, 0, false, {}}),
                                   encoded(DueRecord{ref, 0, std::int64_t{1} << 48, 0, false, {}}),
                                   encoded(BackRecord{BackWhy::retry, ref, 0, -1, 1, 1, {}})}) {
    std::string_view rest = bytes;
    EXPECT_FALSE(take_record(rest));
  }
}

TEST(Records, ARunsCountThatDoesNotFitIsRefused) {
  std::string bytes = encoded(GoneRecord{GoneWhy::acked, 0, {Ref{1, 2}, Ref{3, 4}}});
  base::store_u32(bytes.data() + 12, 3);
  std::string_view rest = bytes;
  EXPECT_FALSE(take_record(rest));
  base::store_u32(bytes.data() + 12, 0xFFFF'FFFF);
  rest = bytes;
  EXPECT_FALSE(take_record(rest));
}

RC_GTEST_PROP(Records, ExtendRunIsTheSameAsWritingAllAtOnce, ()) {
  const bool remembered = *rc::gen::arbitrary<bool>();
  const AnyRecord any = any_record(remembered ? RecordType::remembered : RecordType::gone);
  const std::string before = *rc::gen::element<std::string>("", "before", "8 bytes!");
  Record first = any.record;
  std::vector<Ref>& refs =
      remembered ? std::get<RememberedRecord>(first).items : std::get<GoneRecord>(first).items;
  const std::vector<Ref> all = refs;
  refs.resize(1);
  std::string bytes = before + encoded(first);
  for (std::size_t i = 1; i < all.size(); ++i) extend_run(bytes, before.size(), all[i]);
  RC_ASSERT(bytes == before + encoded(any.record));
}

// -- put: it is also read alone, from its position, so it has a checksum of its own.

RC_GTEST_PROP(PutRecord, IsReadBackWithMoreBehindIt, ()) {
  const AnyRecord any = any_record(RecordType::put);
  const auto& put = std::get<PutRecord>(any.record);
  const std::string bytes = encoded(any.record) + *rc::gen::arbitrary<std::string>();
  const auto decoded = decode_put(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(encoded(*decoded) == encoded(any.record));
  RC_ASSERT(decoded->ref == put.ref);
  RC_ASSERT(decoded->key == put.key);
  RC_ASSERT(decoded->headers == put.headers);
  RC_ASSERT(decoded->payload == put.payload);
  RC_ASSERT(payload_checks(*decoded) == !put.damaged);
}

// Each bit of each byte is flipped. Outside the payload the record must not decode; inside it the
// payload's checksum must not match.
RC_GTEST_PROP(PutRecord, NoFlippedBitPasses, ()) {
  const AnyRecord any = any_record(RecordType::put);
  const auto& put = std::get<PutRecord>(any.record);
  const std::string whole = encoded(any.record);
  const std::size_t payload_at = whole.size() - put.payload.size();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    const auto decoded = decode_put(bytes);
    if (at < payload_at) {
      RC_ASSERT(!decoded);
    } else {
      RC_ASSERT(decoded.has_value());
      RC_ASSERT(decoded->key == put.key);
      RC_ASSERT(!payload_checks(*decoded));
    }
  }
}

RC_GTEST_PROP(PutRecord, CutShortIsNeverTakenForWhole, ()) {
  const AnyRecord any = any_record(RecordType::put);
  const auto& put = std::get<PutRecord>(any.record);
  const std::string whole = encoded(any.record);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto decoded = decode_put(std::string_view(whole).substr(0, length));
    if (!decoded) continue;
    RC_ASSERT(length >= whole.size() - put.payload.size());
    RC_ASSERT(decoded->key == put.key);
    RC_ASSERT(decoded->payload.empty());
    RC_ASSERT(!payload_checks(*decoded));
  }
}

TEST(PutRecord, HandlesBeyondTheWheelsLimitAreRefused) {
  PutRecord record;
  record.ref = {kMaxHandle + 1, 1};
  EXPECT_FALSE(decode_put(encoded(record)));
  record.ref.handle = kMaxHandle;
  EXPECT_TRUE(decode_put(encoded(record)));
}

TEST(PutRecord, AnotherRecordIsNoPut) {
  EXPECT_FALSE(decode_put(encoded(ClosedRecord{})));
  EXPECT_FALSE(decode_put(""));
}

TEST(PutRecord, ADamagedOneNeverChecks) {
  PutRecord record;
  record.ref = {0, 1};
  EXPECT_TRUE(payload_checks(record));  // an empty payload's checksum is 0
  record.damaged = true;
  EXPECT_FALSE(payload_checks(record));
}

}  // namespace
}  // namespace tarry::embedded
