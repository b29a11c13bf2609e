// The journal's room: reserved on the disk before anything is promised. Decides in which files it
// lies, and which cleaned files are used again.
#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"
#include "engines/embedded/journal/journal.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kStep = 4ull << 20;  // the head grows on disk by this much at a time
constexpr std::uint64_t kSmallStep = 4096;   // or by this much, if there is little room left
constexpr std::uint64_t kSlack = kBatchHeaderBytes + kBatchAlignment;
constexpr int kMaxGrowths = 100'000;  // bounds ensure_room: 100,000 segments of the least size

}  // namespace

std::uint64_t Journal::opening_bytes() const noexcept {
  return kSegmentHeaderBytes + kSlack + last_opening_bytes_;
}

// Bytes of a new segment before its first record, with some growth of the opening.
std::uint64_t Journal::overhead() const noexcept {
  return opening_bytes() + last_opening_bytes_ / 4 + 1024;
}

// A batch may end anywhere, and the next one needs its header.
std::uint64_t Journal::head_left() const noexcept {
  const std::uint64_t end = head_end() + 2 * kSlack + (resumed_ ? overhead() : 0);
  return head_.allocated > end ? head_.allocated - end : 0;
}

// Each segment may waste as much as the record that did not fit.
std::uint64_t Journal::room_in(std::uint64_t segment, std::uint64_t largest) const noexcept {
  const std::uint64_t spent = overhead() + largest;
  return segment > spent ? segment - spent : 0;
}

std::uint64_t Journal::room(std::uint64_t largest) const noexcept {
  const std::uint64_t left = head_left();
  std::uint64_t sum = left > largest ? left - largest : 0;
  for (const Prepared& prepared : prepared_) sum += room_in(prepared.info.allocated, largest);
  return sum;
}

Result<void> Journal::grow_head(std::uint64_t to) {
  if (auto done = head_file_->allocate(to); !done) return done;
  head_.allocated = to;
  return {};
}

Result<void> Journal::prepare(std::uint64_t bytes) {
  auto file = directory_->open(segment_name(next_segment_), storage::OpenMode::create_new);
  if (!file) return std::move(file).error();
  if (auto done = (*file)->allocate(bytes); !done) {
    file->reset();
    if (auto removed = directory_->remove(segment_name(next_segment_)); !removed) return removed;
    return done;
  }
  return add_prepared(std::move(*file), bytes);
}

Result<void> Journal::add_prepared(std::shared_ptr<storage::File> file, std::uint64_t bytes) {
  // Names become durable in the order of their numbers: recovery may then take a gap for a loss.
  if (!TARRY_PLANTED_BUG(skip_directory_sync)) {
    if (auto synced = directory_->sync(); !synced) return synced;
  }
  Prepared prepared;
  prepared.info.number = next_segment_++;
  prepared.info.allocated = bytes;
  prepared.file = std::move(file);
  files_->add(prepared.info.number, prepared.file);
  prepared_.push_back(std::move(prepared));
  return {};
}

// Takes more room for at least `missing` bytes, in whole steps: at the end of the head, of the last
// prepared segment, or in a new one.
Result<void> Journal::grow(std::uint64_t missing, std::uint64_t largest, std::uint64_t step) {
  std::shared_lock<std::shared_mutex> together;
  if (config_.disk_room) together = std::shared_lock(*config_.disk_room);
  const auto whole = [step](std::uint64_t bytes) { return (bytes + step - 1) / step * step; };
  const std::uint64_t most = config_.segment_bytes;
  // The head grows only while no segment is prepared: a roll leaves the rest of its allocated bytes
  // unused.
  if (prepared_.empty() && head_.number != 0 && head_.allocated < most) {
    return grow_head(std::min(most, head_.allocated + whole(missing)));
  }
  if (!prepared_.empty() && prepared_.back().info.allocated < most) {
    Prepared& last = prepared_.back();
    return grow_prepared(last, std::min(most, last.info.allocated + whole(missing)));
  }
  // Twice, because `room` subtracts one such record, and with less it would ask for thousands of
  // small segments.
  const std::uint64_t least = overhead() + 2 * largest + kSlack;
  const std::uint64_t size = std::max(least, std::min(most, whole(missing + overhead())));
  if (size > kMaxSegmentBytes) {
    return Unexpected(ErrorCode::too_large, "a record of " + std::to_string(largest) +
                                                " bytes does not fit into a segment");
  }
  return prepare(size);
}

Result<void> Journal::grow_prepared(Prepared& prepared, std::uint64_t to) {
  if (auto done = prepared.file->allocate(to); !done) return done;
  prepared.info.allocated = to;
  return {};
}

// A queue made after a segment was prepared lengthens that segment's opening.
Result<void> Journal::fit_openings() {
  for (Prepared& prepared : prepared_) {
    if (prepared.info.allocated >= overhead()) continue;
    if (auto done = grow_prepared(prepared, overhead()); !done) return done;
  }
  return {};
}

Result<void> Journal::ensure_room(std::uint64_t bytes, std::uint64_t largest, std::uint64_t reserve,
                                  std::uint64_t largest_of_reserve) {
  if (auto done = fit_openings(); !done) return done;
  const std::uint64_t wanted = bytes + reserve;
  const std::uint64_t longest = std::max(largest, largest_of_reserve);
  for (int i = 0; i < kMaxGrowths; ++i) {
    const std::uint64_t here = room(largest);
    const std::uint64_t have = room(largest_of_reserve);
    if (here >= bytes && have >= wanted && (head_.number != 0 || !prepared_.empty())) return {};
    const std::uint64_t missing =
        std::max(bytes - std::min(here, bytes), wanted - std::min(have, wanted)) + longest;
    // In long steps, so that it is rare; if those do not fit, no more than needed.
    auto grown = grow(missing, longest, std::min(kStep, config_.segment_bytes));
    if (!grown && grown.error().code == ErrorCode::no_space) {
      grown = grow(missing, longest, kSmallStep);
    }
    if (!grown) return grown;
  }
  return Unexpected(ErrorCode::no_space,
                    "the journal cannot reserve " + std::to_string(wanted) + " bytes");
}

std::uint64_t Journal::prepared_room() const noexcept {
  std::uint64_t sum = 0;
  for (const Prepared& prepared : prepared_) sum += room_in(prepared.info.allocated, 0);
  return sum;
}

Result<bool> Journal::close_head(std::uint64_t least, std::uint64_t enough) {
  forget_written();
  if (head_.number == 0 || !open_.empty() || !in_flight_.empty()) return false;
  if (!prepared_.empty() && prepared_.front().info.allocated < overhead()) return false;
  std::uint64_t in_prepared = 0;
  for (const Prepared& prepared : prepared_) {
    in_prepared += room_in(prepared.info.allocated, largest_put_);
  }
  if (!prepared_.empty() && in_prepared >= enough) {
    roll();
    return true;
  }
  const std::uint64_t spare = (head_.allocated - head_.used) / kSmallStep * kSmallStep;
  // The pages that the two files' ends and the file system's own notes may take.
  constexpr std::uint64_t kLost = 4 * kSmallStep;
  const std::uint64_t opening = prepared_.empty() ? overhead() : 0;
  if (spare + prepared_room() < opening + least + kLost) return false;
  if (prepared_.empty() && spare < opening + kLost) return false;

  std::unique_lock<std::shared_mutex> alone;
  if (config_.disk_room) alone = std::unique_lock(*config_.disk_room);
  const std::uint64_t before = head_.allocated;
  if (auto cut = head_file_->truncate(head_.used); !cut) return std::move(cut).error();
  head_.allocated = head_.used;
  if (auto moved = prepare_of(spare); !moved) return std::move(moved).error();
  if (prepared_.empty() || prepared_room() < least) {
    // Another program on the disk was quicker, or there is no descriptor.
    for (std::uint64_t step = spare; step >= kSmallStep && head_.allocated < before; step /= 2) {
      static_cast<void>(grow_head(std::min(before, head_.allocated + step)));
    }
    return false;
  }
  roll();
  return true;
}

// Takes `spare` bytes, which were just given back to the disk, for the segments after the head, or
// as much of them as it can get. An error is final.
Result<void> Journal::prepare_of(std::uint64_t spare) {
  const std::uint64_t last = prepared_.empty() ? 0 : prepared_.back().info.allocated;
  const bool lengthens = last != 0 && last < config_.segment_bytes;
  const std::uint64_t least = lengthens ? 0 : 2 * overhead();
  for (std::uint64_t lost = kSmallStep; lost + least < spare; lost *= 2) {
    const std::uint64_t bytes = spare - lost;
    auto done = lengthens
                    ? grow_prepared(prepared_.back(), std::min(config_.segment_bytes, last + bytes))
                    : prepare(bytes);
    if (done || !is_shortage(done.error())) return done;
  }
  return {};
}

// -- files that are written again

bool Journal::keep_file(const SegmentInfo& dropped, std::uint64_t enough, std::uint64_t largest) {
  std::uint64_t in_hand = room(largest);
  for (const SegmentInfo& kept : kept_) in_hand += room_in(kept.allocated, largest);
  // If segments are taken as needed, the journal holds no more than one step in advance. A small
  // segment is mostly its opening, so its room is in pieces too small for much.
  const std::uint64_t step = std::min(kStep, config_.segment_bytes / 4);
  if (in_hand >= enough + step || room_in(dropped.allocated, largest) < dropped.allocated / 2)
    return false;
  // A file from a time when segments were longer is not kept either.
  if (dropped.allocated > std::max(config_.segment_bytes, overhead() + 2 * largest + kSlack))
    return false;
  kept_.push_back(dropped);
  return true;
}

Result<void> Journal::reuse_file(std::uint64_t enough, std::uint64_t largest) {
  TARRY_ASSERT(!kept_.empty());
  const SegmentInfo old = kept_.front();
  kept_.pop_front();
  const std::string name = segment_name(old.number);
  const std::shared_ptr<storage::File> file = files_->get(old.number);
  files_->remove(old.number);
  const auto or_remove = [&](Error error) -> Result<void> {
    if (is_shortage(error)) return directory_->remove(name);
    return error;
  };
  // The room is already allocated, except in a copy of the store that has holes.
  if (auto whole = file->allocate(old.allocated); !whole) {
    return or_remove(std::move(whole).error());
  }
  // A segment that was only begun gives way to a longer one: pieces make more segments than needed.
  const bool replaces = !prepared_.empty() && prepared_.back().info.allocated < old.allocated &&
                        room(largest) + room_in(old.allocated, largest) >=
                            enough + room_in(prepared_.back().info.allocated, largest);
  const std::uint64_t number = next_segment_ - (replaces ? 1 : 0);
  // A name too may take room.
  if (auto done = directory_->rename(name, segment_name(number)); !done) {
    return or_remove(std::move(done).error());
  }
  if (replaces) {
    prepared_.pop_back();
    files_->remove(number);
  }
  next_segment_ = number;
  // A backup may have given the file a second name. The old name is gone by now, so no later second
  // name can matter.
  const auto shared = file->is_shared();
  if (!shared) return shared.error();
  if (*shared) return directory_->remove(segment_name(number));
  // Opened again, so that later errors name the file by its new name.
  auto again = directory_->open(segment_name(number), storage::OpenMode::read_write);
  if (!again && !is_shortage(again.error())) return std::move(again).error();
  return add_prepared(again ? std::move(*again) : file, old.allocated);
}

std::uint64_t Journal::disk_bytes() const noexcept {
  std::uint64_t sum = head_.allocated;
  for (const SegmentInfo& kept : kept_) sum += kept.allocated;
  for (const SegmentInfo& segment : closed_) sum += std::max(segment.allocated, segment.used);
  for (const Prepared& prepared : prepared_) sum += prepared.info.allocated;
  return sum;
}

Result<void> Journal::trim() {
  TARRY_ASSERT(open_.empty() && sealed_.empty());
  while (!prepared_.empty()) {
    const std::uint64_t number = prepared_.back().info.number;
    prepared_.pop_back();
    files_->remove(number);
    if (auto removed = directory_->remove(segment_name(number)); !removed) return removed;
  }
  while (!kept_.empty()) {
    const std::uint64_t number = kept_.front().number;
    kept_.pop_front();
    files_->remove(number);
    if (auto removed = directory_->remove(segment_name(number)); !removed) return removed;
  }
  if (head_.number != 0) {
    if (auto cut = head_file_->truncate(head_.used); !cut) return cut;
    if (auto synced = head_file_->sync_data(); !synced) return synced;
  }
  return directory_->sync();
}

}  // namespace tarry::embedded
