#include "engines/embedded/record_reads.h"

#include <algorithm>

namespace tarry::embedded {

std::string_view RecordReads::find_ahead(const RecordPlace& place) noexcept {
  for (std::size_t i = 0; i < kAhead; ++i) {
    const std::size_t at = (last_ + i) % kAhead;
    if (const auto bytes = ahead_[at].find(place); !bytes.empty()) {
      last_ = at;
      return bytes;
    }
  }
  return {};
}

std::span<const std::string_view> RecordReads::fetch(std::span<const RecordPlace> places) {
  found_.resize(places.size());
  missing_.clear();
  direct_.clear();
  for (std::size_t i = 0; i < places.size(); ++i) {
    found_[i] = recent_->find(places[i]);
    if (found_[i].empty()) found_[i] = find_ahead(places[i]);
    if (!found_[i].empty()) continue;
    missing_.push_back(i);
    direct_.add(places[i]);
  }
  if (missing_.empty()) return found_;
  direct_.read(*files_, *reader_, RecordRuns::How::whole);
  for (const RecordRuns::Entry& entry : direct_.entries()) {
    found_[missing_[entry.index]] = entry.bytes;
  }
  return found_;
}

std::string_view RecordReads::fetch_anew(const RecordPlace& place) {
  anew_.clear();
  anew_.add(place);
  anew_.read(*files_, *reader_, RecordRuns::How::whole);
  return anew_.entries().front().bytes;
}

std::optional<HeldRecords> RecordReads::hold(std::span<const RecordPlace> places) const {
  HeldRecords held;
  held.bytes.reserve(places.size());
  std::shared_ptr<const SealedBatch> batch;
  for (const RecordPlace& place : places) {
    held.bytes.push_back(recent_->find(place, batch));
    if (held.bytes.back().empty()) return std::nullopt;
    if (held.batches.empty() || held.batches.back() != batch) held.batches.push_back(batch);
  }
  return held;
}

void RecordReads::read_ahead(std::span<const RecordPlace> places) {
  RecordRuns& ahead = ahead_[oldest_];
  oldest_ = (oldest_ + 1) % kAhead;
  ahead.clear();
  for (const RecordPlace& place : places) ahead.add(place);
  ahead.read(*files_, *reader_, RecordRuns::How::cached);
}

void RecordReads::expect(std::span<const RecordPlace> places) {
  if (!waits_for_disk()) return;
  direct_.clear();
  for (const RecordPlace& place : places.first(std::min(places.size(), kMostExpected))) {
    if (recent_->find(place).empty() && find_ahead(place).empty()) direct_.add(place);
  }
  direct_.expect(*files_);
}

}  // namespace tarry::embedded
