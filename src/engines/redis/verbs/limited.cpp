#include "engines/redis/verbs/limited.h"

#include <utility>

namespace tarry::redis {
namespace {

Error too_many_shards(const std::string& queue, std::uint32_t shards) {
  return {ErrorCode::unsupported,
          "in a Redis Cluster only a queue with 1 shard can have limits (max_leased, rate), and "
          "queue " +
              queue + " has " + std::to_string(shards) +
              ": give it 1 shard first, without limits (tarry queue reshard " + queue + " 1)"};
}

}  // namespace

bool has_limits(const QueueSettings& settings) noexcept {
  return settings.max_leased != 0 || settings.rate != DeliveryRate();
}

bool sets_limits(const SettingsPatch& patch) noexcept {
  return patch.max_leased.value_or(0) != 0 || patch.rate.value_or(DeliveryRate()) != DeliveryRate();
}

std::optional<Error> refuse_shards(const Context& context, const QueuePlaces& queue) {
  if (context.directory.joins_partitions() || queue.is_in_one_slot()) return std::nullopt;
  if (queue.closed == 0) return too_many_shards(queue.name, queue.open());
  return Error{ErrorCode::unsupported,
               "in a Redis Cluster a queue whose shards are being changed cannot have limits "
               "(max_leased, rate): finish tarry queue reshard " +
                   queue.name + " " + std::to_string(queue.open()) + " first"};
}

void check_limits(Context& context, const std::string& queue, const SettingsPatch& patch,
                  base::UniqueFunction<void(std::optional<Error>)> done) {
  if (!sets_limits(patch)) return done(std::nullopt);
  if (auto error = context.identity.refuse_limits()) return done(std::move(error));
  if (context.directory.joins_partitions()) return done(std::nullopt);
  context.directory.find(
      queue, [&context, queue, done = std::move(done)](Result<QueuePtr> found) mutable {
        if (!found) return done(std::move(found).error());
        if (*found != nullptr) return done(refuse_shards(context, **found));
        const std::uint32_t shards = context.directory.new_shards();
        done(shards == 1 ? std::nullopt : std::optional(too_many_shards(queue, shards)));
      });
}

}  // namespace tarry::redis
