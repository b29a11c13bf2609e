// S8: a ZSET for each hour of due time, so that none grows large. Another ZSET lists the hours that
// have one: scripts read the earliest hour, and remove a past hour that is empty. A removal has to
// know the hour, and so the due time. Consumers wait as in S6 and S7.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "designs/openers.h"
#include "designs/redis/redis_client.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class HourlyZsets final : public RedisClient {
 public:
  explicit HourlyZsets(const Place& place)
      : RedisClient(place), add_(load(kAdd)), pop_(load(kPop)), head_(load(kHead)) {}

  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) add(message.payload, message.due_ms);
    run();
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Taken>();
    const std::int64_t now = now_ms();
    fetch({"EVALSHA", pop_, "1", kHours, std::to_string(now), std::to_string(max),
           std::to_string(now / kHourMs)},
          taken->payloads);
    return taken;
  }
  bool cancel(const Message& message) override {
    return number({"ZREM", zset_of(message.due_ms), message.payload}) == 1;
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    if (!cancel(message)) return false;
    add(message.payload, due_ms);
    run();
    return true;
  }

 private:
  static constexpr std::string_view kHours = "hours";
  static constexpr std::string_view kAdd = R"lua(
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[3])
)lua";
  static constexpr std::string_view kPop = R"lua(
for _, hour in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])) do
  local zset = 'hour:' .. hour
  local tasks = redis.call('ZRANGEBYSCORE', zset, '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
  if #tasks > 0 then
    redis.call('ZREM', zset, unpack(tasks))
    return tasks
  end
  if tonumber(hour) < tonumber(ARGV[3]) then redis.call('ZREM', KEYS[1], hour) end
end
return {}
)lua";
  static constexpr std::string_view kHead = R"lua(
for _, hour in ipairs(redis.call('ZRANGE', KEYS[1], 0, 1)) do
  local head = redis.call('ZRANGE', 'hour:' .. hour, 0, 0, 'WITHSCORES')
  if #head > 0 then return head[2] end
end
return ''
)lua";

  static std::string zset_of(std::int64_t due_ms) {
    return "hour:" + std::to_string(due_ms / kHourMs);
  }
  void add(std::string_view payload, std::int64_t due_ms) {
    send({"EVALSHA", add_, "2", kHours, zset_of(due_ms), std::to_string(due_ms / kHourMs),
          std::to_string(due_ms), payload});
  }
  void rest(std::int64_t most_ms) override {
    constexpr std::int64_t kMostMs = 100;
    std::vector<std::string> head;
    fetch({"EVALSHA", head_, "1", kHours}, head);
    const std::int64_t until = head.empty() ? kMostMs : std::atoll(head[0].c_str()) - now_ms();
    sleep(std::clamp<std::int64_t>(until, 1, kMostMs), most_ms);
  }

  const std::string add_;
  const std::string pop_;
  const std::string head_;
};

}  // namespace

Opened open_hourly_zsets(const Place& place, Role /*role*/) {
  return std::make_unique<HourlyZsets>(place);
}

}  // namespace tarry::bench
