// AheadReads: records of a journal that will be asked for soon, read while somebody else decides,
// commits and delivers. One thread reads, another finds what was read; neither waits for the other:
// what is not there yet, who wants it reads by itself, and the reader goes on behind that.
//
// Thread safety: `read` by one thread at a time; `look`, `find` and `missed` by another.
//
// Invariants
//  1. A RecordRuns has one owner: the reader while it reads, `fresh_` until it is looked at, then
//     `seen_` for as long as something may be found in it, and at last `spare_`.
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
  /// `files` must outlive it. The reader is nobody else's.
  AheadReads(const SegmentFiles& files, std::unique_ptr<storage::Reader> reader)
      : files_(&files), reader_(std::move(reader)) {}

  /// Reads some of what will be asked for, in this order: what takes no waiting for a disk, which
  /// is asked for the rest. Answers how many of `places` are done with, at least one: those that
  /// were read, and before them those that were missed meanwhile.
  [[nodiscard]] std::size_t read(std::span<const RecordPlace> places);

  /// What has been read until now can be found from now on; what was found before is valid no more.
  void look();
  /// The bytes of the record there, as far as they could be read; empty if it is not among them.
  [[nodiscard]] std::string_view find(const RecordPlace& place) noexcept;
  /// This one was not there in time. Whatever was to be read before it is not read any more: in its
  /// queue it is claimed by now, and others' claims will read it by themselves.
  void missed(const RecordPlace& place);

 private:
  using Runs = std::unique_ptr<RecordRuns>;
  // What is read at once. With what lies between them a chunk takes up to three times its bytes. A
  // record that is longer is not kept here: the disk is asked for it, no more.
  static constexpr std::size_t kChunk = 64;
  static constexpr std::uint64_t kChunkBytes = 128 << 10;
  // Chunks: for claims of several queues or claimers, which come in turn.
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

  // Of the thread that finds.
  std::array<Runs, kKept> seen_;
  std::size_t oldest_ = 0;  // of seen_
  std::size_t last_ = 0;    // of seen_: where something was found last
};

}  // namespace tarry::embedded
