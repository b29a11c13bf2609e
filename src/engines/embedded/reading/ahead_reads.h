// AheadReads: reads records of a journal ahead, while other threads decide, commit and deliver. One
// thread reads records, another finds them, and neither waits for the other. If a record is
// missing, the finder reads it itself, and the reader continues after it.
//
// Thread safety: one thread at a time calls `read`; another one calls `look`, `find` and `missed`.
//
// Invariants
//  1. A RecordRuns has one owner: the reader while it reads, `fresh_` until the finder looks at it,
//     `seen_` while something may be found in it, and then `spare_`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/embedded/reading/record_runs.h"

namespace tarry::embedded {

class AheadReads {
 public:
  /// `files` must outlive it. No other object uses the reader.
  AheadReads(const SegmentFiles& files, std::unique_ptr<storage::Reader> reader)
      : files_(&files), reader_(std::move(reader)) {}

  /// Reads some of `places`, in this order. It reads records that are in the page cache, and asks
  /// the disk for the others. Returns how many of `places` are done, at least one. Records that
  /// claims have read themselves count as done.
  [[nodiscard]] std::size_t read(std::span<const RecordPlace> places);

  /// From now on `find` sees everything that was read so far. Bytes that were found before become
  /// invalid.
  void look();
  /// The bytes of the record at that place, as far as they could be read; empty if it was not read
  /// ahead.
  [[nodiscard]] std::string_view find(const RecordPlace& place) noexcept;
  /// Call `missed` when the record at that place was not read in time. The reader then skips it and
  /// all records before it: they are claimed by now, and their claims read them.
  void missed(const RecordPlace& place);

 private:
  using Runs = std::unique_ptr<RecordRuns>;
  // How many records one read takes.
  static constexpr std::size_t kChunk = 64;
  // A chunk ends once its records have this many bytes. With the gaps between them it takes up to
  // three times its bytes. A longer record is not kept here; the disk is only asked to read it.
  static constexpr std::uint64_t kChunkBytes = 128 << 10;
  // How many chunks are kept. One would not do, because claims from several queues, or by several
  // clients, alternate.
  static constexpr std::size_t kKept = 32;

  [[nodiscard]] static std::span<const RecordPlace> first_chunk(
      std::span<const RecordPlace> places) noexcept;
  [[nodiscard]] Runs take_spare();

  const SegmentFiles* files_;

  std::unique_ptr<storage::Reader> reader_;

  std::mutex mutex_;
  std::vector<Runs> fresh_;
  std::vector<Runs> spare_;
  std::optional<RecordPlace> missed_;

  // Only the thread that calls `find` uses these members.
  std::array<Runs, kKept> seen_;
  std::size_t oldest_ = 0;  // of seen_
  std::size_t last_ = 0;    // of seen_: where something was found last
};

}  // namespace tarry::embedded
