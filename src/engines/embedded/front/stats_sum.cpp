#include "engines/embedded/front/stats_sum.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "core/figures/queue_sums.h"

namespace tarry::embedded {
namespace {

void add(QueueStats& to, const QueueStats& from) {
  core::add_states(to, from);
  // A claim waits at every shard at once.
  to.waiting_claims = std::max(to.waiting_claims, from.waiting_claims);
  to.paused = to.paused || from.paused;
  if (!to.rate_next) to.rate_next = from.rate_next;
  core::add(to.counters, from.counters);
}

void add(CommitTimes::Step& to, const CommitTimes::Step& from) {
  for (std::size_t i = 0; i < to.counts.size(); ++i) to.counts[i] += from.counts[i];
  to.sum_seconds += from.sum_seconds;
}

}  // namespace

void sum_figures(Operation& op, bool durable) {
  auto& reply = std::get<StoreStats>(op.reply);
  std::map<std::string, QueueStats> queues;
  base::Histogram lateness;
  CommitTimes& times = reply.commit_times.emplace();
  for (ShardFigures& shard : op.figures) {
    for (QueueStats& stats : shard.queues) {
      const auto found = queues.find(stats.queue);
      if (found == queues.end()) {
        std::string name = stats.queue;
        queues.emplace(std::move(name), std::move(stats));
      } else {
        add(found->second, stats);
      }
    }
    if (shard.lateness) lateness.merge(*shard.lateness);
    reply.disk_bytes += shard.disk_bytes;
    reply.live_bytes += shard.live_bytes;
    reply.syncs += shard.syncs;
    add(times.gather, shard.commit_times.gather);
    add(times.sync, shard.commit_times.sync);
    add(times.answer, shard.commit_times.answer);
  }
  reply.engine = "embedded";
  reply.durable = durable;
  for (auto& [name, stats] : queues) reply.queues.push_back(std::move(stats));
  reply.lateness = {lateness.count(), static_cast<double>(lateness.percentile(50)),
                    static_cast<double>(lateness.percentile(99)),
                    static_cast<double>(lateness.percentile(99.9)),
                    static_cast<double>(lateness.max())};
  const auto& asked = std::get<core::StatsRequest>(op.request);
  if (!asked.queue.empty() && reply.queues.empty()) {
    op.error = Error{ErrorCode::not_found, "there is no queue " + asked.queue};
  }
}

}  // namespace tarry::embedded
