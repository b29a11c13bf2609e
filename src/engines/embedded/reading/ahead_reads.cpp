#include "engines/embedded/reading/ahead_reads.h"

#include <algorithm>
#include <utility>

namespace tarry::embedded {

std::span<const RecordPlace> AheadReads::first_chunk(std::span<const RecordPlace> places) noexcept {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  while (count < std::min(kChunk, places.size()) && bytes < kChunkBytes) {
    bytes += places[count++].position.size();
  }
  return places.first(count);
}

AheadReads::Runs AheadReads::take_spare() {
  const std::scoped_lock lock(mutex_);
  std::vector<Runs>& from = fresh_.size() < kKept ? spare_ : fresh_;
  if (from.empty()) return std::make_unique<RecordRuns>();
  Runs runs = std::move(from.front());  // the oldest fresh run first
  from.erase(from.begin());
  return runs;
}

std::size_t AheadReads::read(std::span<const RecordPlace> places) {
  std::optional<RecordPlace> missed;
  {
    const std::scoped_lock lock(mutex_);
    missed = std::exchange(missed_, std::nullopt);
  }
  std::size_t done = 0;
  if (missed) {
    const auto found = std::ranges::find(places, *missed);
    if (found != places.end()) done = static_cast<std::size_t>(found - places.begin()) + 1;
  }
  const auto chunk = first_chunk(places.subspan(done));
  if (chunk.empty()) return done;
  Runs runs = take_spare();
  runs->clear();
  for (const RecordPlace& place : chunk) {
    if (place.position.size() <= kChunkBytes) {
      runs->add(place);
    } else if (const auto file = files_->get(place.segment)) {
      file->will_need(place.position.offset(), place.position.size());
    }
  }
  runs->read(*files_, *reader_, RecordRuns::How::cached);
  const std::scoped_lock lock(mutex_);
  fresh_.push_back(std::move(runs));
  return done + chunk.size();
}

void AheadReads::look() {
  const std::scoped_lock lock(mutex_);
  for (Runs& runs : fresh_) {
    std::swap(seen_[oldest_], runs);
    oldest_ = (oldest_ + 1) % kKept;
    if (runs) spare_.push_back(std::move(runs));
  }
  fresh_.clear();
}

std::string_view AheadReads::find(const RecordPlace& place) noexcept {
  for (std::size_t i = 0; i < kKept; ++i) {
    const std::size_t at = (last_ + i) % kKept;
    if (!seen_[at]) continue;
    if (const auto bytes = seen_[at]->find(place); !bytes.empty()) {
      last_ = at;
      return bytes;
    }
  }
  return {};
}

void AheadReads::missed(const RecordPlace& place) {
  const std::scoped_lock lock(mutex_);
  missed_ = place;
}

}  // namespace tarry::embedded
