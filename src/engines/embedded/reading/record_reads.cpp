#include "engines/embedded/reading/record_reads.h"

#include <algorithm>

#include "base/prefetch.h"

namespace tarry::embedded {
namespace {
// Records are prefetched this many places before they are copied.
constexpr std::size_t kAheadOfCopy = 8;
}  // namespace

std::span<const std::string_view> RecordReads::fetch(std::span<const RecordPlace> places) {
  found_.resize(places.size());
  missing_.clear();
  direct_.clear();
  ahead_.look();
  for (std::size_t i = 0; i < places.size(); ++i) {
    found_[i] = recent_.find(places[i]);
    if (found_[i].empty()) found_[i] = ahead_.find(places[i]);
    base::prefetch(found_[i]);
    if (!found_[i].empty()) continue;
    missing_.push_back(i);
    direct_.add(places[i]);
  }
  if (missing_.empty()) return found_;
  ahead_.missed(places[missing_.back()]);
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

std::optional<HeldRecords> RecordReads::hold(std::span<const RecordPlace> places, Hold how) const {
  if (distrust_->load(std::memory_order_relaxed)) return std::nullopt;
  HeldRecords held;
  if (!recent_.find(places, held.records, held.batches)) return std::nullopt;
  held.distrust = distrust_;
  if (how == Hold::where_they_lie) return held;
  std::uint64_t size = 0;
  for (const std::string_view record : held.records) size += record.size();
  if (size > kMostCopied) return std::nullopt;
  held.copies = std::make_unique_for_overwrite<char[]>(size);
  char* to = held.copies.get();
  for (std::size_t i = 0; i < held.records.size(); ++i) {
    if (i + kAheadOfCopy < held.records.size()) base::prefetch(held.records[i + kAheadOfCopy]);
    const std::string_view record = held.records[i];
    held.records[i] = {to, record.size()};
    to = std::copy(record.begin(), record.end(), to);
  }
  held.batches.clear();
  return held;
}

void RecordReads::expect(std::span<const RecordPlace> places) {
  if (!waits_for_disk()) return;
  direct_.clear();
  for (const RecordPlace& place : places.first(std::min(places.size(), kMostExpected))) {
    if (recent_.find(place).empty() && ahead_.find(place).empty()) direct_.add(place);
  }
  direct_.expect(*files_);
}

}  // namespace tarry::embedded
