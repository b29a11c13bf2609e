// For tests: builds journals segment by segment, and recovers them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.h"
#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/records/records.h"
#include "engines/embedded/recovery/recovery.h"
#include "engines/embedded/state/shard_state.h"
#include "support/disks/disk_files.h"
#include "timing/manual_clock.h"

namespace tarry::embedded::test {

inline constexpr std::uint64_t kStoreId = 0x5707'E1D0'0000'0001;
inline constexpr std::uint64_t kHashSeed = 0x5EED;
inline constexpr std::uint64_t kBootId = 1;

/// A message with its own key. The views must outlive the record.
inline PutRecord put(Handle handle, std::uint64_t id, std::string_view key,
                     std::string_view payload = "payload") {
  PutRecord record;
  record.ref = {handle, id};
  record.due_ms = timing::ManualClock::kStart.realtime_ms + 60'000;
  record.priority = kDefaultPriority;
  record.key = key;
  record.payload = payload;
  record.payload_crc = base::crc32c(payload);
  return record;
}

inline QueueRecord queue(std::uint32_t number, std::string_view name) {
  QueueRecord record;
  record.queue = number;
  record.name = name;
  record.counters = QueueCounters{};
  return record;
}

inline ClockRecord clock_record(std::uint64_t boot_id = kBootId) {
  return {timing::ManualClock::kStart.realtime_ms, timing::ManualClock::kStart.boottime_ms,
          boot_id};
}

/// The bytes of one segment.
class Segment {
 public:
  explicit Segment(std::uint64_t number, std::uint64_t first_batch = 1, Seal seal = {}) {
    header_.store_id = kStoreId;
    header_.segment = number;
    header_.salt = salt_of({kStoreId, 0, number}, kHashSeed);
    header_.first_batch = first_batch;
    header_.seal = seal;
    bytes_ = encode(header_);
    next_ = first_batch;
  }

  /// Adds a batch and returns its offset. `durable` is the last batch that it states to be durable;
  /// 0 states nothing.
  std::uint64_t batch(std::initializer_list<Record> records, std::uint64_t durable = 0) {
    const std::uint64_t offset = bytes_.size();
    std::string batch(kBatchHeaderBytes, '\0');
    for (const Record& record : records) append_record(batch, record);
    BatchHeader header;
    header.salt = header_.salt;
    header.number = next_++;
    header.durable = durable;
    header.realtime_ms = timing::ManualClock::kStart.realtime_ms;
    header.body_bytes = static_cast<std::uint32_t>(batch.size() - kBatchHeaderBytes);
    seal_batch(batch, header);
    bytes_ += batch;
    return offset;
  }

  /// Adds the records with which every segment begins.
  std::uint64_t opening(std::uint64_t low_water = 1, std::uint64_t durable = 0) {
    return batch({clock_record(), MarksRecord{1, low_water}, queue(0, "q")}, durable);
  }

  /// The seal that the next segment's header holds.
  [[nodiscard]] Seal seal(bool proven = true) const {
    return {header_.segment, bytes_.size(), next_ - 1, proven};
  }
  [[nodiscard]] std::uint64_t number() const { return header_.segment; }
  [[nodiscard]] std::uint64_t next_batch() const { return next_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string& bytes() { return bytes_; }
  [[nodiscard]] SegmentHeader& header() { return header_; }
  /// Call `rewrite_header` after a change of `header`.
  void rewrite_header() { bytes_.replace(0, kSegmentHeaderBytes, encode(header_)); }

 private:
  SegmentHeader header_;
  std::string bytes_;
  std::uint64_t next_ = 1;
};

/// A payload that looks like a batch whose salt and number a client has chosen. If the file of a
/// cleaned segment is used again, such bytes may follow the new ones.
inline std::string payload_like_a_batch(std::initializer_list<Record> records,
                                        std::uint64_t durable) {
  Segment segment(1, 1'000'000);
  segment.header().salt = 0xF026'ED00'0000'0001;
  segment.batch(records, durable);
  return segment.bytes().substr(kSegmentHeaderBytes);
}

inline void store(storage::Directory& directory, const Segment& segment) {
  write_all(directory, segment_name(segment.number()), segment.bytes());
}

/// The names of the segments in the directory, sorted.
inline std::vector<std::string> segments_in(const storage::Directory& directory) {
  std::vector<std::string> names = directory.list().value();
  std::erase_if(names, [](const std::string& name) { return segment_number(name) == 0; });
  return names;
}

/// A state that `recover` has filled, or its error.
struct Recovery {
  using RowMark = std::function<void(Row)>;

  explicit Recovery(storage::Directory& directory, bool read_only = false,
                    std::uint64_t boot_id = kBootId,
                    timing::Instant now = timing::ManualClock::kStart, const RowMark& mark = {})
      : state(identity(boot_id), now), result(run(directory, read_only, mark)) {
    if (result) state.finish_replay(now);
  }

  static ShardState::Identity identity(std::uint64_t boot_id) {
    ShardState::Identity identity;
    identity.store_id = kStoreId;
    identity.hash_seed = kHashSeed;
    identity.boot_id = boot_id;
    return identity;
  }

  [[nodiscard]] bool ok() const { return result.has_value(); }
  [[nodiscard]] bool took(Row row) const { return rows.contains(row); }
  [[nodiscard]] std::string error() const {
    return result ? std::string() : result.error().message;
  }
  [[nodiscard]] ErrorCode code() const { return result ? ErrorCode::misuse : result.error().code; }
  [[nodiscard]] bool holds(Handle handle, std::uint64_t id) const {
    return state.slab.holds(handle, id);
  }

  SegmentFiles files;
  ShardState state;
  std::set<Row> rows;  // rows of the recovery table that were used
  Result<Recovered> result;

 private:
  Result<Recovered> run(storage::Directory& directory, bool read_only, const RowMark& mark) {
    state.begin_replay();
    RecoveryOptions options;
    options.store_id = kStoreId;
    options.hash_seed = kHashSeed;
    options.read_only = read_only;
    options.mark = [&](Row row) {
      rows.insert(row);
      if (mark) mark(row);
    };
    return recover(directory, files, state, options);
  }
};

}  // namespace tarry::embedded::test
