#include "engines/embedded/reading/recent_batches.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tarry::embedded {
namespace {

// Includes what an allocator adds to each of the three pieces.
constexpr std::uint64_t kOverhead = sizeof(SealedBatch) + 128;
// At most this many forgotten entries may lie before the first one.
constexpr std::size_t kMostGone = 64;

std::uint64_t taken_by(const SealedBatch& batch) {
  return batch.bytes.capacity() + batch.segment_header.capacity() + kOverhead;
}

}  // namespace

void RecentBatches::add(std::shared_ptr<const SealedBatch> batch) {
  starts_.push_back({batch->segment, batch->offset});
  bytes_ += taken_by(*batch);
  const std::string_view bytes = batch->bytes;
  entries_.push_back({bytes, std::move(batch)});
  while (bytes_ > most_) drop_oldest();
}

void RecentBatches::drop_oldest() {
  Entry& oldest = entries_[first_];
  bytes_ -= taken_by(*oldest.batch);
  oldest = {};
  ++first_;
  if (first_ < kMostGone || first_ < starts_.size() / 2) return;
  const auto gone = static_cast<std::ptrdiff_t>(std::exchange(first_, 0));
  starts_.erase(starts_.begin(), starts_.begin() + gone);
  entries_.erase(entries_.begin(), entries_.begin() + gone);
}

void RecentBatches::forget(std::uint64_t segment) {
  while (size() > 0 && starts_[first_].segment <= segment) drop_oldest();
}

std::size_t RecentBatches::batch_of(const RecordPlace& place) const noexcept {
  const Start wanted{place.segment, place.position.offset()};
  // Most wanted records are older than all the kept ones.
  if (size() == 0 || wanted < starts_[first_]) return kNone;
  const auto first = starts_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto behind = std::upper_bound(first, starts_.end(), wanted);
  const auto batch = static_cast<std::size_t>(behind - starts_.begin()) - 1;
  if (starts_[batch].segment != place.segment ||
      wanted.offset - starts_[batch].offset >= entries_[batch].bytes.size()) {
    return kNone;
  }
  return batch;
}

std::string_view RecentBatches::find(const RecordPlace& place) const noexcept {
  const std::size_t batch = batch_of(place);
  return batch == kNone ? std::string_view() : bytes_in(batch, place);
}

bool RecentBatches::find(std::span<const RecordPlace> places,
                         std::vector<std::string_view>& records,
                         std::vector<std::shared_ptr<const SealedBatch>>& batches) const {
  records.reserve(places.size());
  std::vector<bool> is_named(size());
  for (const RecordPlace& place : places) {
    const std::size_t batch = batch_of(place);
    if (batch == kNone) return false;
    records.push_back(bytes_in(batch, place));
    if (is_named[batch - first_]) continue;
    is_named[batch - first_] = true;
    batches.push_back(entries_[batch].batch);
  }
  return true;
}

}  // namespace tarry::embedded
