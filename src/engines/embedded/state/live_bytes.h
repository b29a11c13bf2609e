// LiveBytes: counts, for each journal segment, the bytes of the records that are still a message's
// latest full record, and how much longer the copies of these records may be. Cleaning and the
// figures use it.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. `total_bytes`, `messages` and `total_unwritten` are sums over all segments; bytes are in the
//     size classes of position.h.
//  2. No segment's `growth` is more than `most_growth`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/assert.h"
#include "engines/embedded/records/position.h"
#include "engines/embedded/records/record_bounds.h"

namespace tarry::embedded {

struct SegmentLife {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unwritten = 0;  // bytes of reasons and events that the full records do not hold

  /// By how many bytes the copies of all these records together may be longer than the records.
  [[nodiscard]] std::uint64_t growth() const noexcept {
    return messages * kCarriedBytes + unwritten;
  }
};

class LiveBytes {
 public:
  void add(std::uint64_t segment, Position position) {
    SegmentLife& life = segments_[segment];
    ++life.messages;
    life.bytes += position.size();
    total_ += position.size();
    ++messages_;
    most_growth_ = std::max(most_growth_, life.growth());
  }
  void remove(std::uint64_t segment, Position position) {
    const auto found = segments_.find(segment);
    TARRY_ASSERT(found != segments_.end() && found->second.messages > 0);
    --found->second.messages;
    found->second.bytes -= position.size();
    total_ -= position.size();
    --messages_;
    if (found->second.messages > 0) return;
    TARRY_ASSERT(found->second.unwritten == 0);
    segments_.erase(found);
  }
  /// Call `add_unwritten` when a message has become dead for a reason, or has an event, that its
  /// full record, in that segment, does not hold.
  void add_unwritten(std::uint64_t segment, std::uint64_t bytes) {
    SegmentLife& life = segments_.at(segment);
    life.unwritten += bytes;
    unwritten_ += bytes;
    most_growth_ = std::max(most_growth_, life.growth());
  }
  /// Call `remove_unwritten` when such a message has lost its reason or events, or gets another
  /// full record (then before `remove`).
  void remove_unwritten(std::uint64_t segment, std::uint64_t bytes) {
    SegmentLife& life = segments_.at(segment);
    TARRY_ASSERT(life.unwritten >= bytes);
    life.unwritten -= bytes;
    unwritten_ -= bytes;
  }
  /// Computes `most_growth` anew from all segments, because it may have become less.
  void measure_growth() noexcept {
    most_growth_ = 0;
    for (const auto& [segment, life] : segments_) {
      most_growth_ = std::max(most_growth_, life.growth());
    }
  }
  [[nodiscard]] SegmentLife of(std::uint64_t segment) const {
    const auto found = segments_.find(segment);
    return found == segments_.end() ? SegmentLife{} : found->second;
  }
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  [[nodiscard]] std::uint64_t total_unwritten() const noexcept { return unwritten_; }
  /// The largest `growth` of a segment.
  [[nodiscard]] std::uint64_t most_growth() const noexcept { return most_growth_; }

 private:
  std::map<std::uint64_t, SegmentLife> segments_;
  std::uint64_t total_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t unwritten_ = 0;
  std::uint64_t most_growth_ = 0;
};

}  // namespace tarry::embedded
