// After replay: data that may be only in the cache is written again, and files that are not part of
// the journal are removed.
#include <algorithm>
#include <functional>

#include "base/planted.h"
#include "engines/embedded/journal/begun_mark.h"
#include "engines/embedded/recovery/recovery_run.h"

namespace tarry::embedded {

Result<void> RecoveryRun::settle_tail() {
  JournalTail& tail = recovered_.tail;
  if (!segments_.empty()) tail.next_segment = segments_.back().number + 1;
  if (options_.read_only) return {};
  if (!segments_.empty()) {
    if (auto done = finish_newest(); !done) return done;
    if (auto done = raise_mark(); !done) return done;
  }
  // Nothing is removed before this point: until the files above are safe, the doomed files may be
  // all that is left.
  if (segments_.empty() && !doomed_.empty()) {
    if (auto synced = sync_absence(); !synced) return synced;
  }
  // The newest file goes first, and each removal is synced before the next one. So a crash in
  // between leaves no gap.
  std::sort(doomed_.begin(), doomed_.end(), std::greater<>());
  for (const std::uint64_t segment : doomed_) {
    if (auto removed = directory_.remove(segment_name(segment)); !removed) return removed;
    if (segments_.empty() || segment > segments_.back().number) {
      if (auto synced = directory_.sync(); !synced) return synced;
    }
  }
  if (auto synced = directory_.sync(); !synced) return synced;
  if (segments_.empty()) return {};
  tail.is_clean = recovered_.report.clean;
  auto goes_on = newest_goes_on();
  if (!goes_on) return std::move(goes_on).error();
  tail.goes_on = *goes_on;
  if (*goes_on) mark(Row::t2);
  return {};
}

// Everything that was replayed is on the disk now. The directory is synced at the end. Of the
// newest segment only the header may exist, which is not enough for the mark.
Result<void> RecoveryRun::raise_mark() {
  std::uint64_t begun = begun_;
  for (const SegmentInfo& segment : recovered_.tail.segments) {
    if (segment.used > kSegmentHeaderBytes) begun = std::max(begun, segment.number);
  }
  auto raised = raise_begun(directory_, begun_, begun);
  if (!raised) return std::move(raised).error();
  recovered_.tail.begun = *raised;
  return {};
}

// A new file for each run would make many files if runs are short. But only closed segments are
// cleaned, so a segment with more garbage than cleaning leaves is closed. After a cut, a new
// segment's salt protects us from a disk that shows the cut bytes again. If a run cuts and ends
// before it writes, the next start does trust the disk, as with every file that is made longer.
Result<bool> RecoveryRun::newest_goes_on() const {
  constexpr std::uint64_t kLeastGarbage = 64 * 1024;  // many short runs' openings
  const SegmentInfo& last = recovered_.tail.segments.back();
  const std::uint64_t live = std::min(state_.live.of(last.number).bytes, last.used);
  const std::uint64_t most = std::max(kLeastGarbage, live / 3);
  const Found& newest = segments_[recovered_.tail.segments.size() - 1];
  if (newest.header.version != options_.version) return false;
  if (recovered_.report.torn_bytes > 0 || last.used - live > most) return false;
  const auto shared = newest.file->is_shared();
  if (!shared) return shared.error();
  return !*shared;
}

// A removal whose sync failed is invisible now but may be undone by a crash; then a file that is
// removed next would be missing before it. Syncing a directory without changes may do nothing. So
// it is changed, by one more segment that was never written. If there is no room for its name, the
// missing files are assumed to be durably removed.
Result<void> RecoveryRun::sync_absence() {
  const std::uint64_t more = *std::max_element(doomed_.begin(), doomed_.end()) + 1;
  if (auto made = directory_.open(segment_name(more), storage::OpenMode::create_new); !made) {
    if (is_shortage(made.error())) return {};
    return std::move(made).error();
  }
  doomed_.push_back(more);
  return directory_.sync();
}

Result<void> RecoveryRun::finish_newest() {
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

// The system may hold these bytes in its cache only, and may have marked them clean after a failed
// sync. Writing them again makes them dirty, so the next sync really writes them.
Result<void> RecoveryRun::rewrite_unproven() {
  // If nothing proves a segment durable, its header must be rewritten like its batches.
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
  mark(unproven_.empty() ? Row::t1_header : Row::t1);
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

Result<void> RecoveryRun::rewrite(storage::File& file, std::uint64_t from, std::uint64_t end) {
  std::string buffer(std::min(kPiece, end - from), '\0');
  for (std::uint64_t at = from; at < end;) {
    const std::uint64_t size = std::min<std::uint64_t>(kPiece, end - at);
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

}  // namespace tarry::embedded
