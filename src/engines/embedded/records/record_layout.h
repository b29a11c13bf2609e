// The byte layout of records, shared by writing and reading; docs/formats/journal.md describes it.
//
// Every record begins with u32 length (of the whole record), u8 type, u8 detail, u16 small. Each
// type defines the meaning of its `detail` and `small`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/embedded/records/records.h"
#include "engines/embedded/records/settings_fields.h"

namespace tarry::embedded::record_layout {

inline constexpr std::size_t kHead = 8;

enum PutFlag : std::uint8_t {
  kGeneratedKey = 1,
  kBootDue = 2,
  kCarried = 4,
  kCopy = 8,
  kDamaged = 16,
  kPushed = 32,    // from version 2 on
  kExpires = 64,   // from version 2 on
  kGrouped = 128,  // from version 2 on
};
enum DueFlag : std::uint8_t { kDueBoot = 1, kRevived = 2, kDueNoted = 4 };
enum BackFlag : std::uint8_t { kBackBoot = 1, kBackNoted = 2 };  // in `small`
/// Of records of type claimed and stopping, whose `detail` has no other meaning.
inline constexpr std::uint8_t kNoted = 1;
/// Of records of type remembered and dead, beside their reason.
inline constexpr std::uint8_t kNotedToo = 128;
enum QueueFlag : std::uint8_t { kPaused = 1, kPausedUntil = 2, kCounters = 4, kRemoved = 8 };

// Offsets in a put.
inline constexpr std::size_t kPutRefAt = 8;
inline constexpr std::size_t kPutPayloadLengthAt = 40;
inline constexpr std::size_t kPutCrcAt = kPutFixedBytes - 4;

// The size of each record without names, reasons, headers and payloads, and without the messages of
// a run.
inline constexpr std::size_t kBootDueField = 8;  // only if the delay is relative
inline constexpr std::size_t kPushedField = 8;
inline constexpr std::size_t kExpiryField = 16;
inline constexpr std::size_t kGroupField = 8;
inline constexpr std::size_t kCarriedFixed = 48;
inline constexpr std::size_t kNotedFixed = 8 + 1;  // without its text
inline constexpr std::size_t kQueueFixed = kHead + 4 + kSettingsBytes + 8;
inline constexpr std::size_t kDueFixed = kHead + kRefBytes + 4 + 8 + 4;
inline constexpr std::size_t kClaimedFixed = kHead + 4 + 4 + 8 + 8;
inline constexpr std::size_t kBackFixed = kHead + kRefBytes + 4 + 8 + 4 + 4;
inline constexpr std::size_t kGoneFixed = kHead + 4 + 4;
inline constexpr std::size_t kRememberedFixed = kHead + 4 + 4 + 8 + 8;
inline constexpr std::size_t kDeadFixed = kHead + kRefBytes + 4 + 8 + 8 + 4;
inline constexpr std::size_t kStoppingBytes = kHead + 4 + kRefBytes;
inline constexpr std::size_t kLeaseBytes = kHead + 4 + kRefBytes + 8 + 8;

// Runs (gone, remembered) keep their count after the queue, so that extend_run can raise it.
inline constexpr std::size_t kRunCountAt = kHead + 4;

template <typename F>
void each_counter(QueueCounters& c, F&& field) {
  field(c.accepted), field(c.acked), field(c.cancelled), field(c.replaced), field(c.expired);
  field(c.purged), field(c.moved_away), field(c.claims), field(c.retries), field(c.releases);
  field(c.run_outs), field(c.buries), field(c.revives), field(c.reschedules), field(c.damaged);
}

template <typename F>
void each_tally(Tallies& t, F&& field) {
  field(t.claims), field(t.run_outs), field(t.releases), field(t.buries), field(t.revives);
}

}  // namespace tarry::embedded::record_layout
