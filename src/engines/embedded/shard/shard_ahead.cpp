// Shard: reads records ahead, so that a claim need not wait for them: as many as two claims like
// the last one take, within limits, as file systems do for sequential reads. One claim's worth is
// read while the other is claimed.
#include <algorithm>
#include <utility>

#include "engines/embedded/reading/record_runs.h"
#include "engines/embedded/shard/shard.h"

namespace tarry::embedded {
namespace {

// Per queue and call. A claim of one message also has this many read ahead: waking the committer
// for each message would cost more than it saves.
constexpr std::size_t kLeastAheadOfQueue = 64;
constexpr std::size_t kMostAheadOfQueue = 1024;
// For all queues, including the gaps between records, which are read too.
constexpr std::uint64_t kMostBytesAhead = 2 << 20;

}  // namespace

void Shard::note_claimed(QueueId id, std::size_t count) {
  if (count == 0) return;
  QueueState& queue = context_.state.queue(id);
  queue.read_ahead -= std::min(queue.read_ahead, count);
  if (queue.most_claimed == 0) claimed_.push_back(id);
  queue.most_claimed = std::max(queue.most_claimed, count);
}

std::vector<RecordPlace> Shard::look_ahead() {
  std::vector<RecordPlace> places;
  std::uint64_t bytes = 0;
  for (const QueueId id : claimed_) {
    QueueState& queue = context_.state.queue(id);
    const std::size_t wanted =
        std::clamp(2 * std::exchange(queue.most_claimed, 0), kLeastAheadOfQueue, kMostAheadOfQueue);
    if (queue.read_ahead > wanted / 2 || bytes > kMostBytesAhead) continue;
    const Handle first = queue.lanes.first();
    if (first == kNoHandle || !context_.journal.is_only_on_disk(
                                  context_.journal.place(context_.state.slab[first].position))) {
      queue.read_ahead = 0;
      continue;
    }
    queue.lanes.visit_behind(queue.read_ahead, [&](Handle handle) {
      const RecordPlace place = context_.journal.place(context_.state.slab[handle].position);
      bytes += place.position.size() + RecordRuns::kGap;
      if (bytes > kMostBytesAhead) return false;
      if (context_.journal.is_only_on_disk(place)) places.push_back(place);
      return ++queue.read_ahead < wanted;
    });
  }
  claimed_.clear();
  return places;
}

}  // namespace tarry::embedded
