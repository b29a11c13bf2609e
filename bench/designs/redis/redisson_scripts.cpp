// S11: Redisson's RDelayedQueue by its own keys and scripts (redisson_queue.h), without its client.
// Instead of the client's timer, which fires when the head is due, it asks every 5 ms. Removal by
// value walks the whole LIST with LINDEX, as the client's script does.
#include <string>

#include "designs/openers.h"
#include "designs/redis/piped_client.h"
#include "designs/redis/redisson_queue.h"

namespace tarry::bench {
namespace {

class RedissonScripts final : public PipedClient {
 public:
  explicit RedissonScripts(const Place& place)
      : PipedClient(place, make_redisson_queue(place.redis_socket)), remove_(load(kRemove)) {}

  bool cancel(const Message& message) override {
    return number({"EVALSHA", remove_, "2", "redisson_delay_queue:{q}",
                   "redisson_delay_queue_timeout:{q}", message.payload}) == 1;
  }

 private:
  static constexpr std::string_view kRemove = R"lua(
for i = 0, redis.call('LLEN', KEYS[1]) - 1 do
  local entry = redis.call('LINDEX', KEYS[1], i)
  local id, value = struct.unpack('Bc0Lc0', entry)
  if value == ARGV[1] then
    redis.call('ZREM', KEYS[2], entry)
    redis.call('LREM', KEYS[1], 1, entry)
    return 1
  end
end
return 0
)lua";

  void rest(std::int64_t most_ms) override { sleep(5, most_ms); }

  const std::string remove_;
};

}  // namespace

Opened open_redisson_scripts(const Place& place, Role /*role*/) {
  return std::make_unique<RedissonScripts>(place);
}

}  // namespace tarry::bench
