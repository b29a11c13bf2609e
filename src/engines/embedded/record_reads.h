// RecordReads: fetches many records of a journal at once: from RAM what was written a moment ago,
// the rest from their files, neighbours together.
//
// Thread safety: none; the committer's thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engines/embedded/recent_batches.h"
#include "engines/embedded/segment_files.h"

namespace tarry::embedded {

class RecordReads {
 public:
  /// Bytes between two records that are read for nothing, at most, rather than with a call of their
  /// own: a page is copied in the time that the call takes.
  static constexpr std::uint64_t kGap = 4096;

  struct Place {
    std::uint64_t segment = 0;
    Position position;
  };

  /// Both must outlive it.
  RecordReads(const SegmentFiles& files, const RecentBatches& recent)
      : files_(&files), recent_(&recent) {}

  /// The bytes of each record, at most as many as its position says; fewer, or none, where they
  /// cannot be read. Valid until the next call, or until a batch is added to the recent ones.
  [[nodiscard]] std::span<const std::string_view> fetch(std::span<const Place> places);

 private:
  // Records that are read together: order_[first .. behind).
  struct Run {
    std::size_t first = 0;
    std::size_t behind = 0;
    std::uint64_t begin = 0;  // in the file
    std::uint64_t end = 0;
    std::size_t at = 0;  // in buffer_
  };

  void plan(std::span<const Place> places);
  void read(const Run& run, std::span<const Place> places);

  const SegmentFiles* files_;
  const RecentBatches* recent_;
  std::vector<std::string_view> found_;
  std::vector<std::uint32_t> order_;  // of those that are not recent, by place in the journal
  std::vector<Run> runs_;
  std::unique_ptr<char[]> buffer_;
  std::size_t buffer_size_ = 0;
};

}  // namespace tarry::embedded
