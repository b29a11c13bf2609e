#include "engines/redis/sweeper.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "engines/redis/parted.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// Of several processes' sweeps, spread: 0.8 to 1.2 s.
constexpr std::int64_t kSweepMs = 800;
constexpr std::int64_t kSweepSpreadMs = 400;
constexpr std::int64_t kShardsAtOnce = 100;
constexpr std::int64_t kTickSlice = 100;
constexpr int kTickRounds = 1'000;
constexpr std::size_t kWaitedAtOnce = 1'000;

}  // namespace

void Sweeper::start() {
  const std::int64_t spread = static_cast<std::int64_t>(random_() % kSweepSpreadMs);
  alarms_.set(kSweepMs + spread, [this] {
    sweep();
    start();
  });
}

// A queue that got other shards is learned by those whose calls the old ones refuse. Who waits
// without calling learns it here, also where the wake-up was lost.
void Sweeper::ask_for_reshards() {
  if (asking_) return;
  asking_ = true;
  RedisCommand get("HGET");
  get.key(partition_key(0, "store")).add("reshards");
  context_.server.command(std::move(get), [this](Result<RedisReply> reply) {
    asking_ = false;
    if (!reply) return;
    const std::int64_t now = reply->view().is_nil() ? 0 : reply->view().integer();
    if (std::exchange(reshards_, now) == now) return;
    context_.directory.clear();
    claims_.wake_all();
  });
}

// What is on its way to other shards becomes claimable although its mover was killed, also for who
// never waits.
void Sweeper::settle(const QueuePtr& queue) {
  if (!settling_.insert(queue->name).second) return;
  settle_held(context_, queue, [this, queue](Result<void> settled) {
    settling_.erase(queue->name);
    if (!settled && is_moved(settled.error())) context_.directory.forget(queue);
  });
}

void Sweeper::sweep() {
  ask_for_reshards();
  for (const QueuePtr& queue : context_.directory.moving()) settle(queue);
  // The shards of queues at which claims wait, by partition. A queue that is not known yet is
  // looked for by waking its claims.
  std::vector<std::vector<std::string>> waited(context_.directory.partitions());
  for (const std::string& queue : claims_.waited_queues()) {
    const QueuePtr places = context_.directory.known(queue);
    if (places == nullptr) {
      claims_.wake(queue);
      continue;
    }
    for (const Place& place : places->shards) {
      if (waited[place.partition].size() < kWaitedAtOnce) {
        waited[place.partition].push_back(place.name);
      }
    }
  }
  for (std::uint32_t partition = 0; partition < waited.size(); ++partition) {
    sweep_partition(partition, waited[partition]);
  }
}

void Sweeper::sweep_partition(std::uint32_t partition, const std::vector<std::string>& waited) {
  if (!sweeping_.insert(partition).second) return;  // its server has not answered the last one
  context_.server.run(
      Script::sweep,
      [this, partition, waited](RedisCommand& command) {
        command.add("3").key(partition_key(partition, "heads"));
        command.key(partition_key(partition, "agenda")).key(partition_key(partition, "in"));
        command.add(context_.server.time_argument());
        command.add(kShardsAtOnce);
        for (const std::string& name : waited) command.add(name);
      },
      [this, partition](Result<RedisReply> reply) {
        sweeping_.erase(partition);
        if (!reply) return failed(partition, "", reply.error());  // the next sweep comes
        succeeded(partition, "");
        const net::RedisView busy = reply->view()[0];
        bool still_troubled = false;
        const auto troubled = troubles_.find(partition);
        for (std::size_t i = 0; i < busy.size(); ++i) {
          still_troubled = still_troubled || (troubled != troubles_.end() &&
                                              troubled->second.shard_name == busy[i].text());
          tick(partition, std::string(busy[i].text()), kTickRounds);
        }
        // Another process had more luck with it.
        if (troubled != troubles_.end() && !still_troubled) {
          succeeded(partition, std::string(troubled->second.shard_name));
        }
        const net::RedisView ready = reply->view()[1];
        for (std::size_t i = 0; i < ready.size(); ++i) claims_.wake(queue_of(ready[i].text()));
        inbox_.swept(partition, reply->view()[2]);
      });
}

void Sweeper::tick(std::uint32_t partition, std::string shard_name, int rounds) {
  const std::string queue(queue_of(shard_name));
  std::uint32_t shard = 0;
  const char* end = shard_name.data() + shard_name.size();
  (void)std::from_chars(shard_name.data() + queue.size() + 1, end, shard);
  context_.directory.find(
      queue, [this, partition, shard, rounds,
              shard_name = std::move(shard_name)](Result<QueuePtr> places) mutable {
        if (!places) return failed(partition, shard_name, places.error());
        if (*places == nullptr) return;
        const Place* place = (*places)->find(shard);
        if (place == nullptr) return;
        context_.server.run_on(
            *place, Script::tick, [](RedisCommand& command) { command.add(kTickSlice); },
            [this, partition, rounds, places = *places,
             shard_name = std::move(shard_name)](Result<RedisReply> reply) mutable {
              if (!reply) {
                if (is_moved(reply.error())) {
                  (void)context_.directory.forget(places);
                  return;
                }
                return failed(partition, shard_name, reply.error());
              }
              succeeded(partition, shard_name);
              if (reply->view().integer() != 0 && rounds > 0) {
                tick(partition, std::move(shard_name), rounds - 1);
              }
            });
      });
}

void Sweeper::failed(std::uint32_t partition, const std::string& shard_name, const Error& error) {
  // A connection that broke, perhaps because we close: whether that lasts, the next sweep says.
  if (error.code == ErrorCode::closed || error.code == ErrorCode::unknown_outcome) return;
  const bool told = std::ranges::any_of(
      troubles_, [&](const auto& trouble) { return trouble.second.why == error.message; });
  troubles_[partition] = {shard_name, error.message};
  if (!told && log_) log_("the sweep fails, and what is due may be late: " + error.message);
}

void Sweeper::succeeded(std::uint32_t partition, const std::string& shard_name) {
  const auto troubled = troubles_.find(partition);
  if (troubled == troubles_.end() || troubled->second.shard_name != shard_name) return;
  troubles_.erase(troubled);
  if (troubles_.empty() && log_) log_("the sweep goes on");
}

}  // namespace tarry::redis
