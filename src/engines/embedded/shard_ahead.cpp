// Shard: what is read ahead, so that a claim need not wait for it: as much as the last claim took,
// as file systems do for who reads on and on.
#include <algorithm>

#include "engines/embedded/shard.h"

namespace tarry::embedded {
namespace {

// Of one queue, at once. A claim of one message has this many read ahead too: waking the committer
// for each would cost more than it spares.
constexpr std::size_t kLeastAhead = 64;
constexpr std::size_t kMostAhead = 1024;
constexpr std::uint64_t kMostBytesAhead = 512 << 10;

}  // namespace

void Shard::note_claimed(QueueId queue, std::size_t count) {
  if (count == 0) return;
  std::size_t& ahead = state_->queue(queue).read_ahead;
  ahead -= std::min(ahead, count);
  for (Claimed& claimed : claimed_) {
    if (claimed.queue != queue) continue;
    claimed.most = std::max(claimed.most, count);
    return;
  }
  claimed_.push_back({queue, count});
}

std::vector<RecordPlace> Shard::look_ahead() {
  std::vector<RecordPlace> places;
  std::uint64_t bytes = 0;
  for (const Claimed& claimed : claimed_) {
    QueueState& queue = state_->queue(claimed.queue);
    const std::size_t wanted = std::clamp(claimed.most, kLeastAhead, kMostAhead);
    if (queue.read_ahead > wanted / 2 || bytes > kMostBytesAhead) continue;
    const Handle first = queue.lanes.first();
    if (first == kNoHandle || !journal_->is_only_on_disk(place_of(state_->slab[first]))) {
      queue.read_ahead = 0;
      continue;
    }
    const auto note = [&](Handle handle) {
      const RecordPlace place = place_of(state_->slab[handle]);
      bytes += place.position.size();
      if (bytes <= kMostBytesAhead && journal_->is_only_on_disk(place)) places.push_back(place);
    };
    queue.read_ahead += queue.lanes.visit_behind(queue.read_ahead, wanted - queue.read_ahead, note);
  }
  claimed_.clear();
  return places;
}

}  // namespace tarry::embedded
