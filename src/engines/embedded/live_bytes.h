// LiveBytes: how much of each journal segment is still the latest full record of a message. What
// cleaning and the figures go by.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariant: `total_bytes` and `messages` are sums over all segments; bytes in size classes
// (position.h).
#pragma once

#include <cstdint>
#include <map>

#include "base/assert.h"
#include "engines/embedded/position.h"

namespace tarry::embedded {

struct SegmentLife {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

class LiveBytes {
 public:
  void add(std::uint64_t segment, Position position) {
    SegmentLife& life = segments_[segment];
    ++life.messages;
    life.bytes += position.size();
    total_ += position.size();
    ++messages_;
  }
  void remove(std::uint64_t segment, Position position) {
    const auto found = segments_.find(segment);
    TARRY_ASSERT(found != segments_.end() && found->second.messages > 0);
    --found->second.messages;
    found->second.bytes -= position.size();
    total_ -= position.size();
    --messages_;
    if (found->second.messages == 0) segments_.erase(found);
  }
  [[nodiscard]] SegmentLife of(std::uint64_t segment) const {
    const auto found = segments_.find(segment);
    return found == segments_.end() ? SegmentLife{} : found->second;
  }
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  std::map<std::uint64_t, SegmentLife> segments_;
  std::uint64_t total_ = 0;
  std::uint64_t messages_ = 0;
};

}  // namespace tarry::embedded
