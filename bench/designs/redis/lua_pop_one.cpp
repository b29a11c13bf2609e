// S3: scan threads. Each pops the earliest due task with a script, and sleeps for 100 ms if there
// is none. Here eight threads ask at the same time, in one write.
#include <algorithm>
#include <string>

#include "designs/openers.h"
#include "designs/redis/redis_client.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class LuaPopOne final : public RedisClient {
 public:
  explicit LuaPopOne(const Place& place) : RedisClient(place), pop_(load(kPop)) {}

  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) {
      send({"ZADD", kQueue, std::to_string(message.due_ms), message.payload});
    }
    run();
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Taken>();
    const std::string now = std::to_string(now_ms());
    for (std::size_t i = 0; i < std::min(max, kThreads); ++i) {
      send({"EVALSHA", pop_, "1", kQueue, now},
           [&](const redisReply& reply) { add_texts(reply, taken->payloads); });
    }
    run();
    return taken;
  }
  bool cancel(const Message& message) override {
    return number({"ZREM", kQueue, message.payload}) == 1;
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    return number({"ZADD", kQueue, "XX", "CH", std::to_string(due_ms), message.payload}) == 1;
  }

 private:
  static constexpr std::string_view kQueue = "delayqueue";
  static constexpr std::size_t kThreads = 8;
  static constexpr std::string_view kPop = R"lua(
local items = redis.call('zrangebyscore', KEYS[1], 0, ARGV[1], 'limit', 0, 1)
if #items == 0 then return '' end
redis.call('zremrangebyrank', KEYS[1], 0, 0)
return items[1]
)lua";

  void rest(std::int64_t most_ms) override { sleep(100, most_ms); }

  const std::string pop_;
};

}  // namespace

Opened open_lua_pop_one(const Place& place, Role /*role*/) {
  return std::make_unique<LuaPopOne>(place);
}

}  // namespace tarry::bench
