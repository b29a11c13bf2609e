// S7: key-expiry events as the wake-up, instead of polling. Each due time has a key of its own that
// expires then, beside S6's ZSET; a consumer that hears `expired` pops what is due. Redis sends the
// event when it notices that a key has expired, which may be later than the key's time. If no
// consumer listens, the event is lost, and its message is popped only with the next event.
#include <hiredis/hiredis.h>
#include <poll.h>

#include <string>

#include "designs/openers.h"
#include "designs/redis/lua_batch.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class KeyExpiry final : public LuaBatch {
 public:
  KeyExpiry(const Place& place, Role role) : LuaBatch(place) {
    if (role == Role::producer) return;
    events_ = redisConnectUnix(place.redis_socket.c_str());
    must(events_ != nullptr && events_->err == 0, "a connection for events");
    freeReplyObject(redisCommand(events_, "SUBSCRIBE __keyevent@0__:expired"));
  }
  ~KeyExpiry() override {
    if (events_ != nullptr) redisFree(events_);
  }
  KeyExpiry(const KeyExpiry&) = delete;
  KeyExpiry& operator=(const KeyExpiry&) = delete;

  void clear() override {
    LuaBatch::clear();
    (void)number({"CONFIG", "SET", "notify-keyspace-events", "Ex"});
  }
  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) {
      send({"ZADD", kBatchQueue, std::to_string(message.due_ms), message.payload});
      send_wake_up(message.due_ms);
    }
    run();
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    if (!LuaBatch::reschedule(message, due_ms)) return false;
    send_wake_up(due_ms);
    run();
    return true;
  }

 private:
  // Redis cannot set a key to expire at a time that has passed: it deletes the key, without an
  // event. So the key of a message that is already due expires one millisecond from now.
  void send_wake_up(std::int64_t due_ms) {
    const std::string at = std::to_string(std::max(due_ms, now_ms() + 1));
    send({"SET", "wake:" + at, "", "PXAT", at});
  }
  void rest(std::int64_t most_ms) override {
    pollfd event{events_->fd, POLLIN, 0};
    if (::poll(&event, 1, static_cast<int>(most_ms)) <= 0) return;
    must(redisBufferRead(events_) == REDIS_OK, "events come");
    for (void* reply = nullptr;;) {
      must(redisGetReplyFromReader(events_, &reply) == REDIS_OK, "events are read");
      if (reply == nullptr) return;
      freeReplyObject(reply);
    }
  }

  redisContext* events_ = nullptr;
};

}  // namespace

Opened open_key_expiry(const Place& place, Role role) {
  return std::make_unique<KeyExpiry>(place, role);
}

}  // namespace tarry::bench
