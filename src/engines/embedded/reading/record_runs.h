// RecordRuns: many records of a journal, read at once, neighbours together.
//
// Thread safety: none.
//
// Invariants
//  1. Between two calls it keeps no file open, because the room of an open file cannot be freed.
//  2. After `read` the entries are sorted by their place, and their bytes lie in the buffer.
//  3. The filter has every entry's bit. So for most records that were not added, one look at the
//     filter is enough.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/records/position.h"

namespace tarry::embedded {

class RecordRuns {
 public:
  /// If the gap between two records is at most this many bytes, one call reads both records and the
  /// gap. A second call would take as long as copying a page.
  static constexpr std::uint64_t kGap = 4096;

  struct Entry {
    RecordPlace place;
    std::uint32_t index = 0;  // in the order in which they were added
    std::string_view bytes;   // at most as many as the position says; fewer if there are no more
  };

  void clear() noexcept {
    entries_.clear();
    filter_.reset();
    next_ = 0;
  }
  void add(const RecordPlace& place) {
    entries_.push_back({place, static_cast<std::uint32_t>(entries_.size()), {}});
    filter_.set(filter_bit(place));
  }
  enum class How : std::uint8_t {
    whole,   ///< all of it; bytes that cannot be read are missing
    cached,  ///< reads what is in the page cache, and asks the disk for the rest
  };
  /// Reads the records added since `clear`.
  void read(const SegmentFiles& files, storage::Reader& reader, How how);
  /// Asks the disk for the records added since `clear`, reads nothing, and clears.
  void expect(const SegmentFiles& files);

  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }
  /// The bytes of the record at that place; empty if it was not read. O(1) for the entry that was
  /// added after the one found last.
  [[nodiscard]] std::string_view find(const RecordPlace& place) noexcept;

 private:
  // Records that are read together: entries_[first .. behind).
  struct Run {
    std::size_t first = 0;
    std::size_t behind = 0;
    std::uint64_t begin = 0;  // in the file
    std::uint64_t end = 0;
    std::size_t at = 0;    // in buffer_
    std::size_t read = 0;  // index in reads_; kNone: there is no such file
  };
  static constexpr std::size_t kNone = SIZE_MAX;
  static constexpr int kFilterBits = 12;

  static std::size_t filter_bit(const RecordPlace& place) noexcept {
    return base::spread(place.position.offset() ^ place.segment << 32, kFilterBits);
  }

  [[nodiscard]] std::size_t plan();
  void make_room(std::size_t bytes);
  void take(const Run& run, How how);

  std::vector<Entry> entries_;
  std::bitset<std::size_t{1} << kFilterBits> filter_;
  std::vector<std::uint32_t> where_;  // positions in entries_, by Entry::index
  std::size_t next_ = 0;              // index in where_ after the entry found last
  std::vector<Run> runs_;
  std::vector<storage::Read> reads_;
  std::unique_ptr<char[]> buffer_;
  std::size_t buffer_size_ = 0;
};

}  // namespace tarry::embedded
