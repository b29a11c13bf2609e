#include "engines/embedded/reading/record_runs.h"

#include <algorithm>
#include <utility>

#include "base/prefetch.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kLongestRun = 256 * 1024;
// A buffer of at most this size is kept for the next read. It suffices for a claim of a thousand
// messages of the usual size.
constexpr std::size_t kKeptBuffer = 256 * 1024;

auto order(const RecordPlace& place) { return std::pair(place.segment, place.position.offset()); }

}  // namespace

std::size_t RecordRuns::plan() {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return order(a.place) < order(b.place); });
  where_.resize(entries_.size());
  runs_.clear();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    where_[entries_[i].index] = static_cast<std::uint32_t>(i);
    const RecordPlace& place = entries_[i].place;
    const std::uint64_t begin = place.position.offset();
    const std::uint64_t end = begin + place.position.size();
    if (!runs_.empty() && entries_[runs_.back().first].place.segment == place.segment &&
        begin <= runs_.back().end + kGap && end - runs_.back().begin <= kLongestRun) {
      Run& run = runs_.back();
      run.behind = i + 1;
      bytes += std::max(run.end, end) - run.end;
      run.end = std::max(run.end, end);
    } else {
      runs_.push_back({i, i + 1, begin, end, bytes, kNone});
      bytes += end - begin;
    }
  }
  return bytes;
}

void RecordRuns::make_room(std::size_t bytes) {
  if (bytes <= buffer_size_ && (bytes > kKeptBuffer || buffer_size_ <= kKeptBuffer)) return;
  buffer_ = std::make_unique_for_overwrite<char[]>(bytes);
  buffer_size_ = bytes;
}

void RecordRuns::expect(const SegmentFiles& files) {
  static_cast<void>(plan());
  for (const Run& run : runs_) {
    const auto file = files.get(entries_[run.first].place.segment);
    if (file) file->will_need(run.begin, run.end - run.begin);
  }
  clear();
}

void RecordRuns::read(const SegmentFiles& files, storage::Reader& reader, How how) {
  make_room(plan());
  reads_.clear();
  std::vector<std::shared_ptr<const storage::File>> open;
  std::uint64_t segment = 0;  // of the last in `open`
  for (Run& run : runs_) {
    const std::uint64_t wanted = entries_[run.first].place.segment;
    if (open.empty() || wanted != segment) open.push_back(files.get(wanted));
    segment = wanted;
    if (!open.back()) continue;
    run.read = reads_.size();
    storage::Read& read = reads_.emplace_back();
    read.file = open.back().get();
    read.offset = run.begin;
    read.into = std::span<char>(buffer_.get() + run.at, run.end - run.begin);
  }
  if (how == How::cached) {
    reader.read_cached(reads_);
  } else if (!reads_.empty()) {
    reader.read(reads_);
  }
  for (const Run& run : runs_) {
    if (run.read != kNone) take(run, how);
  }
  reads_.clear();
}

void RecordRuns::take(const Run& run, How how) {
  const storage::Read& read = reads_[run.read];
  for (std::size_t i = run.first; i < run.behind; ++i) {
    Entry& entry = entries_[i];
    const std::uint64_t size = entry.place.position.size();
    const std::uint64_t from = entry.place.position.offset() - run.begin;
    std::size_t got = 0;
    if (read.got) {
      got = std::min<std::uint64_t>(*read.got - std::min<std::uint64_t>(from, *read.got), size);
    } else if (run.behind - run.first > 1 && how == How::whole) {
      // Some sector of the run cannot be read. The other records are intact, so each record is read
      // by itself.
      got = read.file->read_at(entry.place.position.offset(), read.into.subspan(from, size))
                .value_or(0);
    }
    entry.bytes = std::string_view(read.into.data() + from, got);
  }
}

std::string_view RecordRuns::find(const RecordPlace& place) noexcept {
  if (next_ < entries_.size()) {
    // If another thread has written the entries, the first look at each would miss the cache.
    constexpr std::size_t kSoon = 8;
    if (next_ + kSoon < entries_.size()) base::prefetch_line(&entries_[where_[next_ + kSoon]]);
    const Entry& expected = entries_[where_[next_]];
    if (order(expected.place) == order(place)) {
      ++next_;
      return expected.bytes;
    }
  }
  if (!filter_.test(filter_bit(place))) return {};
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), order(place),
      [](const Entry& entry, const auto& wanted) { return order(entry.place) < wanted; });
  if (found == entries_.end() || order(found->place) != order(place)) return {};
  next_ = found->index + 1;
  return found->bytes;
}

}  // namespace tarry::embedded
