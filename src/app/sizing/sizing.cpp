#include "app/sizing/sizing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/sizing/lateness_simulation.h"
#include "net/redis/protocol/redis_slot.h"

namespace tarry::app::sizing {
namespace {

constexpr double kMostBusy = 0.5;         // share of a core
constexpr double kMostFull = 0.5;         // share of a server's RAM
constexpr std::uint32_t kSlots = 16'384;  // slots of a Redis cluster
constexpr std::uint32_t kMostPartitions = 1'024;
constexpr std::uint32_t kMostShards = 256;
constexpr double kGoodCall = 16;  // with this many messages in a call, the call itself costs little
constexpr std::uint64_t kSeed = 1;
constexpr double kCallsOfALife = 3;  // push, claim, settle

// The busiest master's load, relative to the mean. Each master serves an equal range of slots, as
// `redis-cli --cluster create` divides them.
double skew_of(std::uint32_t partitions, std::uint32_t masters) {
  std::vector<std::uint32_t> on(masters);
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    const std::uint64_t slot = net::redis_slot("{" + std::to_string(partition) + "}");
    ++on[slot * masters / kSlots];
  }
  const double mean = static_cast<double>(partitions) / masters;
  return *std::ranges::max_element(on) / mean;
}

// The more partitions a store has, the less the masters' loads differ.
std::uint32_t partitions_for(std::uint32_t masters) {
  return std::clamp<std::uint32_t>(64 * masters, 16, kMostPartitions);
}

double messages_a_call(const Load& load, std::uint32_t shards) {
  return std::max(1.0, load.batch / shards);
}

double message_us(const Load& load, const Costs& costs, std::uint32_t shards) {
  const double calls = costs.call_us / messages_a_call(load, shards);
  return costs.server_us.of(load.payload) + calls;
}

void fill(const Load& load, const Costs& costs, Plan& plan) {
  plan.memory = load.pending * costs.memory.of(load.payload);
  plan.disk = load.pending * costs.disk.of(load.payload);
  plan.memory_busiest = plan.memory / plan.masters * plan.skew;
  plan.busy = load.rate * message_us(load, costs, plan.shards) / 1e6 / plan.masters * plan.skew;
  plan.client_cores = load.rate * costs.client_us / 1e6;
  plan.in = load.rate * costs.in.of(load.payload);
  plan.out = load.rate * costs.out.of(load.payload);
  plan.written = load.rate * costs.written.of(load.payload);
}

double lateness_of(const Load& load, const Costs& costs, const Plan& plan) {
  if (load.engine == Engine::file) return costs.lateness_p99_ms;
  const double here = load.rate / plan.masters * plan.skew;
  const double in_call = messages_a_call(load, plan.shards);
  const CallLoad calls{kCallsOfALife * here / in_call,
                       message_us(load, costs, plan.shards) * in_call / kCallsOfALife};
  return costs.lateness_p99_ms + simulate_calls(calls, kSeed).p99_ms;
}

std::string_view limit_of(const Load& load, const Plan& plan) {
  const double processor = plan.busy / kMostBusy;
  const double memory = plan.memory_busiest / (kMostFull * load.memory);
  if (std::max(processor, memory) <= 1) return {};
  return processor > memory ? "processor" : "memory";
}

Error too_much(const Load& load, std::string_view because, std::uint32_t most) {
  const std::string of(name_of(load.engine));
  return {ErrorCode::invalid_argument,
          "engine " + of + " takes this load on more than " + std::to_string(most) +
              (most == 1 ? " server" : " masters") + "; the limit is its " + std::string(because) +
              (load.engine == Engine::redis_cluster ? ": divide the queues among several stores"
                                                    : ": choose --engine redis-cluster")};
}

}  // namespace

Result<Plan> plan_of(const Load& load) {
  const Costs& costs = costs_of(load.engine);
  const std::uint32_t most = load.engine == Engine::redis_cluster ? kMostMasters : 1;
  Plan plan;
  plan.shards = static_cast<std::uint32_t>(
      std::clamp(std::floor(load.batch / kGoodCall), 1.0, static_cast<double>(kMostShards)));
  std::string_view because = "processor";
  for (plan.masters = 1; plan.masters <= most; ++plan.masters) {
    if (load.engine == Engine::redis_cluster) {
      plan.partitions = partitions_for(plan.masters);
      plan.skew = skew_of(plan.partitions, plan.masters);
    }
    fill(load, costs, plan);
    const std::string_view limit = limit_of(load, plan);
    if (limit.empty()) break;
    because = limit;
  }
  if (plan.masters > most) return too_much(load, because, most);
  plan.because = because;
  // As many queues as give each partition at least one shard.
  plan.queues = (plan.partitions + plan.shards - 1) / plan.shards;
  plan.restart_s =
      (load.engine == Engine::file ? load.pending : plan.memory_busiest) / costs.restart;
  plan.lateness_p99_ms = lateness_of(load, costs, plan);
  return plan;
}

}  // namespace tarry::app::sizing
