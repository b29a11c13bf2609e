#include "engines/embedded/record_reads.h"

#include <algorithm>
#include <utility>

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kLongestRun = 256 * 1024;

}  // namespace

void RecordReads::plan(std::span<const Place> places) {
  runs_.clear();
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(places[a].segment, places[a].position.offset()) <
           std::pair(places[b].segment, places[b].position.offset());
  });
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Place& place = places[order_[i]];
    const std::uint64_t begin = place.position.offset();
    const std::uint64_t end = begin + place.position.size();
    if (!runs_.empty() && places[order_[runs_.back().first]].segment == place.segment &&
        begin <= runs_.back().end + kGap && end - runs_.back().begin <= kLongestRun) {
      Run& run = runs_.back();
      run.behind = i + 1;
      bytes += std::max(run.end, end) - run.end;
      run.end = std::max(run.end, end);
    } else {
      runs_.push_back({i, i + 1, begin, end, bytes});
      bytes += end - begin;
    }
  }
  if (bytes > buffer_size_) {
    buffer_ = std::make_unique_for_overwrite<char[]>(bytes);
    buffer_size_ = bytes;
  }
}

void RecordReads::read(const Run& run, std::span<const Place> places) {
  const auto file = files_->get(places[order_[run.first]].segment);
  if (!file) return;
  const std::span<char> buffer(buffer_.get() + run.at, run.end - run.begin);
  const auto together = file->read_at(run.begin, buffer);
  for (std::size_t i = run.first; i < run.behind; ++i) {
    const Position position = places[order_[i]].position;
    const std::uint64_t from = position.offset() - run.begin;
    std::size_t got = 0;
    if (together) {
      got = std::min<std::uint64_t>(*together - std::min<std::uint64_t>(from, *together),
                                    position.size());
    } else if (run.behind - run.first > 1) {
      // Some sector of the run cannot be read: that is the fault of one record, not of all.
      got = file->read_at(position.offset(), buffer.subspan(from, position.size())).value_or(0);
    }
    found_[order_[i]] = std::string_view(buffer.data() + from, got);
  }
}

std::span<const std::string_view> RecordReads::fetch(std::span<const Place> places) {
  found_.resize(places.size());
  order_.clear();
  for (std::size_t i = 0; i < places.size(); ++i) {
    found_[i] = recent_->find(places[i].segment, places[i].position);
    if (found_[i].empty()) order_.push_back(static_cast<std::uint32_t>(i));
  }
  if (order_.empty()) return found_;
  plan(places);
  for (const Run& run : runs_) read(run, places);
  return found_;
}

}  // namespace tarry::embedded
