#include "engines/embedded/shard/claims/read_ahead.h"

#include <algorithm>
#include <utility>

#include "engines/embedded/reading/record_runs.h"

namespace tarry::embedded {
namespace {

// Records per queue and call. Even after a claim of one message this many are read ahead: waking
// the committer for each message would cost more than it saves.
constexpr std::size_t kLeastAheadOfQueue = 64;
constexpr std::size_t kMostAheadOfQueue = 1024;
// For all queues together. This includes the gaps between records, which are read too.
constexpr std::uint64_t kMostBytesAhead = 2 << 20;

}  // namespace

void ReadAhead::note_claimed(QueueId id, std::size_t count) {
  if (count == 0) return;
  QueueState& queue = state_->queue(id);
  queue.read_ahead -= std::min(queue.read_ahead, count);
  if (queue.most_claimed == 0) claimed_.push_back(id);
  queue.most_claimed = std::max(queue.most_claimed, count);
}

std::vector<RecordPlace> ReadAhead::look() {
  std::vector<RecordPlace> places;
  std::uint64_t bytes = 0;
  for (const QueueId id : claimed_) {
    QueueState& queue = state_->queue(id);
    const std::size_t wanted =
        std::clamp(2 * std::exchange(queue.most_claimed, 0), kLeastAheadOfQueue, kMostAheadOfQueue);
    if (queue.read_ahead > wanted / 2 || bytes > kMostBytesAhead) continue;
    const Handle first = queue.lanes.first();
    if (first == kNoHandle ||
        !journal_->is_only_on_disk(journal_->place(state_->slab[first].position))) {
      queue.read_ahead = 0;
      continue;
    }
    queue.lanes.visit_behind(queue.read_ahead, [&](Handle handle) {
      const RecordPlace place = journal_->place(state_->slab[handle].position);
      bytes += place.position.size() + RecordRuns::kGap;
      if (bytes > kMostBytesAhead) return false;
      if (journal_->is_only_on_disk(place)) places.push_back(place);
      return ++queue.read_ahead < wanted;
    });
  }
  claimed_.clear();
  return places;
}

}  // namespace tarry::embedded
