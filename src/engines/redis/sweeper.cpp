#include "engines/redis/sweeper.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "engines/redis/records/told_time.h"
#include "engines/redis/verbs/parted.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// The time between sweeps is 0.8 to 1.2 s. It is random, because several processes sweep.
constexpr std::int64_t kSweepMs = 800;
constexpr std::int64_t kSweepSpreadMs = 400;

constexpr std::int64_t kShardsAtOnce = 100;
constexpr std::int64_t kTickSlice = 100;
constexpr int kTickRounds = 1'000;
constexpr std::size_t kWaitedAtOnce = 1'000;

// Nothing for a name that another program put there.
std::optional<std::uint32_t> shard_in(std::string_view shard_name) noexcept {
  const std::size_t slash = shard_name.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = shard_name.substr(slash + 1);
  const char* end = digits.data() + digits.size();
  std::uint32_t shard = 0;
  const auto read = std::from_chars(digits.data(), end, shard);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return shard;
}

}  // namespace

void Sweeper::start() {
  const std::int64_t spread = static_cast<std::int64_t>(random_() % kSweepSpreadMs);
  alarms_.set(kSweepMs + spread, [this] {
    sweep();
    start();
  });
}

// A process learns of a reshard when the old shards refuse its calls. A process that waits without
// calls learns it here, even if the wake-up was lost.
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

// Held messages become claimable although their mover was killed, even for a process that never
// waits.
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
  std::vector<Waited> waited(context_.directory.partitions());
  for (const std::string& queue : claims_.waited_queues()) {
    const QueuePtr places = context_.directory.known(queue);
    if (places == nullptr) {
      claims_.wake(queue);
      continue;
    }
    for (const Place& place : places->shards) {
      waited[place.partition].names.push_back(place.name);
    }
  }
  for (std::uint32_t partition = 0; partition < waited.size(); ++partition) {
    sweep_partition(partition, std::move(waited[partition]));
  }
}

void Sweeper::sweep_partition(std::uint32_t partition, Waited waited) {
  if (!sweeping_.insert(partition).second) return;  // the server has not answered the last sweep
  ask_for_slice(partition, std::move(waited));
}

// Asks for one slice of the shards at which claims wait, and then for the next one. The first call
// also asks for the agenda.
void Sweeper::ask_for_slice(std::uint32_t partition, Waited waited) {
  const bool is_first = waited.asked == 0;
  const auto in_vain = in_vain_.find(partition);
  const std::size_t passed_over = in_vain == in_vain_.end() ? 0 : in_vain->second;
  const std::size_t end = std::min(waited.names.size(), waited.asked + kWaitedAtOnce);
  const auto all = std::make_shared<Waited>(std::move(waited));
  context_.server.run(
      Script::sweep,
      [this, partition, all, end, is_first, passed_over](RedisCommand& command) {
        command.add("3").key(partition_key(partition, "heads"));
        command.key(partition_key(partition, "agenda")).key(partition_key(partition, "in"));
        command.add(context_.server.time_argument());
        command.add(is_first ? kShardsAtOnce : 0).add(static_cast<std::int64_t>(passed_over));
        for (std::size_t i = all->asked; i < end; ++i) command.add(all->names[i]);
      },
      [this, partition, all, end, is_first, passed_over](Result<RedisReply> reply) {
        if (!reply) {
          sweeping_.erase(partition);
          return failed(partition, "", reply.error());  // the next sweep tries again
        }
        context_.server.clock().told(told_time(reply->view()[3]));
        if (is_first) {
          succeeded(partition, "");
          tick_all(partition, reply->view()[0], passed_over);
          inbox_.swept(partition, reply->view()[2]);
        }
        const net::RedisView ready = reply->view()[1];
        for (std::size_t i = 0; i < ready.size(); ++i) claims_.wake(queue_of(ready[i].text()));
        all->asked = end;
        if (end < all->names.size()) return ask_for_slice(partition, std::move(*all));
        sweeping_.erase(partition);
      });
}

// Shards for which nothing can be done (their queue does not exist, their keys are not ours) stay
// at the agenda's head for ever. The next sweep skips a whole slice of them, until it reaches the
// end of the agenda.
void Sweeper::tick_all(std::uint32_t partition, net::RedisView busy, std::size_t passed_over) {
  if (std::cmp_less(busy.size(), kShardsAtOnce)) {
    in_vain_.erase(partition);
  } else {
    in_vain_.try_emplace(partition, 0);
  }
  bool still_troubled = passed_over > 0;  // the troubled shard may be one of those that were
                                          // skipped
  const auto troubled = troubles_.find(partition);
  for (std::size_t i = 0; i < busy.size(); ++i) {
    still_troubled = still_troubled ||
                     (troubled != troubles_.end() && troubled->second.shard_name == busy[i].text());
    tick(partition, std::string(busy[i].text()), kTickRounds);
  }
  // Another process has done the work of the troubled shard.
  if (troubled != troubles_.end() && !still_troubled) {
    succeeded(partition, std::string(troubled->second.shard_name));
  }
}

void Sweeper::tick(std::uint32_t partition, std::string shard_name, int rounds) {
  const std::string queue(queue_of(shard_name));
  const std::optional<std::uint32_t> shard = shard_in(shard_name);
  if (!shard) return was_in_vain(partition);
  context_.directory.find(
      queue, [this, partition, shard = *shard, rounds,
              shard_name = std::move(shard_name)](Result<QueuePtr> places) mutable {
        if (!places) return failed(partition, shard_name, places.error());
        const Place* place = *places == nullptr ? nullptr : (*places)->find(shard);
        if (place == nullptr) return was_in_vain(partition);
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

void Sweeper::was_in_vain(std::uint32_t partition) {
  const auto counted = in_vain_.find(partition);
  if (counted != in_vain_.end()) ++counted->second;
}

void Sweeper::failed(std::uint32_t partition, const std::string& shard_name, const Error& error) {
  if (!shard_name.empty()) was_in_vain(partition);
  // The connection broke, perhaps because the engine closes. If it stays broken, the next sweep
  // reports that.
  if (error.code == ErrorCode::closed || error.code == ErrorCode::unknown_outcome) return;
  const bool told = std::ranges::any_of(
      troubles_, [&](const auto& trouble) { return trouble.second.why == error.message; });
  troubles_[partition] = {shard_name, error.message};
  if (!told && log_) {
    log_({LogLevel::warning, "sweep_fails",
          "the sweep fails, and due messages may be late: " + error.message});
  }
}

void Sweeper::succeeded(std::uint32_t partition, const std::string& shard_name) {
  const auto troubled = troubles_.find(partition);
  if (troubled == troubles_.end() || troubled->second.shard_name != shard_name) return;
  troubles_.erase(troubled);
  if (troubles_.empty() && log_) {
    log_({LogLevel::info, "sweep_goes_on", "the sweep works again"});
  }
}

}  // namespace tarry::redis
