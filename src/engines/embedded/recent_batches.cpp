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
  const bool is_there =
      entry.segment == place.segment && wanted.second - entry.offset < entry.bytes.size();
  return is_there ? &entry : nullptr;
}

std::string_view RecentBatches::bytes_of(const Entry* entry, const RecordPlace& place) noexcept {
  if (entry == nullptr) return {};
  return entry->bytes.substr(place.position.offset() - entry->offset, place.position.size());
}

std::string_view RecentBatches::find(const RecordPlace& place) const noexcept {
  return bytes_of(entry_of(place), place);
}

std::string_view RecentBatches::find(const RecordPlace& place,
                                     std::shared_ptr<const SealedBatch>& batch) const noexcept {
  const Entry* entry = entry_of(place);
  if (entry != nullptr && batch != entry->batch) batch = entry->batch;
  return bytes_of(entry, place);
}

}  // namespace tarry::embedded
