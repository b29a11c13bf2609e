// Each record at its longest fits into the room that is reserved for it.
#include "engines/embedded/records/record_bounds.h"

#include <gtest/gtest.h>

#include "engines/embedded/records/records.h"

namespace tarry::embedded {
namespace {

const std::string kReason(core::kMaxReason, 'r');
const std::string kName(core::kMaxQueueName, 'q');

std::size_t written(const Record& record) {
  std::string out;
  append_record(out, record);
  return out.size();
}

std::size_t dead(std::string_view reason) {
  DeadRecord record;
  record.reason = reason;
  return written(record);
}

TEST(RecordBounds, OfWhatEndsAMessage) {
  EXPECT_LE(written(GoneRecord{GoneWhy::cancelled, 0, {Ref{}}}), kGoneRecord);
  EXPECT_LE(written(RememberedRecord{Ending::acked, 0, 0, 0, {Ref{}}}), kCancelRecord);
  EXPECT_LE(written(GoneRecord{GoneWhy::cancelled, 0, {Ref{}}}), kCancelRecord);
  EXPECT_LE(written(StoppingRecord{}), kCancelRecord);
  EXPECT_LE(written(GoneRecord{GoneWhy::replaced, 0, {Ref{}}}), kPushExtra);
}

TEST(RecordBounds, OfWhatGoesOn) {
  DueRecord due;
  due.boot_due_ms = 1;
  EXPECT_LE(written(due), kDueRecord);
  EXPECT_LE(written(due) + kBootDueBytes, kRescheduleRecord);
  EXPECT_LE(written(LeaseRecord{}), kExtendRecord);
  BackRecord back;
  back.boot_due_ms = 1;
  EXPECT_LE(written(back), kBackRecord);
  EXPECT_LE(written(back), kRetryRecord);
  EXPECT_LE(written(back), kRunOutBytes);
}

TEST(RecordBounds, OfADeath) {
  for (std::size_t reason = 0; reason <= core::kMaxReason; ++reason) {
    EXPECT_LE(dead(kReason.substr(0, reason)) + reason, dead_bytes(reason));
  }
  EXPECT_LE(dead(kReason), kEndRecord);
  EXPECT_LE(dead({}), kRunOutBytes);
  for (const std::string_view words : {kRanOut, kRetried}) {
    const std::string own = own_reason(words, UINT32_MAX, core::kMaxAttempts);
    EXPECT_LE(own.size(), kOwnReason);
    EXPECT_LE(dead(own), kExpiryRecord);
    EXPECT_LE(dead(own) + own.size(), kRetryRecord);
  }
}

TEST(RecordBounds, OfWhatAnExpiryWrites) {
  BackRecord back;
  back.boot_due_ms = 1;
  for (const Record& record :
       std::initializer_list<Record>{back, RememberedRecord{Ending::acked, 0, 0, 0, {Ref{}}},
                                     GoneRecord{GoneWhy::expired, 0, {Ref{}}}, LeaseRecord{}}) {
    EXPECT_LE(written(record), kExpiryRecord);
  }
}

TEST(RecordBounds, OfAClaim) {
  for (const std::size_t items : {1u, 100u}) {
    ClaimedRecord record;
    record.items.resize(items);
    EXPECT_LE(written(record), kClaimedHead + items * kClaimedItemBytes);
  }
}

// What an event adds to its record, and to the copy of a message that had no past.
TEST(RecordBounds, OfAnEvent) {
  const std::string text(core::kMaxEventText, 'x');
  const auto noted = [&](auto record) {
    const std::size_t without = written(record);
    record.noted = Noted{1, text};
    return written(record) - without;
  };
  std::string copied;
  append_event(copied, {EventKind::retried, 1, 1, 1, text});
  for (const std::size_t longer :
       {noted(DueRecord()), noted(ClaimedRecord()), noted(BackRecord()), noted(StoppingRecord())}) {
    EXPECT_LE(longer + copied.size() + record_layout::kCarriedFixed, kEventRoom + 2 * text.size());
  }
  RememberedRecord remembered;
  const std::size_t without = written(remembered);
  remembered.noted = true;
  EXPECT_EQ(written(remembered), without);
}

TEST(RecordBounds, OfAQueue) {
  QueueRecord record;
  record.name = kName;
  record.paused = true;
  record.paused_until_ms = 1;
  EXPECT_LE(written(record), kQueueRecord);
  record.counters.emplace();
  EXPECT_LE(written(record), kQueueRecord + kCountersBytes);
}

TEST(RecordBounds, OfAPutAndItsCopy) {
  PutRecord record;
  record.key = record.headers = record.payload = "abc";
  const std::size_t plain = written(record);
  record.boot_due_ms = 1;
  EXPECT_LE(written(record), plain + kBootDueBytes);
  record.boot_due_ms.reset();
  record.carried.emplace();
  EXPECT_LE(written(record), plain + kCarriedBytes);
  record.boot_due_ms = 1;
  record.carried->reason = kReason;
  std::string imported;
  append_event(imported, {EventKind::imported, 1, 1, 1, {}});
  record.carried->events = imported;
  record.carried->event_count = 1;
  record.pushed_ms = 1;
  EXPECT_LE(written(record), kPutOverhead + 9);
}

}  // namespace
}  // namespace tarry::embedded
