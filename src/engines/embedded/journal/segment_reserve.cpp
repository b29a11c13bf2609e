#include "engines/embedded/journal/segment_reserve.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"
#include "engines/embedded/journal/commit.h"
#include "engines/embedded/journal/journal_format.h"

namespace tarry::embedded {

SegmentReserve::Prepared SegmentReserve::take() {
  TARRY_ASSERT(!prepared_.empty());
  Prepared first = std::move(prepared_.front());
  prepared_.pop_front();
  return first;
}

Result<void> SegmentReserve::prepare(std::uint64_t bytes) {
  auto file = directory_.open(segment_name(next_segment_), storage::OpenMode::create_new);
  if (!file) return std::move(file).error();
  if (auto done = (*file)->allocate(bytes); !done) {
    file->reset();
    if (auto removed = directory_.remove(segment_name(next_segment_)); !removed) return removed;
    return done;
  }
  return add(std::move(*file), bytes);
}

Result<void> SegmentReserve::add(std::shared_ptr<storage::File> file, std::uint64_t bytes) {
  // Names must become durable in the order of their numbers, because recovery takes a gap for a
  // loss.
  if (!TARRY_PLANTED_BUG(skip_directory_sync)) {
    if (auto synced = directory_.sync(); !synced) return synced;
  }
  Prepared prepared;
  prepared.info.number = next_segment_++;
  prepared.info.allocated = bytes;
  prepared.file = std::move(file);
  files_.add(prepared.info.number, prepared.file);
  prepared_.push_back(std::move(prepared));
  return {};
}

Result<void> SegmentReserve::grow(Prepared& prepared, std::uint64_t to) {
  if (auto done = prepared.file->allocate(to); !done) return done;
  prepared.info.allocated = to;
  return {};
}

Result<void> SegmentReserve::lengthen(std::uint64_t to) { return grow(prepared_.back(), to); }

Result<void> SegmentReserve::fit(std::uint64_t least) {
  for (Prepared& prepared : prepared_) {
    if (prepared.info.allocated >= least) continue;
    if (auto done = grow(prepared, least); !done) return done;
  }
  return {};
}

Result<void> SegmentReserve::take_over(std::uint64_t spare, std::uint64_t overhead) {
  const std::uint64_t last = prepared_.empty() ? 0 : prepared_.back().info.allocated;
  const bool lengthens = last != 0 && last < segment_bytes_;
  const std::uint64_t least = lengthens ? 0 : 2 * overhead;
  for (std::uint64_t lost = kSmallStep; lost + least < spare; lost *= 2) {
    const std::uint64_t bytes = spare - lost;
    auto done = lengthens ? lengthen(std::min(segment_bytes_, last + bytes)) : prepare(bytes);
    if (done || !is_shortage(done.error())) return done;
  }
  return {};
}

std::uint64_t SegmentReserve::room(const SegmentLoss& loss) const noexcept {
  std::uint64_t sum = 0;
  for (const Prepared& prepared : prepared_) sum += loss.room_of(prepared.info.allocated);
  return sum;
}

std::uint64_t SegmentReserve::kept_room(const SegmentLoss& loss) const noexcept {
  std::uint64_t sum = 0;
  for (const SegmentInfo& kept : kept_) sum += loss.room_of(kept.allocated);
  return sum;
}

Result<void> SegmentReserve::reuse(const SegmentLoss& loss, std::uint64_t elsewhere,
                                   std::uint64_t enough) {
  TARRY_ASSERT(!kept_.empty());
  const SegmentInfo old = kept_.front();
  kept_.pop_front();
  const std::string name = segment_name(old.number);
  const std::shared_ptr<storage::File> file = files_.get(old.number);
  files_.remove(old.number);
  const auto or_remove = [&](Error error) -> Result<void> {
    if (is_shortage(error)) return directory_.remove(name);
    return error;
  };
  // The room is already allocated, except in a copy of the store that has holes.
  if (auto whole = file->allocate(old.allocated); !whole) {
    return or_remove(std::move(whole).error());
  }
  // The kept file replaces the last prepared segment if that is shorter, so that no more segments
  // are made than needed.
  const bool replaces = !prepared_.empty() && prepared_.back().info.allocated < old.allocated &&
                        elsewhere + room(loss) + loss.room_of(old.allocated) >=
                            enough + loss.room_of(prepared_.back().info.allocated);
  const std::uint64_t number = next_segment_ - (replaces ? 1 : 0);
  // Even a new name may need room on the disk.
  if (auto done = directory_.rename(name, segment_name(number)); !done) {
    return or_remove(std::move(done).error());
  }
  if (replaces) {
    prepared_.pop_back();
    files_.remove(number);
  }
  next_segment_ = number;
  // A backup may have given the file a second name. The old name is gone by now, so no later second
  // name can matter.
  const auto shared = file->is_shared();
  if (!shared) return shared.error();
  if (*shared) return directory_.remove(segment_name(number));
  // The file is opened again, so that later errors name it by its new name.
  auto again = directory_.open(segment_name(number), storage::OpenMode::read_write);
  if (!again && !is_shortage(again.error())) return std::move(again).error();
  return add(again ? std::move(*again) : file, old.allocated);
}

std::uint64_t SegmentReserve::disk_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const SegmentInfo& kept : kept_) sum += kept.allocated;
  for (const Prepared& prepared : prepared_) sum += prepared.info.allocated;
  return sum;
}

Result<void> SegmentReserve::remove(std::uint64_t segment) {
  files_.remove(segment);
  return directory_.remove(segment_name(segment));
}

Result<void> SegmentReserve::remove_all() {
  while (!prepared_.empty()) {
    const std::uint64_t number = prepared_.back().info.number;
    prepared_.pop_back();
    if (auto removed = remove(number); !removed) return removed;
  }
  while (!kept_.empty()) {
    const std::uint64_t number = kept_.front().number;
    kept_.pop_front();
    if (auto removed = remove(number); !removed) return removed;
  }
  return {};
}

}  // namespace tarry::embedded
