// Decides which files are segments of the journal: not those that were never written, and not those
// below the low-water mark.
#include <algorithm>
#include <cstring>
#include <optional>

#include "engines/embedded/journal/begun_mark.h"
#include "engines/embedded/recovery/recovery_run.h"

namespace tarry::embedded {

Result<void> RecoveryRun::open_segments() {
  auto names = directory_.list();
  if (!names) return std::move(names).error();
  begun_ = begun_in(*names);
  for (const std::string& name : *names) {
    const std::uint64_t number = segment_number(name);
    if (number == 0) continue;
    Found found;
    found.number = number;
    auto file = open_segment(
        directory_, name,
        options_.read_only ? storage::OpenMode::read_only : storage::OpenMode::read_write);
    if (!file) return std::move(file).error();
    found.file = std::move(*file);
    auto size = found.file->size();
    if (!size) return std::move(size).error();
    found.size = *size;
    segments_.push_back(std::move(found));
  }
  recovered_.report.files = segments_.size();
  std::sort(segments_.begin(), segments_.end(),
            [](const Found& a, const Found& b) { return a.number < b.number; });
  return {};
}

Result<HeaderState> RecoveryRun::read_header(Found& found) {
  std::string bytes(kSegmentHeaderBytes, '\0');
  auto got = found.file->read_at(0, bytes);
  if (!got) return std::move(got).error();
  const DecodedHeader decoded = decode_segment_header(
      std::string_view(bytes).substr(0, *got), {options_.store_id, options_.shard, found.number});
  found.header = decoded.header;
  return decoded.state;
}

// Applies rows S2 and S3, and reads the headers of all segments.
Result<void> RecoveryRun::drop_unwritten() {
  headers_.resize(segments_.size());
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    auto state = read_header(segments_[i]);
    if (!state) return std::move(state).error();
    headers_[i] = *state;
  }
  const std::size_t first = first_unwritten();
  if (first < segments_.size() && segments_[first].number <= begun_) {
    mark(Row::s4_begun);  // the mark is raised after a sync of the segment: it had a header
    return lost_header(segments_[first].number);
  }
  while (segments_.size() > first) {
    if (auto done = drop_newest(); !done) return done;
  }
  return {};
}

bool RecoveryRun::has_none(HeaderState state) {
  return state == HeaderState::blank || state == HeaderState::broken;
}

// The first segment whose header may have been torn. No later segment has a header that proves its
// predecessor durable.
std::size_t RecoveryRun::first_unwritten() const {
  std::size_t first = segments_.size();
  for (std::size_t i = segments_.size(); i-- > 0;) {
    if (has_none(headers_[i])) {
      first = i;
    } else if (headers_[i] != HeaderState::valid || segments_[i].header.seal.proven) {
      break;
    }
  }
  return first;
}

// 0 if the file holds only zeros, otherwise its size. Zeros at the front prove nothing: a disk may
// have lost any part of the bytes written.
Result<std::uint64_t> RecoveryRun::written_end(const Found& found) {
  const std::string zeros(std::min(found.size, kPiece), '\0');
  std::string buffer(zeros.size(), '\0');
  for (std::uint64_t at = 0; at < found.size;) {
    auto got = found.file->read_at(at, buffer);
    if (!got) return std::move(got).error();
    if (*got == 0) break;
    if (std::memcmp(buffer.data(), zeros.data(), *got) != 0) return found.size;
    at += *got;
  }
  return 0;
}

// The first batch of the last segment that has a header. Batches written later have higher numbers.
std::uint64_t RecoveryRun::last_first_batch() const {
  for (std::size_t i = segments_.size(); i-- > 0;) {
    if (headers_[i] == HeaderState::valid) return segments_[i].header.first_batch;
  }
  return 0;
}

Result<void> RecoveryRun::drop_newest() {
  const Found& found = segments_.back();
  const bool has_header = !has_none(headers_.back());
  const std::uint64_t salt =
      has_header ? found.header.salt
                 : salt_of({options_.store_id, options_.shard, found.number}, options_.hash_seed);
  auto end = written_end(found);
  if (!end) return std::move(end).error();
  // If the file belonged to another segment before, the old batches in it have lower numbers.
  const std::uint64_t least = has_header ? found.header.first_batch : last_first_batch();
  SegmentScanner scanner(*found.file, salt, least, *end);
  if (!has_header) {
    // The first batch's head is in the same sector as the header: a disk keeps both or neither.
    auto first = first_batch_in(*found.file);
    if (!first) return std::move(first).error();
    if (*first && (*first)->number >= least) {
      mark(Row::s4);
      return lost_header(found.number);
    }
  }
  auto beyond = scanner.beyond(UINT64_MAX);
  if (!beyond) return std::move(beyond).error();
  unwritten_proof_ = std::max(unwritten_proof_, beyond->durable);
  if (has_header || beyond->batches > 0) {
    tear(found.number, 0, found.size);
    cut(found.number, beyond->batches);
  } else if (headers_.back() == HeaderState::broken) {
    tear(found.number, 0, kSegmentHeaderBytes);
  } else if (recovered_.report.torn_bytes > 0) {  // not the newest that was written
    tear(found.number, 0, 0);
  }
  if (has_header) {
    mark(Row::s3_later);  // no segment can follow a missing one
  } else if (headers_.back() == HeaderState::broken) {
    mark(Row::s3);  // no answer relied on a header that was never synced
  } else {
    mark(found.header.segment == 0 ? Row::s2 : Row::s2_older);  // files are prepared ahead
  }
  oldest_unwritten_ = found.number;
  doomed_.push_back(found.number);
  segments_.pop_back();
  headers_.pop_back();
  return {};
}

Unexpected RecoveryRun::lost_header(std::uint64_t segment) const {
  return damage(segment, 0,
                "the segment's header does not check, though batches in it were durable");
}

// A segment without a header was assumed to be never written. In fact it was written if a batch in
// it or after it was known durable, or if the journal began before it and nothing else is left.
Result<void> RecoveryRun::check_unwritten() {
  if (unwritten_proof_ >= recovered_.tail.next_batch) {
    mark(Row::s4_by_proof);
    return lost_header(oldest_unwritten_);
  }
  if (segments_.empty() && oldest_unwritten_ > 1) {
    return missing(Row::s5_before, oldest_unwritten_ - 1);
  }
  return {};
}

// If the newest segments are missing, only the mark tells of them.
Result<void> RecoveryRun::check_begun() const {
  const std::uint64_t newest = segments_.empty() ? 0 : segments_.back().number;
  return newest < begun_ ? missing(Row::s5_begun, begun_) : Result<void>();
}

Result<void> RecoveryRun::check_header(std::size_t i) {
  const Found& found = segments_[i];
  if (headers_[i] == HeaderState::newer) {
    mark(Row::s7_newer);
    return Unexpected(ErrorCode::unsupported,
                      directory_.path() + "/" + segment_name(found.number) +
                          " is of format version " + std::to_string(found.header.version) +
                          "; this program knows versions 1 to " + std::to_string(kFormatVersion));
  }
  if (headers_[i] != HeaderState::valid) {
    mark(Row::s4_older);  // the seal of a later one proves that it was synced
    return damage(found.number, 0, "the segment's header does not check");
  }
  if (found.header.store_id != options_.store_id || found.header.shard != options_.shard ||
      found.header.segment != found.number) {
    mark(Row::s7);
    return damage(found.number, 0, "the segment belongs to another store, shard or place");
  }
  return {};
}

// The newest segment states the low-water mark: its opening repeats the mark, and later records
// raise it.
Result<void> RecoveryRun::find_low_water() {
  if (auto checked = check_header(segments_.size() - 1); !checked) return checked;
  const Found& newest = segments_.back();
  SegmentScanner scanner(*newest.file, newest.header.salt, newest.header.first_batch, newest.size);
  while (true) {
    auto step = scanner.next();
    if (!step) return std::move(step).error();
    if (*step != SegmentScanner::Step::batch) break;
    std::string_view body = scanner.body();
    while (!body.empty()) {
      const std::size_t length = record_length(body);
      if (length == 0 || length > body.size()) break;
      if (static_cast<RecordType>(body[4]) == RecordType::marks) {
        std::string_view one = body.substr(0, length);
        const auto record = take_record(one);
        const auto* marks = record ? std::get_if<MarksRecord>(&*record) : nullptr;
        if (marks != nullptr && marks->low_water > newest.number) {
          mark(Row::r1_above);
          return damage(newest.number,
                        scanner.body_offset() +
                            static_cast<std::uint64_t>(body.data() - scanner.body().data()),
                        "the low-water mark is above the journal's end");
        }
        if (marks != nullptr) low_water_ = std::max(low_water_, marks->low_water);
      }
      body.remove_prefix(length);
    }
  }
  return {};
}

Result<void> RecoveryRun::drop_below_low_water() {
  // The mark stands if no batch before it can turn out to be torn. That is uncertain under policy
  // os, and if the newest segment is torn in its first batch and so states no mark. Then replay
  // begins at the first segment of the unbroken run, which does no harm, and decides by the
  // records there.
  std::size_t first = segments_.size() - 1;
  bool proven = true;
  while (first > 0 && segments_[first].number > low_water_ &&
         segments_[first - 1].number + 1 == segments_[first].number) {
    proven = proven && segments_[first].header.seal.proven;
    --first;
  }
  if (low_water_ == 0 || !proven) {
    while (first > 0 && segments_[first - 1].number + 1 == segments_[first].number) --first;
    low_water_ = segments_[first].number;
    mark_is_guess_ = true;
  }
  while (!segments_.empty() && segments_.front().number < low_water_) {
    mark(Row::s6);  // its cleaning had ended, except for the removal
    drop_front();
  }
  std::uint64_t expected = low_water_;
  for (std::size_t i = 0; i < segments_.size(); ++i, ++expected) {
    if (segments_[i].number != expected) return missing(Row::s5, expected);
    if (auto checked = check_header(i); !checked) return checked;
    proven_ = std::max(proven_, proven_by_header(segments_[i].header));
    if (expected == begun_) proven_ = std::max(proven_, segments_[i].header.first_batch);
  }
  return {};
}

void RecoveryRun::drop_front() {
  doomed_.push_back(segments_.front().number);
  segments_.pop_front();
  headers_.pop_front();
}

std::uint64_t RecoveryRun::proven_by_header(const SegmentHeader& header) {
  return header.seal.proven ? header.seal.last_batch : 0;
}

}  // namespace tarry::embedded
