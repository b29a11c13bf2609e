// SegmentReserve: files that are allocated ahead, for later segments. Prepared segments are used
// next, in their order. Kept files belonged to cleaned segments, and are to be written again.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include <tarry/result.h>

#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/journal/segment_info.h"
#include "storage/storage.h"

namespace tarry::embedded {

constexpr std::uint64_t kSmallStep = 4096;  // by how much room grows if little is left

/// How many bytes of a segment no record can use: those before its first record, and those at its
/// end, at most as many as the largest record, which did not fit.
struct SegmentLoss {
  std::uint64_t overhead = 0;
  std::uint64_t largest = 0;

  [[nodiscard]] std::uint64_t room_of(std::uint64_t allocated) const noexcept {
    const std::uint64_t lost = overhead + largest;
    return allocated > lost ? allocated - lost : 0;
  }
};

class SegmentReserve {
 public:
  struct Prepared {
    SegmentInfo info;
    std::shared_ptr<storage::File> file;
  };

  /// `directory` and `files` must outlive this object. `segment_bytes`: how long segments are to
  /// be.
  SegmentReserve(storage::Directory& directory, SegmentFiles& files, std::uint64_t segment_bytes,
                 std::uint64_t next_segment)
      : directory_(directory),
        files_(files),
        segment_bytes_(segment_bytes),
        next_segment_(next_segment) {}

  // -- prepared segments

  [[nodiscard]] bool empty() const noexcept { return prepared_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return prepared_.size(); }
  [[nodiscard]] const SegmentInfo& front() const noexcept { return prepared_.front().info; }
  [[nodiscard]] const SegmentInfo& back() const noexcept { return prepared_.back().info; }
  /// Takes out the first prepared segment, to be written now.
  [[nodiscard]] Prepared take();
  /// Prepares one more segment, of `bytes` bytes. Errors: `no_space` (nothing has changed); any
  /// other error is final.
  Result<void> prepare(std::uint64_t bytes);
  /// Lengthens the last prepared segment. Errors as above.
  Result<void> lengthen(std::uint64_t to);
  /// Lengthens all prepared segments that are shorter than `least`. Errors as above.
  Result<void> fit(std::uint64_t least);
  /// Allocates the `spare` bytes that were just freed on the disk, or as many of them as it can
  /// get. An error is final.
  Result<void> take_over(std::uint64_t spare, std::uint64_t overhead);
  [[nodiscard]] std::uint64_t room(const SegmentLoss& loss) const noexcept;

  // -- files of cleaned segments

  void keep(const SegmentInfo& cleaned) { kept_.push_back(cleaned); }
  [[nodiscard]] std::uint64_t kept_room(const SegmentLoss& loss) const noexcept;
  /// Makes the first kept file the last prepared segment. It replaces the last prepared segment if
  /// that is shorter and `enough` bytes of room, `elsewhere` included, remain without it. An error
  /// is final.
  Result<void> reuse(const SegmentLoss& loss, std::uint64_t elsewhere, std::uint64_t enough);

  [[nodiscard]] std::uint64_t disk_bytes() const noexcept;
  /// Removes all files.
  Result<void> remove_all();

 private:
  Result<void> add(std::shared_ptr<storage::File> file, std::uint64_t bytes);
  static Result<void> grow(Prepared& prepared, std::uint64_t to);
  Result<void> remove(std::uint64_t segment);

  storage::Directory& directory_;
  SegmentFiles& files_;
  const std::uint64_t segment_bytes_;
  std::uint64_t next_segment_;
  std::deque<Prepared> prepared_;
  std::deque<SegmentInfo> kept_;
};

}  // namespace tarry::embedded
