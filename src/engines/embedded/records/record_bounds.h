// The largest sizes of records: the room that is ensured before a verb is accepted, and the reserve
// for verbs that must work on a full disk. Computed from record_layout.h's parts, so that a new
// field is counted here too; record_bounds_test.cpp fills each record to its end.
//
// Constants and functions without state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/limits.h"
#include "engines/embedded/records/record_layout.h"

namespace tarry::embedded {
namespace bounds {

/// The size of a record without text, rounded up.
consteval std::uint64_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace bounds

/// How much a message's full record grows when it is copied after its first claim: the fields that
/// a copy carries, without a reason, rounded up.
inline constexpr std::uint64_t kCarriedBytes = 56;

/// If a message gets a relative delay after its full record was written, the copy also has a due
/// time in BOOTTIME.
inline constexpr std::uint64_t kBootDueBytes = 8;

// Bytes written for the end of a message. A run of ends is one record, which takes less.
inline constexpr std::uint64_t kGoneRecord = bounds::rounded(record_layout::kGoneFixed + kRefBytes);
/// The size of a `remembered` record. The other two records of a cancel, `gone` and `stopping`, are
/// shorter.
inline constexpr std::uint64_t kCancelRecord =
    bounds::rounded(record_layout::kRememberedFixed + kRefBytes);
inline constexpr std::uint64_t kDueRecord =
    bounds::rounded(record_layout::kDueFixed + record_layout::kBootDueField);
/// Bytes of a reschedule: its record, and the bytes by which the message's record grows when
/// cleaning copies it.
inline constexpr std::uint64_t kRescheduleRecord = kDueRecord + kBootDueBytes;

inline constexpr std::uint64_t kBackRecord =
    bounds::rounded(record_layout::kBackFixed + record_layout::kBootDueField);
inline constexpr std::uint64_t kExtendRecord = bounds::rounded(record_layout::kLeaseBytes);
/// Bytes written when a lease runs out, without a reason.
inline constexpr std::uint64_t kRunOutBytes =
    std::max(kBackRecord, bounds::rounded(record_layout::kDeadFixed));
/// A claim's record without its messages, which take kClaimedItemBytes each.
inline constexpr std::uint64_t kClaimedHead = bounds::rounded(record_layout::kClaimedFixed);

/// Bytes for the death of a message with a reason of `reason` bytes: the record with the reason,
/// and the reason again for the next copy of the message's full record.
[[nodiscard]] constexpr std::uint64_t dead_bytes(std::uint64_t reason) {
  return bounds::rounded(record_layout::kDeadFixed) +
         2 * std::min<std::uint64_t>(reason, core::kMaxReason);
}

/// Room for an event of a message's history, besides its text: what its record is longer by, and
/// what the next copy of the message's full record is longer by. The reserves for cleaning and for
/// growth both grow by the latter.
inline constexpr std::uint64_t kEventRoom =
    bounds::rounded(record_layout::kNotedFixed) + 2 * (kEventBytes + record_layout::kCarriedFixed);

// Why a message died, in the store's own words.
inline constexpr std::string_view kRanOut = "lease ran out on attempt ";
inline constexpr std::string_view kRetried = "retried after attempt ";
inline constexpr std::size_t kOwnReason = 48;
[[nodiscard]] inline std::string own_reason(std::string_view words, std::uint32_t attempt,
                                            std::uint32_t most) {
  return std::string(words) + std::to_string(attempt) + " of " + std::to_string(most);
}

/// A retry with the store's own reason.
inline constexpr std::uint64_t kRetryRecord = std::max(kBackRecord, dead_bytes(kOwnReason));
/// The longest record that an expiry writes. The copy of a reason (see `dead_bytes`) has room of
/// its own.
inline constexpr std::uint64_t kExpiryRecord =
    std::max({kCancelRecord, kRunOutBytes, kExtendRecord,
              bounds::rounded(record_layout::kDeadFixed + kOwnReason)});
/// No verb that ends a message writes a longer record than this; most are far shorter.
inline constexpr std::uint64_t kEndRecord = 512;
static_assert(record_layout::kDeadFixed + core::kMaxReason <= kEndRecord);
static_assert(kCancelRecord <= kEndRecord && kBackRecord <= kEndRecord);

/// A queue's record without its counters, which take kCountersBytes.
inline constexpr std::uint64_t kQueueRecord =
    bounds::rounded(record_layout::kQueueFixed) + core::kMaxQueueName;

/// A put's record without key, headers and payload, with all optional fields.
inline constexpr std::uint64_t kPutOverhead =
    kPutFixedBytes + record_layout::kBootDueField + record_layout::kPushedField +
    record_layout::kExpiryField + record_layout::kGroupField + record_layout::kCarriedFixed +
    core::kMaxReason + kEventBytes;
/// Other bytes that a push may write, besides a queue's first record: the end of the message that
/// it replaces.
inline constexpr std::uint64_t kPushExtra = 64;
static_assert(kGoneRecord <= kPushExtra && kDueRecord <= kPutOverhead);

static_assert(record_layout::kCarriedFixed <= kCarriedBytes);
static_assert(record_layout::kBootDueField <= kBootDueBytes);

}  // namespace tarry::embedded
