// LuaBatch: S6: one script reads up to `max` due tasks of a ZSET and removes them. S7's key expiry
// and S13's event processes use it too.
#pragma once

#include <string>

#include "designs/redis/redis_client.h"

namespace tarry::bench {

class LuaBatch : public RedisClient {
 public:
  explicit LuaBatch(const Place& place) : RedisClient(place), pop_(load(kPop)) {}

  void push(std::span<const Message> batch) override;
  std::unique_ptr<Claimed> claim(std::size_t max) override;
  bool cancel(const Message& message) override;
  bool reschedule(const Message& message, std::int64_t due_ms) override;

 protected:
  static constexpr std::string_view kBatchQueue = "delay_queue";

  /// S7: waits until the earliest task is due, but 100 ms at most, because an earlier task may
  /// come.
  void rest(std::int64_t most_ms) override;

 private:
  static constexpr std::string_view kPop = R"lua(
local tasks = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
if #tasks > 0 then redis.call('ZREM', KEYS[1], unpack(tasks)) end
return tasks
)lua";

  const std::string pop_;
};

}  // namespace tarry::bench
