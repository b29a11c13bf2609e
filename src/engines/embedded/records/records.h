// Records: what a shard's journal is made of. They carry results (id, due, attempt), never inputs,
// so replay needs no clock and no rules. docs/formats/journal.md holds the grammar; change a format
// here only with its ritual: bump kFormatVersion, keep a golden file of the old version, read both.
//
// Plain values. Views in a decoded record point into the bytes it was decoded from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tarry/message.h>
#include <tarry/settings.h>

#include "core/rules/expiry.h"
#include "core/settings/grouping.h"
#include "engines/embedded/records/event_entry.h"
#include "engines/embedded/records/handle.h"

namespace tarry::embedded {

enum class RecordType : std::uint8_t {
  queue = 1,
  put = 2,
  due = 3,
  claimed = 4,
  back = 5,
  gone = 6,
  remembered = 7,
  dead = 8,
  stopping = 9,
  lease = 10,
  clock = 11,
  marks = 12,
  closed = 13,
};

/// Names a message by its handle and its id. If the message at the handle has another id, replay
/// ignores the record: a later full record has superseded it.
struct Ref {
  Handle handle = kNoHandle;
  std::uint64_t id = 0;
  friend bool operator==(const Ref&, const Ref&) = default;
};

/// A queue's name, settings and pause; in an opening also its counters. `removed` with a name: the
/// queue is to be removed from all shards (only the store's first shard has this record). `removed`
/// without a name: the queue is gone from this shard, and its number is free.
struct QueueRecord {
  std::uint32_t queue = 0;
  std::string_view name;
  QueueSettings settings;
  bool paused = false;
  bool removed = false;
  std::optional<std::int64_t> paused_until_ms;
  std::optional<QueueCounters> counters;

  [[nodiscard]] bool frees() const noexcept { return removed && name.empty(); }
};

/// In a record of a change: it becomes an event of the message's history. The store notes events of
/// queues with the setting `history` only.
struct Noted {
  std::int64_t at_ms = 0;
  std::string_view text = {};  // at most kMaxEventText bytes
  friend bool operator==(const Noted&, const Noted&) = default;
};

/// A message's past, in a record of its full state.
struct Carried {
  Stage stage = Stage::scheduled;  // scheduled (ready included), leased, dead, remembered
  bool stopping = false;
  Ending ending = Ending::acked;
  std::uint32_t attempt = 0;
  Tallies tallies;
  std::int64_t until_ms = 0;
  std::int64_t stamp_ms = 0;
  std::string_view reason;
  std::string_view events = {};  // event_entry.h, oldest first
  std::uint8_t event_count = 0;
};

/// A message in full. `copy`: cleaning wrote the message again, which does not count as accepted a
/// second time.
struct PutRecord {
  Ref ref;
  std::uint32_t queue = 0;
  std::int64_t due_ms = 0;
  std::uint32_t priority = 0;
  std::uint16_t max_attempts = 0;  // 0: the queue's
  bool generated_key = false;      // `key` is empty: the key consists of store, shard, handle, id
  bool copy = false;
  bool damaged = false;                     // the payload had a wrong checksum when last read
  std::optional<std::int64_t> boot_due_ms;  // relative delay: due by BOOTTIME too, in this boot
  std::optional<std::int64_t> pushed_ms;    // empty: not known; version 1 has none
  core::Expiry expiry;                      // version 1 has none
  std::optional<Carried> carried;
  std::string_view key;
  std::string_view headers;
  std::string_view payload;
  core::GroupSpan group;  // in the key or the headers; version 1 has none
  std::uint32_t payload_crc = 0;
};

/// A new due time, after a reschedule, a revive, or a push with the rule `earlier` or `later`. The
/// message's expiry moves with it: core::rescheduled.
struct DueRecord {
  Ref ref;
  std::uint32_t queue = 0;
  std::int64_t due_ms = 0;
  std::uint32_t priority = 0;
  bool revived = false;  // was dead: its attempts start again
  std::optional<std::int64_t> boot_due_ms;
  std::optional<Noted> noted = {};
};

struct ClaimedItem {
  Ref ref;
  std::uint32_t claims = 0;
  std::uint32_t attempt = 0;
};
struct ClaimedRecord {
  std::uint32_t queue = 0;
  std::int64_t lease_until_boot_ms = 0;
  std::int64_t lease_ms = 0;
  std::vector<ClaimedItem> items;
  std::optional<Noted> noted = {};  // of each item; the text says who claimed
};

enum class BackWhy : std::uint8_t { retry = 0, release = 1, run_out = 2 };
/// The claim has ended, and the message is to be delivered again.
struct BackRecord {
  BackWhy why = BackWhy::retry;
  Ref ref;
  std::uint32_t queue = 0;
  std::int64_t due_ms = 0;
  std::uint32_t attempt = 0;
  std::uint32_t priority = 0;
  std::optional<std::int64_t> boot_due_ms;
  std::optional<Noted> noted = {};  // the text is the reason of a retry
};

enum class GoneWhy : std::uint8_t {
  acked = 0,
  cancelled = 1,
  replaced = 2,
  expired = 3,  // a message at its expiry, or dead after `dead_keep`
  purged = 4,
  moved_away = 5,
  forgotten = 6,  // was remembered; it was counted when it was settled
};
struct GoneRecord {
  GoneWhy why = GoneWhy::acked;
  std::uint32_t queue = 0;
  std::vector<Ref> items;
};

struct RememberedRecord {
  Ending ending = Ending::acked;
  std::uint32_t queue = 0;
  std::int64_t settled_ms = 0;
  std::int64_t until_ms = 0;
  std::vector<Ref> items;
  bool noted = false;  // as an event, at `settled_ms`
};

enum class DeadWhy : std::uint8_t {
  buried = 0,
  attempts = 1,
  damaged = 2,
  run_out = 3,
  expired = 4,  // from version 2 on
};
struct DeadRecord {
  DeadWhy why = DeadWhy::buried;
  Ref ref;
  std::uint32_t queue = 0;
  std::int64_t since_ms = 0;
  std::int64_t until_ms = 0;
  std::uint32_t priority = 0;
  std::string_view reason;
  bool noted = false;  // as an event, at `since_ms`
};

struct StoppingRecord {
  std::uint32_t queue = 0;
  Ref ref;
  std::optional<Noted> noted = {};
};

struct LeaseRecord {
  std::uint32_t queue = 0;
  Ref ref;
  std::int64_t lease_until_boot_ms = 0;
  std::int64_t lease_ms = 0;
};

struct ClockRecord {
  std::int64_t realtime_ms = 0;
  std::int64_t boottime_ms = 0;
  std::uint64_t boot_id = 0;
};

/// `next_id`: ids below it are taken. Segments below `low_water` are not part of the journal.
struct MarksRecord {
  std::uint64_t next_id = 0;
  std::uint64_t low_water = 0;
};

struct ClosedRecord {};

using Record = std::variant<QueueRecord, PutRecord, DueRecord, ClaimedRecord, BackRecord,
                            GoneRecord, RememberedRecord, DeadRecord, StoppingRecord, LeaseRecord,
                            ClockRecord, MarksRecord, ClosedRecord>;

inline constexpr std::size_t kPutFixedBytes = 52;
inline constexpr std::size_t kRefBytes = 12;
inline constexpr std::size_t kClaimedItemBytes = 20;
inline constexpr std::size_t kCountersBytes = 15 * 8;  // in a queue's record that has counters

/// The bytes that `append_record` will add.
[[nodiscard]] std::size_t encoded_size(const Record& record) noexcept;
[[nodiscard]] std::size_t encoded_size(const PutRecord& record) noexcept;

void append_record(std::string& out, const Record& record);
void append_record(std::string& out, const PutRecord& record);

/// Adds one more message to the last record of `out`, which begins at `record_start` and is a
/// GoneRecord or RememberedRecord of the same kind.
void extend_run(std::string& out, std::size_t record_start, Ref ref);

/// Takes one record from the front of `in`. Returns nothing if the bytes are no record.
[[nodiscard]] std::optional<Record> take_record(std::string_view& in);

/// As take_record, if a put comes first; otherwise returns nothing and leaves `in` unchanged. Most
/// records are puts, and this function avoids the variant.
[[nodiscard]] std::optional<PutRecord> take_put(std::string_view& in);

/// Decodes the put at the beginning of the bytes; more bytes may follow it. Returns nothing if the
/// length, the type, or the checksum over all but the payload is wrong. Does not check the payload:
/// see `payload_checks`.
[[nodiscard]] std::optional<PutRecord> decode_put(std::string_view bytes);
[[nodiscard]] bool payload_checks(const PutRecord& record) noexcept;

/// These two read the message and the payload's length from the first kPutFixedBytes of a put,
/// without a check. They return nothing if no put begins there.
[[nodiscard]] std::optional<Ref> put_ref_of(std::string_view bytes) noexcept;
[[nodiscard]] std::optional<std::uint32_t> put_payload_bytes(std::string_view bytes) noexcept;

/// The length that a record's first bytes claim; 0 if there are fewer than 8.
[[nodiscard]] std::size_t record_length(std::string_view bytes) noexcept;

}  // namespace tarry::embedded
