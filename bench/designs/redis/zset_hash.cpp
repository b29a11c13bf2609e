// S10: a ZSET of ids by due time and a HASH of bodies. One script enqueues. Another one takes up to
// 100 due ids with their bodies, the latest due first, as in the source. The source polls at short
// intervals: 100 ms here.
#include <algorithm>
#include <string>

#include "designs/openers.h"
#include "designs/redis/redis_client.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class ZsetHash final : public RedisClient {
 public:
  explicit ZsetHash(const Place& place)
      : RedisClient(place), enqueue_(load(kEnqueue)), dequeue_(load(kDequeue)) {}

  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) {
      send({"EVALSHA", enqueue_, "2", kZset, kHash, message.key, std::to_string(message.due_ms),
            message.key, message.payload});
    }
    run();
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Taken>();
    fetch({"EVALSHA", dequeue_, "2", kZset, kHash, "0", std::to_string(now_ms()), "0",
           std::to_string(max)},
          taken->payloads);
    return taken;
  }
  bool cancel(const Message& message) override {
    const bool there = number({"ZREM", kZset, message.key}) == 1;
    return number({"HDEL", kHash, message.key}) == 1 && there;
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    return number({"ZADD", kZset, "XX", "CH", std::to_string(due_ms), message.key}) == 1;
  }

 private:
  static constexpr std::string_view kZset = "queue:zset";
  static constexpr std::string_view kHash = "queue:hash";
  static constexpr std::string_view kEnqueue = R"lua(
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
return nil
)lua";
  static constexpr std::string_view kDequeue = R"lua(
local status, type = next(redis.call('TYPE', KEYS[1]))
if status == 'ok' and type == 'zset' then
  local list = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[2], ARGV[1], 'LIMIT', ARGV[3], ARGV[4])
  if #list > 0 then
    redis.call('ZREM', KEYS[1], unpack(list))
    local result = redis.call('HMGET', KEYS[2], unpack(list))
    redis.call('HDEL', KEYS[2], unpack(list))
    return result
  end
end
return nil
)lua";

  void rest(std::int64_t most_ms) override { sleep(100, most_ms); }

  const std::string enqueue_;
  const std::string dequeue_;
};

}  // namespace

Opened open_zset_hash(const Place& place, Role /*role*/) {
  return std::make_unique<ZsetHash>(place);
}

}  // namespace tarry::bench
