// Design (e) of FIGURES: S10 with the smallest change that delivers at least once. A claim moves
// its messages to a ZSET of leases, an ack removes them there, and each poll moves back messages
// whose leases have run out.
#include <string>

#include "designs/openers.h"
#include "designs/redis/piped_client.h"
#include "designs/redis_zset_hash.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class LeasedZsetHash final : public PipedClient {
 public:
  explicit LeasedZsetHash(const Place& place)
      : PipedClient(place, make_redis_zset_hash(place.redis_socket, place.lease_ms)),
        give_back_(load(kGiveBack)) {}

  std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms) override {
    (void)number({"EVALSHA", give_back_, "2", "q:leases", "q:due", std::to_string(now_ms())});
    return PipedClient::await(max, most_ms);
  }
  bool cancel(const Message& message) override {
    const bool there = number({"ZREM", "q:due", message.key}) == 1;
    return there && number({"HDEL", "q:bodies", message.key}) == 1;
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    return number({"ZADD", "q:due", "XX", "CH", std::to_string(due_ms), message.key}) == 1;
  }

 private:
  static constexpr std::string_view kGiveBack = R"lua(
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1000)
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[2], ARGV[1], id)
  redis.call('ZREM', KEYS[1], id)
end
return #ids
)lua";

  void rest(std::int64_t most_ms) override {
    sleep(100, most_ms);
    (void)number({"EVALSHA", give_back_, "2", "q:leases", "q:due", std::to_string(now_ms())});
  }

  const std::string give_back_;
};

}  // namespace

Opened open_leased_zset_hash(const Place& place, Role /*role*/) {
  return std::make_unique<LeasedZsetHash>(place);
}

}  // namespace tarry::bench
