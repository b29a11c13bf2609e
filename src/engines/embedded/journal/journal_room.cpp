// The journal's room: reserved on the disk before anything is promised. Decides in which files the
// room lies, and which cleaned files are used again.
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
constexpr std::uint64_t kSlack = kBatchHeaderBytes + kBatchAlignment;
constexpr int kMaxGrowths = 100'000;  // bounds ensure_room: 100,000 segments of the least size

}  // namespace

std::uint64_t Journal::opening_bytes() const noexcept {
  return kSegmentHeaderBytes + kSlack + last_opening_bytes_;
}

// Bytes of a new segment before its first message, and some more in case the opening grows.
std::uint64_t Journal::overhead() const noexcept {
  return opening_bytes() + last_opening_bytes_ / 4 + 1024;
}

// A batch may end anywhere, and the next one needs its header.
std::uint64_t Journal::room_in_head(std::uint64_t largest) const noexcept {
  const std::uint64_t end = head_end() + 2 * kSlack + (resumed_ ? overhead() : 0) + largest;
  return head_.allocated > end ? head_.allocated - end : 0;
}

std::uint64_t Journal::room(std::uint64_t largest) const noexcept {
  return room_in_head(largest) + reserve_.room({overhead(), largest});
}

Result<void> Journal::grow_head(std::uint64_t to) {
  if (auto done = head_file_->allocate(to); !done) return done;
  head_.allocated = to;
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
  if (reserve_.empty() && head_.number != 0 && head_.allocated < most) {
    return grow_head(std::min(most, head_.allocated + whole(missing)));
  }
  if (!reserve_.empty() && reserve_.back().allocated < most) {
    return reserve_.lengthen(std::min(most, reserve_.back().allocated + whole(missing)));
  }
  // There is room for two of the largest records, because `room` subtracts one of them. Shorter
  // segments would be needed by the thousand.
  const std::uint64_t least = overhead() + 2 * largest + kSlack;
  const std::uint64_t size = std::max(least, std::min(most, whole(missing + overhead())));
  if (size > kMaxSegmentBytes) {
    return Unexpected(ErrorCode::too_large, "a record of " + std::to_string(largest) +
                                                " bytes does not fit into a segment");
  }
  return reserve_.prepare(size);
}

Result<void> Journal::ensure_room(std::uint64_t bytes, std::uint64_t largest, std::uint64_t reserve,
                                  std::uint64_t largest_of_reserve) {
  // A queue made after a segment was prepared lengthens that segment's opening.
  if (auto done = reserve_.fit(overhead()); !done) return done;
  const std::uint64_t wanted = bytes + reserve;
  const std::uint64_t longest = std::max(largest, largest_of_reserve);
  for (int i = 0; i < kMaxGrowths; ++i) {
    const std::uint64_t here = room(largest);
    const std::uint64_t have = room(largest_of_reserve);
    if (here >= bytes && have >= wanted && (head_.number != 0 || !reserve_.empty())) return {};
    const std::uint64_t missing =
        std::max(bytes - std::min(here, bytes), wanted - std::min(have, wanted)) + longest;
    // The journal grows in long steps, so that it grows rarely. If a long step does not fit on the
    // disk, it takes no more than it needs.
    auto grown = grow(missing, longest, std::min(kStep, config_.segment_bytes));
    if (!grown && grown.error().code == ErrorCode::no_space) {
      grown = grow(missing, longest, kSmallStep);
    }
    if (!grown) return grown;
  }
  return Unexpected(ErrorCode::no_space,
                    "the journal cannot reserve " + std::to_string(wanted) + " bytes");
}

Result<bool> Journal::close_head(std::uint64_t least, std::uint64_t enough) {
  forget_written();
  if (head_.number == 0 || !open_.empty() || unwritten_.oldest() != nullptr) return false;
  if (!reserve_.empty() && reserve_.front().allocated < overhead()) return false;
  if (!reserve_.empty() && reserve_.room({overhead(), largest_put_}) >= enough) {
    roll();
    return true;
  }
  const std::uint64_t spare = (head_.allocated - head_.used) / kSmallStep * kSmallStep;
  // Bytes that may be lost to the last pages of the two files and to the file system's metadata.
  constexpr std::uint64_t kLost = 4 * kSmallStep;
  const SegmentLoss loss{overhead(), 0};
  const std::uint64_t opening = reserve_.empty() ? overhead() : 0;
  if (spare + reserve_.room(loss) < opening + least + kLost) return false;
  if (reserve_.empty() && spare < opening + kLost) return false;

  std::unique_lock<std::shared_mutex> alone;
  if (config_.disk_room) alone = std::unique_lock(*config_.disk_room);
  const std::uint64_t before = head_.allocated;
  if (auto cut = head_file_->truncate(head_.used); !cut) return std::move(cut).error();
  head_.allocated = head_.used;
  if (auto moved = reserve_.take_over(spare, overhead()); !moved) return std::move(moved).error();
  if (reserve_.empty() || reserve_.room(loss) < least) {
    // Another program has taken the room, or no file could be opened. The head gets back as much as
    // it can.
    for (std::uint64_t step = spare; step >= kSmallStep && head_.allocated < before; step /= 2) {
      static_cast<void>(grow_head(std::min(before, head_.allocated + step)));
    }
    return false;
  }
  roll();
  return true;
}

// -- files that are written again

bool Journal::keep_file(const SegmentInfo& dropped, std::uint64_t enough, std::uint64_t largest) {
  const SegmentLoss loss{overhead(), largest};
  const std::uint64_t in_hand = room(largest) + reserve_.kept_room(loss);
  // The journal keeps no more than one step of room in advance. A small segment consists mostly of
  // its opening, so it would add little room.
  const std::uint64_t step = std::min(kStep, config_.segment_bytes / 4);
  if (in_hand >= enough + step || loss.room_of(dropped.allocated) < dropped.allocated / 2)
    return false;
  // A file is not kept either if it is longer than segments are now.
  if (dropped.allocated > std::max(config_.segment_bytes, overhead() + 2 * largest + kSlack))
    return false;
  reserve_.keep(dropped);
  return true;
}

Result<void> Journal::reuse_file(std::uint64_t enough, std::uint64_t largest) {
  return reserve_.reuse({overhead(), largest}, room_in_head(largest), enough);
}

std::uint64_t Journal::disk_bytes() const noexcept {
  std::uint64_t sum = head_.allocated + reserve_.disk_bytes();
  for (const SegmentInfo& segment : closed_) sum += std::max(segment.allocated, segment.used);
  return sum;
}

Result<void> Journal::trim() {
  TARRY_ASSERT(open_.empty() && unwritten_.all_taken());
  if (auto removed = reserve_.remove_all(); !removed) return removed;
  if (head_.number != 0) {
    if (auto cut = head_file_->truncate(head_.used); !cut) return cut;
    if (auto synced = head_file_->sync_data(); !synced) return synced;
  }
  return directory_->sync();
}

}  // namespace tarry::embedded
