#include "engines/embedded/recovery.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include "base/planted.h"
#include "engines/embedded/segment_scanner.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kRewritePiece = 1ull << 20;

struct Found {
  std::uint64_t number = 0;
  std::uint64_t size = 0;
  std::shared_ptr<storage::File> file;
  SegmentHeader header;
};

Unexpected damage(const storage::Directory& directory, std::uint64_t segment, std::uint64_t offset,
                  const std::string& what) {
  return Unexpected(ErrorCode::damaged, directory.path() + "/" + segment_name(segment) +
                                            " offset " + std::to_string(offset) + ": " + what);
}

class Recovery {
 public:
  Recovery(storage::Directory& directory, SegmentFiles& files, ShardState& state,
           const RecoveryOptions& options)
      : directory_(directory), files_(files), state_(state), options_(options) {}

  Result<Recovered> run() {
    if (auto done = open_segments(); !done) return std::move(done).error();
    if (auto done = drop_unwritten(); !done) return std::move(done).error();
    if (segments_.empty()) mark(doomed_.empty() ? "S1" : "S1 after S2");
    if (!segments_.empty()) {
      if (auto done = find_low_water(); !done) return std::move(done).error();
      if (auto done = drop_below_low_water(); !done) return std::move(done).error();
      if (auto done = replay_all(); !done) return std::move(done).error();
    }
    if (auto done = check_unwritten(); !done) return std::move(done).error();
    if (auto done = settle_tail(); !done) return std::move(done).error();
    return std::move(recovered_);
  }

 private:
  void mark(std::string_view row) const {
    if (options_.mark) options_.mark(row);
  }

  Result<void> open_segments() {
    auto names = directory_.list();
    if (!names) return std::move(names).error();
    for (const std::string& name : *names) {
      const std::uint64_t number = segment_number(name);
      if (number == 0) continue;
      Found found;
      found.number = number;
      auto file = directory_.open(
          name, options_.read_only ? storage::OpenMode::read_only : storage::OpenMode::read_write);
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

  Result<HeaderState> read_header(Found& found) {
    std::string bytes(kSegmentHeaderBytes, '\0');
    auto got = found.file->read_at(0, bytes);
    if (!got) return std::move(got).error();
    const DecodedHeader decoded = decode_segment_header(std::string_view(bytes).substr(0, *got));
    found.header = decoded.header;
    return decoded.state;
  }

  // S2, S3, and the headers of all the rest.
  Result<void> drop_unwritten() {
    headers_.resize(segments_.size());
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      auto state = read_header(segments_[i]);
      if (!state) return std::move(state).error();
      headers_[i] = *state;
    }
    const std::size_t first = first_unwritten();
    while (segments_.size() > first) {
      if (auto done = drop_newest(); !done) return done;
    }
    return {};
  }

  static bool has_none(HeaderState state) {
    return state == HeaderState::blank || state == HeaderState::broken;
  }

  // The first segment whose header may have been torn: none after it was written in the knowledge
  // that it was durable.
  std::size_t first_unwritten() const {
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

  // Segments are written front to back: where nothing stands at the front, the rest is not read.
  static Result<std::uint64_t> written_end(const Found& found) {
    std::string buffer(std::min(found.size, kRewritePiece), '\0');
    auto got = found.file->read_at(0, buffer);
    if (!got) return std::move(got).error();
    const std::string_view front = std::string_view(buffer).substr(0, *got);
    return front.find_first_not_of('\0') == std::string_view::npos ? 0 : found.size;
  }

  Result<void> drop_newest() {
    const Found& found = segments_.back();
    const bool has_header = !has_none(headers_.back());
    const auto salt = has_header ? std::optional(found.header.salt) : std::nullopt;
    auto end = written_end(found);
    if (!end) return std::move(end).error();
    SegmentScanner scanner(*found.file, salt, 0, *end);
    if (!has_header) {
      // The first batch's head shares the header's sector: what kept the one kept the other.
      auto first = scanner.batch_at(kSegmentHeaderBytes);
      if (!first) return std::move(first).error();
      if (*first) {
        mark("S4");
        return lost_header(found.number);
      }
    }
    auto durable = scanner.highest_durable_beyond(UINT64_MAX);
    if (!durable) return std::move(durable).error();
    unwritten_proof_ = std::max(unwritten_proof_, *durable);
    if (has_header) {
      recovered_.report.torn_bytes += found.size;
    } else if (headers_.back() == HeaderState::broken) {
      recovered_.report.torn_bytes += kSegmentHeaderBytes;
    }
    mark(headers_.back() == HeaderState::blank ? "S2" : has_header ? "S3 later" : "S3");
    oldest_unwritten_ = found.number;
    doomed_.push_back(found.number);
    segments_.pop_back();
    headers_.pop_back();
    return {};
  }

  Unexpected lost_header(std::uint64_t segment) const {
    return damage(directory_, segment, 0,
                  "the segment's header does not check, though batches in it were durable");
  }

  // A segment without a header was taken for never written. Not so if what is in it, or behind it,
  // was known durable, or if it is all there is of a journal that began before it.
  Result<void> check_unwritten() {
    if (unwritten_proof_ >= recovered_.tail.next_batch) {
      mark("S4 by proof");
      return lost_header(oldest_unwritten_);
    }
    if (segments_.empty() && oldest_unwritten_ > 1) return missing(oldest_unwritten_ - 1);
    return {};
  }

  Unexpected missing(std::uint64_t segment) const {
    mark("S5");
    return Unexpected(ErrorCode::damaged,
                      directory_.path() + "/" + segment_name(segment) + " is missing");
  }

  Result<void> check_header(std::size_t i) {
    const Found& found = segments_[i];
    if (headers_[i] == HeaderState::newer) {
      mark("S7 newer");
      return Unexpected(ErrorCode::unsupported,
                        directory_.path() + "/" + segment_name(found.number) +
                            " is of format version " + std::to_string(found.header.version) +
                            "; this program knows version " + std::to_string(kFormatVersion));
    }
    if (headers_[i] != HeaderState::valid) {
      mark("S4 older");
      return damage(directory_, found.number, 0, "the segment's header does not check");
    }
    if (found.header.store_id != options_.store_id || found.header.shard != options_.shard ||
        found.header.segment != found.number) {
      mark("S7");
      return damage(directory_, found.number, 0,
                    "the segment belongs to another store, shard or place");
    }
    return {};
  }

  // The newest segment says it: its opening repeats the mark, later records raise it.
  Result<void> find_low_water() {
    if (auto checked = check_header(segments_.size() - 1); !checked) return checked;
    const Found& newest = segments_.back();
    SegmentScanner scanner(*newest.file, newest.header.salt, newest.header.first_batch,
                           newest.size);
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
          if (marks != nullptr && marks->low_water > newest.number) {  // R1
            return damage(directory_, newest.number,
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

  Result<void> drop_below_low_water() {
    // The mark stands if no batch before it can turn out to be torn. Where that is open (policy os;
    // or the newest segment is torn in its first batch and knows no mark), replay begins at the
    // first segment that an unbroken run leads to, which does no harm, and goes by what it finds.
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
      mark("S6");
      drop_front();
    }
    std::uint64_t expected = low_water_;
    for (std::size_t i = 0; i < segments_.size(); ++i, ++expected) {
      if (segments_[i].number != expected) return missing(expected);  // S5
      if (auto checked = check_header(i); !checked) return checked;
      proven_ = std::max(proven_, proven_by_header(segments_[i].header));
    }
    return {};
  }

  void drop_front() {
    doomed_.push_back(segments_.front().number);
    segments_.pop_front();
    headers_.pop_front();
  }

  static std::uint64_t proven_by_header(const SegmentHeader& header) {
    return header.seal.proven ? header.seal.last_batch : 0;
  }

  Result<void> replay_all() {
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      auto whole = replay_segment(i);
      if (!whole) return std::move(whole).error();
      if (*whole) continue;
      while (segments_.size() > i + 1) {
        mark("B4 later");
        recovered_.report.torn_bytes += segments_.back().size;
        doomed_.push_back(segments_.back().number);
        segments_.pop_back();
      }
      break;
    }
    return mark_is_guess_ ? check_guess() : Result<void>();
  }

  Result<void> check_guess() {
    const std::uint64_t low_water = state_.low_water();
    if (low_water < segments_.front().number) return missing(segments_.front().number - 1);
    while (segments_.front().number < low_water && segments_.size() > 1) {
      mark("S6 by replay");
      const std::uint64_t number = segments_.front().number;
      if (state_.live.of(number).messages != 0) {
        mark("R1 left below");
        return damage(directory_, number, 0, "messages are left below the low-water mark");
      }
      drop_front();
      recovered_.tail.segments.pop_front();
    }
    return {};
  }

  // False when its tail was torn.
  Result<bool> replay_segment(std::size_t i) {
    const Found& found = segments_[i];
    const Seal* seal = i + 1 < segments_.size() ? &segments_[i + 1].header.seal : nullptr;
    SegmentScanner scanner(*found.file, found.header.salt, found.header.first_batch, found.size);
    std::uint64_t reported = 0;
    while (true) {
      auto step = scanner.next();
      if (!step) return std::move(step).error();
      if (*step != SegmentScanner::Step::batch) break;
      mark("B1");
      if (auto done = replay_batch(found, scanner); !done) return std::move(done).error();
      if (options_.progress && scanner.good_end() - reported > kRewritePiece) {
        options_.progress(scanner.good_end() - reported);
        reported = scanner.good_end();
      }
      if (seal != nullptr && scanner.good_end() == seal->length &&
          scanner.next_number() == seal->last_batch + 1) {
        break;
      }
    }
    const std::uint64_t end = scanner.good_end();
    if (options_.progress && found.size > reported) options_.progress(found.size - reported);
    recovered_.tail.segments.push_back(
        {found.number, found.header.salt, found.header.first_batch, end, found.size});
    recovered_.tail.next_batch = scanner.next_number();
    recovered_.report.bytes += end;
    ++recovered_.report.segments;
    if (seal != nullptr && seal->segment == found.number && end == seal->length &&
        scanner.next_number() == seal->last_batch + 1) {
      mark("B2");
      return true;
    }
    const auto broken = [&] {
      return damage(directory_, found.number, end,
                    "batch " + std::to_string(scanner.next_number()) +
                        " does not check, though it was durable");
    };
    auto beyond = highest_durable_after(i, scanner);
    if (!beyond) return std::move(beyond).error();
    if (TARRY_PLANTED_BUG(damage_taken_for_a_torn_tail)) return seal == nullptr;
    if (seal != nullptr && seal->proven) {
      mark("B3");
      return broken();
    }
    if (std::max(proven_, *beyond) >= scanner.next_number()) {
      mark(seal == nullptr ? "B5" : "B4 proven");
      return broken();
    }
    if (end < found.size) recovered_.report.torn_bytes += torn_bytes(found, end);
    mark(seal == nullptr ? "B6" : "B4");
    return seal == nullptr;
  }

  // What good batches beyond the bad one state: in this segment, and where its seal proves nothing,
  // in the later ones.
  Result<std::uint64_t> highest_durable_after(std::size_t i, SegmentScanner& scanner) {
    auto highest = scanner.highest_durable_beyond(scanner.next_number());
    if (!highest) return highest;
    for (std::size_t later = i + 1; later < segments_.size(); ++later) {
      const Found& found = segments_[later];
      SegmentScanner next(*found.file, found.header.salt, found.header.first_batch, found.size);
      while (true) {
        auto step = next.next();
        if (!step) return std::move(step).error();
        if (*step != SegmentScanner::Step::batch) break;
        highest = std::max(*highest, next.header().durable);
      }
    }
    return highest;
  }

  // Allocated and never written is not torn.
  static std::uint64_t torn_bytes(const Found& found, std::uint64_t from) {
    std::string buffer(std::min(kRewritePiece, found.size - from), '\0');
    std::uint64_t last = from;
    for (std::uint64_t at = from; at < found.size;) {
      auto got = found.file->read_at(at, buffer);
      if (!got || *got == 0) break;
      const std::size_t used = std::string_view(buffer).substr(0, *got).find_last_not_of('\0');
      if (used != std::string_view::npos) last = at + used + 1;
      at += *got;
    }
    return last - from;
  }

  Result<void> replay_batch(const Found& found, const SegmentScanner& scanner) {
    const BatchHeader& header = scanner.header();
    proven_ = std::max(proven_, header.durable);
    recovered_.report.last_realtime_ms =
        std::max(recovered_.report.last_realtime_ms, header.realtime_ms);
    ++recovered_.report.batches;
    unproven_.push_back({header.number, found.number, scanner.offset()});
    while (!unproven_.empty() && unproven_.front().number <= proven_) unproven_.pop_front();
    std::string_view body = scanner.body();
    while (!body.empty()) {
      const std::uint64_t offset =
          scanner.body_offset() + static_cast<std::uint64_t>(body.data() - scanner.body().data());
      const auto record = take_record(body);
      if (!record) {
        mark("R1");
        return damage(directory_, found.number, offset, "a record does not decode");
      }
      recovered_.report.clean = std::holds_alternative<ClosedRecord>(*record);
      ++recovered_.report.records;
      if (auto done = state_.replay(*record, found.number, offset); !done) {
        mark("R1 contradicts");
        return damage(directory_, found.number, offset, done.error().message);
      }
    }
    return {};
  }

  Result<void> settle_tail() {
    JournalTail& tail = recovered_.tail;
    if (!segments_.empty()) tail.next_segment = segments_.back().number + 1;
    if (options_.read_only) return {};
    if (!segments_.empty()) {
      if (auto done = finish_newest(); !done) return done;
    }
    // Only now: while anything of the above could still be lost, these may be all there is.
    // The newest first, and each for good before the next: a crash in between must leave no gap.
    std::sort(doomed_.begin(), doomed_.end(), std::greater<>());
    for (const std::uint64_t segment : doomed_) {
      if (auto removed = directory_.remove(segment_name(segment)); !removed) return removed;
      if (segments_.empty() || segment > segments_.back().number) {
        if (auto synced = directory_.sync(); !synced) return synced;
      }
    }
    return directory_.sync();
  }

  Result<void> finish_newest() {
    JournalTail& tail = recovered_.tail;
    for (std::size_t i = 0; i < tail.segments.size(); ++i) {
      files_.add(tail.segments[i].number, segments_[i].file);
    }
    SegmentInfo& last = tail.segments.back();
    Found& found = segments_[tail.segments.size() - 1];
    if (!TARRY_PLANTED_BUG(unproven_not_rewritten)) {
      if (auto done = rewrite_unproven(); !done) return done;
    }
    if (found.size > last.used) {
      if (auto cut = found.file->truncate(last.used); !cut) return cut;
      if (auto synced = found.file->sync_data(); !synced) return synced;
      last.allocated = last.used;
    }
    return {};
  }

  // The system may hold these bytes in its cache only, and may have called them clean after a
  // failed sync. Written again they are dirty again, and the sync means what it says.
  Result<void> rewrite_unproven() {
    // The header of a segment of which nothing is proven is in no better case than its batches.
    const JournalTail& tail = recovered_.tail;
    Unproven first{tail.next_batch, UINT64_MAX, 0};
    if (!unproven_.empty()) first = unproven_.front();
    for (std::size_t i = 0; i < tail.segments.size(); ++i) {
      if (segments_[i].header.first_batch <= proven_) continue;
      if (tail.segments[i].number <= first.segment) {
        first = {segments_[i].header.first_batch, tail.segments[i].number, kSegmentHeaderBytes};
      }
      break;
    }
    if (first.segment == UINT64_MAX) return {};
    mark(unproven_.empty() ? "T1 header" : "T1");
    for (std::size_t i = 0; i < recovered_.tail.segments.size(); ++i) {
      const SegmentInfo& segment = recovered_.tail.segments[i];
      if (segment.number < first.segment) continue;
      const bool whole = segment.number > first.segment || first.offset == kSegmentHeaderBytes;
      storage::File& file = *segments_[i].file;
      if (auto done = rewrite(file, whole ? 0 : first.offset, segment.used); !done) return done;
      if (auto synced = file.sync_data(); !synced) return synced;
    }
    return {};
  }

  static Result<void> rewrite(storage::File& file, std::uint64_t from, std::uint64_t end) {
    std::string buffer(std::min(kRewritePiece, end - from), '\0');
    for (std::uint64_t at = from; at < end;) {
      const std::uint64_t size = std::min<std::uint64_t>(kRewritePiece, end - at);
      auto got = file.read_at(at, std::span<char>(buffer.data(), size));
      if (!got) return std::move(got).error();
      if (*got == 0) break;
      if (auto done = file.write_at(at, std::string_view(buffer).substr(0, *got)); !done) {
        return done;
      }
      at += *got;
    }
    return {};
  }

  struct Unproven {
    std::uint64_t number = 0;
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
  };

  storage::Directory& directory_;
  SegmentFiles& files_;
  ShardState& state_;
  const RecoveryOptions& options_;
  std::deque<Found> segments_;
  std::deque<HeaderState> headers_;    // of segments_, while they are checked
  std::vector<std::uint64_t> doomed_;  // removed when all is done: nothing goes before a refusal
  std::uint64_t oldest_unwritten_ = 0;
  std::uint64_t unwritten_proof_ = 0;  // a batch that one of the unwritten says was durable
  std::uint64_t low_water_ = 0;
  bool mark_is_guess_ = false;
  std::uint64_t proven_ = 0;       // the last batch known durable
  std::deque<Unproven> unproven_;  // good batches after it
  Recovered recovered_;
};

}  // namespace

Result<Recovered> recover(storage::Directory& directory, SegmentFiles& files, ShardState& state,
                          const RecoveryOptions& options) {
  return Recovery(directory, files, state, options).run();
}

Result<std::uint64_t> journal_bytes(storage::Directory& directory) {
  auto names = directory.list();
  if (!names) return std::move(names).error();
  std::uint64_t sum = 0;
  for (const std::string& name : *names) {
    if (segment_number(name) == 0) continue;
    auto file = directory.open(name, storage::OpenMode::read_only);
    if (!file) return std::move(file).error();
    auto size = (*file)->size();
    if (!size) return std::move(size).error();
    sum += *size;
  }
  return sum;
}

}  // namespace tarry::embedded
