#include "engines/embedded/recent_batches.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tarry::embedded {
namespace {

// With what an allocator adds to each of the three pieces.
constexpr std::uint64_t kOverhead = sizeof(SealedBatch) + 128;
constexpr std::ptrdiff_t kLastOnes = 64;

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

const RecentBatches::Entry* RecentBatches::entry_of(const RecordPlace& place) const noexcept {
  const auto wanted = std::pair(place.segment, place.position.offset());
  // Most of what is asked for is older than all that is kept.
  if (batches_.empty() || wanted < std::pair(batches_.front().segment, batches_.front().offset)) {
    return nullptr;
  }
  const auto behind = std::upper_bound(batches_.begin(), batches_.end(), wanted,
                                       [](const auto& at, const Entry& entry) {
                                         return at < std::pair(entry.segment, entry.offset);
                                       });
  const Entry& entry = *std::prev(behind);
  const std::uint64_t at = wanted.second - entry.offset;
  if (entry.segment != place.segment || at >= entry.bytes.size()) return nullptr;
  return &entry;
}

std::string_view RecentBatches::find(const RecordPlace& place) const noexcept {
  const Entry* const entry = entry_of(place);
  return entry == nullptr ? std::string_view() : bytes_in(*entry, place);
}

bool RecentBatches::find(std::span<const RecordPlace> places,
                         std::vector<std::string_view>& records,
                         std::vector<std::shared_ptr<const SealedBatch>>& batches) const {
  records.reserve(places.size());
  for (const RecordPlace& place : places) {
    const Entry* const entry = entry_of(place);
    if (entry == nullptr) return false;
    records.push_back(bytes_in(*entry, place));
    // Among the last ones only: of a thousand batches with one record each none is there.
    const auto last = batches.end() - std::min<std::ptrdiff_t>(std::ssize(batches), kLastOnes);
    if (std::find(last, batches.end(), entry->batch) == batches.end()) {
      batches.push_back(entry->batch);
    }
  }
  return true;
}

}  // namespace tarry::embedded
