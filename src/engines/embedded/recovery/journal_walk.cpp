#include "engines/embedded/recovery/journal_walk.h"

#include <algorithm>

#include "engines/embedded/journal/begun_mark.h"
#include "engines/embedded/recovery/forgiving_file.h"

namespace tarry::embedded {
namespace {

std::string batches(std::uint64_t first, std::uint64_t behind) {
  if (behind <= first) return "no batch checks";
  if (behind == first + 1) return "batch " + std::to_string(first) + " does not check";
  return "batches " + std::to_string(first) + " to " + std::to_string(behind - 1) + " do not check";
}

}  // namespace

Result<void> JournalWalk::open() {
  auto names = directory_->list();
  if (!names) return std::move(names).error();
  begun_ = begun_in(*names);
  for (const std::string& name : *names) {
    Segment segment;
    segment.number = segment_number(name);
    if (segment.number == 0) continue;
    auto file = open_segment(*directory_, name, storage::OpenMode::read_only);
    if (!file && file.error().code == ErrorCode::damaged) {
      no_files_.insert(segment.number);
      continue;
    }
    if (!file) return std::move(file).error();
    segment.file = std::make_shared<ForgivingFile>(std::move(*file));
    auto size = segment.file->size();
    if (!size) return std::move(size).error();
    segment.size = *size;
    std::string bytes(kSegmentHeaderBytes, '\0');
    auto got = segment.file->read_at(0, bytes);
    if (!got) return std::move(got).error();
    const DecodedHeader decoded =
        decode_segment_header(std::string_view(bytes).substr(0, *got), place_of(segment.number));
    segment.state = decoded.state;
    segment.header = decoded.header;
    if (segment.state == HeaderState::newer) {
      return Unexpected(ErrorCode::unsupported, path_of(segment.number) + " is of format version " +
                                                    std::to_string(segment.header.version) +
                                                    "; this program knows versions 1 to " +
                                                    std::to_string(kFormatVersion));
    }
    files_.add(segment.number, segment.file);
    segments_.push_back(std::move(segment));
  }
  std::sort(segments_.begin(), segments_.end(),
            [](const Segment& a, const Segment& b) { return a.number < b.number; });
  return {};
}

std::string JournalWalk::path_of(std::uint64_t segment) const {
  return directory_->path() + "/" + segment_name(segment);
}

SegmentPlace JournalWalk::place_of(std::uint64_t segment) const noexcept {
  return {place_.store_id, place_.shard, segment};
}

bool JournalWalk::is_ours(const Segment& segment) const noexcept {
  return segment.header.store_id == place_.store_id && segment.header.shard == place_.shard &&
         segment.header.segment == segment.number;
}

// True if only segments follow that were prepared ahead and never written.
bool JournalWalk::is_newest(std::size_t i) const noexcept {
  return std::all_of(segments_.begin() + static_cast<std::ptrdiff_t>(i) + 1, segments_.end(),
                     [](const Segment& s) { return s.state == HeaderState::blank; });
}

void JournalWalk::lose(std::uint64_t segment, std::uint64_t offset, std::uint64_t bytes,
                       std::string what) {
  figures_.losses.push_back({path_of(segment), offset, bytes, std::move(what)});
  lost_something_ = true;
}

void JournalWalk::lose_missing(std::uint64_t first, std::uint64_t behind) {
  std::string what = no_files_.contains(first) ? "is no regular file" : "is missing";
  if (behind > first + 1) what += ", with those after it up to " + segment_name(behind - 1);
  lose(first, 0, 0, std::move(what));
}

// Batch `batch` was found; any gap before it is lost.
void JournalWalk::reach(std::uint64_t batch, Visitor& visitor) {
  if (next_batch_ != 0 && batch > next_batch_) {
    figures_.lost_batches += batch - next_batch_;
    visitor.gap();
  } else if (next_batch_ == 0 && lost_something_) {
    visitor.gap();
  }
  next_batch_ = std::max(next_batch_, batch);
  lost_something_ = false;
}

// All batches in segment `i` have numbers below the result.
std::uint64_t JournalWalk::numbers_end(std::size_t i) const {
  for (std::size_t later = i + 1; later < segments_.size(); ++later) {
    if (segments_[later].state == HeaderState::valid && is_ours(segments_[later])) {
      return segments_[later].header.first_batch;
    }
  }
  return UINT64_MAX;
}

Result<std::optional<std::uint64_t>> JournalWalk::lost_salt(std::size_t i) const {
  const Segment& segment = segments_[i];
  const std::uint64_t least = std::max<std::uint64_t>(next_batch_, 1);
  const std::uint64_t salt = salt_of(place_of(segment.number), hash_seed_);
  SegmentScanner scanner(*segment.file, salt, least, segment.size);
  auto beyond = scanner.beyond(UINT64_MAX);
  if (!beyond) return std::move(beyond).error();
  if (beyond->batches > 0) return std::optional(salt);
  auto first = first_batch_in(*segment.file);
  if (!first) return std::move(first).error();
  if (!*first || (*first)->number < least || (*first)->number >= numbers_end(i)) {
    return std::optional<std::uint64_t>();
  }
  const bool is_older =  // whose file this was
      segment.state == HeaderState::blank && segment.header.salt == (*first)->salt;
  return is_older ? std::nullopt : std::optional((*first)->salt);
}

// Nothing if the segment cannot be read at all.
Result<std::optional<std::uint64_t>> JournalWalk::read_salt(std::size_t i) {
  const Segment& segment = segments_[i];
  if (segment.state == HeaderState::valid) {
    if (is_ours(segment)) return std::optional(segment.header.salt);
    lose(segment.number, 0, segment.size, "the segment belongs to another store, shard or place");
    return std::optional<std::uint64_t>();
  }
  auto salt = lost_salt(i);
  if (!salt) return salt;
  if (*salt) {
    lose(segment.number, 0, kSegmentHeaderBytes, "the segment's header does not check");
    return salt;
  }
  if (is_newest(i) && segment.number > begun_) {
    if (segment.state == HeaderState::broken) figures_.torn_bytes += kSegmentHeaderBytes;
  } else {
    lose(segment.number, 0, segment.size, "nothing in the segment checks");
  }
  return salt;
}

// Looks at the bytes after the last good batch.
Result<void> JournalWalk::look_behind(std::size_t i, SegmentScanner& scanner, const Seal* seal) {
  const Segment& segment = segments_[i];
  const std::uint64_t end = scanner.good_end();
  if (seal != nullptr) {
    if (scanner.next_number() <= seal->last_batch) {
      lose(segment.number, end, seal->length - std::min(end, seal->length),
           batches(scanner.next_number(), seal->last_batch + 1));
    }
    return {};
  }
  auto used = scanner.torn_end();
  if (!used) return std::move(used).error();
  if (*used == end) return {};
  if (is_newest(i)) {
    figures_.torn_bytes += *used - end;
  } else {
    lose(segment.number, end, *used - end, "no batch checks");
  }
  return {};
}

Result<void> JournalWalk::walk_segment(std::size_t i, std::uint64_t salt, Visitor& visitor) {
  const Segment& segment = segments_[i];
  if (segment.state == HeaderState::valid) reach(segment.header.first_batch, visitor);
  const Seal* seal = nullptr;
  if (i + 1 < segments_.size() && segments_[i + 1].state == HeaderState::valid &&
      is_ours(segments_[i + 1]) && segments_[i + 1].header.seal.segment == segment.number) {
    seal = &segments_[i + 1].header.seal;
  }
  const std::uint64_t end = seal != nullptr ? std::min(segment.size, seal->length) : segment.size;
  SegmentScanner scanner(*segment.file, salt, std::max<std::uint64_t>(next_batch_, 1), end);
  ++figures_.segments;
  bool begun = false;
  while (true) {
    auto step = scanner.next();
    if (!step) return std::move(step).error();
    if (*step == SegmentScanner::Step::end) break;
    if (*step == SegmentScanner::Step::bad) {
      const std::uint64_t from = scanner.offset();
      const std::uint64_t due = scanner.next_number();
      auto more = scanner.skip_bad();
      if (!more) return std::move(more).error();
      if (!*more) break;
      const std::uint64_t bytes = scanner.good_end() - from;  // none where only numbers are missing
      if (bytes > 0) lose(segment.number, from, bytes, batches(due, scanner.next_number()));
      continue;
    }
    reach(scanner.header().number, visitor);
    if (!begun && scanner.offset() != kSegmentHeaderBytes) visitor.opening_lost();
    begun = true;
    const std::string_view body = scanner.body();
    written_ms_ = scanner.header().realtime_ms;
    const std::size_t read = visitor.batch(segment.number, scanner.body_offset(), body);
    if (read != body.size()) {
      lose(segment.number, scanner.body_offset() + read, body.size() - read,
           "a record does not decode");
      visitor.gap();
    }
    ++figures_.batches;
    next_batch_ = scanner.next_number();
    lost_something_ = false;
  }
  return look_behind(i, scanner, seal);
}

Result<JournalWalk::Figures> JournalWalk::run(std::uint64_t first, Visitor& visitor,
                                              const std::function<void(std::uint64_t)>& progress) {
  figures_ = {};
  next_batch_ = 0;
  lost_something_ = false;
  std::uint64_t expected = first;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.number >= first) {
      if (expected != 0 && segment.number > expected) lose_missing(expected, segment.number);
      expected = segment.number + 1;
      auto salt = read_salt(i);
      if (!salt) return std::move(salt).error();
      if (*salt) {
        if (auto done = walk_segment(i, **salt, visitor); !done) return std::move(done).error();
      }
    }
    if (progress) progress(segment.size);
  }
  if (const std::uint64_t next = std::max({expected, first, std::uint64_t{1}}); begun_ >= next) {
    lose_missing(next, begun_ + 1);
  } else if (no_files_.contains(next)) {
    lose_missing(next, next + 1);
  }
  if (lost_something_) visitor.gap();
  return std::move(figures_);
}

}  // namespace tarry::embedded
