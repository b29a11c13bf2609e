#include "engines/embedded/recent_batches.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tarry::embedded {
namespace {

// With what an allocator adds to each of the three pieces.
constexpr std::uint64_t kOverhead = sizeof(SealedBatch) + 128;

std::uint64_t taken_by(const SealedBatch& batch) {
  return batch.bytes.capacity() + batch.segment_header.capacity() + kOverhead;
}

}  // namespace

void RecentBatches::add(std::shared_ptr<const SealedBatch> batch) {
  const SealedBatch& added = *batch;
  batches_.push_back({added.segment, added.offset, added.bytes, std::move(batch)});
  bytes_ += taken_by(*batches_.back().batch);
  while (bytes_ > most_) drop_oldest();
}

void RecentBatches::drop_oldest() {
  bytes_ -= taken_by(*batches_.front().batch);
  batches_.pop_front();
}

void RecentBatches::forget(std::uint64_t segment) {
  while (!batches_.empty() && batches_.front().segment <= segment) drop_oldest();
}

std::string_view RecentBatches::find(const RecordPlace& place) const noexcept {
  const auto wanted = std::pair(place.segment, place.position.offset());
  // Most of what is asked for is older than all that is kept.
  if (batches_.empty() || wanted < std::pair(batches_.front().segment, batches_.front().offset)) {
    return {};
  }
  const auto behind = std::upper_bound(batches_.begin(), batches_.end(), wanted,
                                       [](const auto& at, const Entry& entry) {
                                         return at < std::pair(entry.segment, entry.offset);
                                       });
  const Entry& entry = *std::prev(behind);
  const std::uint64_t at = wanted.second - entry.offset;
  if (entry.segment != place.segment || at >= entry.bytes.size()) return {};
  return entry.bytes.substr(at, place.position.size());
}

}  // namespace tarry::embedded
