// Replays the journal, batch by batch, up to its torn end.
#include <algorithm>

#include "base/planted.h"
#include "engines/embedded/recovery/recovery_run.h"

namespace tarry::embedded {

Result<void> RecoveryRun::replay_all() {
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    auto whole = replay_segment(i);
    if (!whole) return std::move(whole).error();
    if (*whole) continue;
    while (segments_.size() > i + 1) {
      mark(Row::b4_later);  // its batches have numbers after the ones that are cut
      recovered_.report.torn_bytes += segments_.back().size;
      doomed_.push_back(segments_.back().number);
      segments_.pop_back();
    }
    break;
  }
  return mark_is_guess_ ? check_guess() : Result<void>();
}

Result<void> RecoveryRun::check_guess() {
  const std::uint64_t low_water = state_.low_water();
  if (low_water < segments_.front().number) {
    return missing(Row::s5, segments_.front().number - 1);
  }
  while (segments_.front().number < low_water && segments_.size() > 1) {
    mark(Row::s6_by_replay);
    const std::uint64_t number = segments_.front().number;
    if (state_.live.of(number).messages != 0) {
      mark(Row::r1_left_below);  // cleaning copies them before it raises the mark
      return damage(number, 0, "messages are left below the low-water mark");
    }
    drop_front();
    recovered_.tail.segments.pop_front();
  }
  return {};
}

// False if the segment's tail was torn.
Result<bool> RecoveryRun::replay_segment(std::size_t i) {
  const Found& found = segments_[i];
  const Seal* seal = i + 1 < segments_.size() ? &segments_[i + 1].header.seal : nullptr;
  SegmentScanner scanner(*found.file, found.header.salt, found.header.first_batch, found.size);
  std::uint64_t reported = 0;
  while (true) {
    auto step = scanner.next();
    if (!step) return std::move(step).error();
    if (*step != SegmentScanner::Step::batch) break;
    mark(Row::b1);
    if (auto done = replay_batch(found, scanner); !done) return std::move(done).error();
    if (options_.progress && scanner.good_end() - reported > kPiece) {
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
    mark(Row::b2);
    return true;
  }
  const auto broken = [&] {
    return damage(found.number, end,
                  "batch " + std::to_string(scanner.next_number()) +
                      " does not check, though it was durable");
  };
  auto beyond = look_beyond(i, scanner);
  if (!beyond) return std::move(beyond).error();
  if (TARRY_PLANTED_BUG(damage_taken_for_a_torn_tail)) return seal == nullptr;
  if (seal != nullptr && seal->proven) {
    mark(Row::b3);  // all of the segment was synced before its successor was begun
    return broken();
  }
  if (std::max(proven_, *beyond) >= scanner.next_number()) {
    mark(seal == nullptr ? Row::b5 : Row::b4_proven);  // the batch was synced, so it was lost later
    return broken();
  }
  auto torn = scanner.torn_end();
  if (!torn) return std::move(torn).error();
  if (seal != nullptr || *torn > end) tear(found.number, end, *torn - end);
  mark(seal == nullptr ? Row::b6 : Row::b4);  // data that was never synced may be lost
  return seal == nullptr;
}

// Looks at the good batches after the bad one, in this segment and, if its seal proves nothing, in
// later ones. Returns the highest number that one of them states durable. If this is no damage,
// they count as cut.
Result<std::uint64_t> RecoveryRun::look_beyond(std::size_t i, SegmentScanner& scanner) {
  const std::uint64_t enough = scanner.next_number();
  auto beyond = scanner.beyond(enough);
  if (!beyond) return std::move(beyond).error();
  cut(segments_[i].number, beyond->batches);
  std::uint64_t highest = beyond->durable;
  for (std::size_t later = i + 1; later < segments_.size() && highest < enough; ++later) {
    const Found& found = segments_[later];
    SegmentScanner next(*found.file, found.header.salt, found.header.first_batch, found.size);
    beyond = next.beyond(enough);
    if (!beyond) return std::move(beyond).error();
    cut(found.number, beyond->batches);
    highest = std::max(highest, beyond->durable);
  }
  return highest;
}

Result<void> RecoveryRun::replay_batch(const Found& found, const SegmentScanner& scanner) {
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
    ++recovered_.report.records;
    Result<void> done;
    if (const auto put = take_put(body)) {
      recovered_.report.clean = false;
      done = state_.replay(*put, found.number, offset);
    } else if (const auto record = take_record(body)) {
      recovered_.report.clean = std::holds_alternative<ClosedRecord>(*record);
      done = state_.replay(*record, found.number, offset);
    } else {
      mark(Row::r1);  // the batch checks, so its writer was wrong, not the disk
      return damage(found.number, offset, "a record does not decode");
    }
    if (!done) {
      mark(Row::r1_contradicts);
      return damage(found.number, offset, done.error().message);
    }
  }
  return {};
}

}  // namespace tarry::embedded
