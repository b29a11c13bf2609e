// A LIST alone (named by S6's document, which says why not): a LIST cannot sort by time, so the
// consumer reads all of it and selects the due tasks itself. LREM = 1 claims a task, and also walks
// the list. A task is its due time and the payload.
#include <cstdlib>
#include <string>
#include <vector>

#include "designs/openers.h"
#include "designs/redis/redis_client.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class ListAlone final : public RedisClient {
 public:
  using RedisClient::RedisClient;

  void push(std::span<const Message> batch) override {
    for (const Message& message : batch) send({"RPUSH", kTasks, task(message, message.due_ms)});
    run();
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override {
    std::vector<std::string> all;
    fetch({"LRANGE", kTasks, "0", "-1"}, all);
    auto taken = std::make_unique<Taken>();
    const std::int64_t now = now_ms();
    std::size_t asked = 0;
    for (const std::string& task : all) {
      if (std::atoll(task.c_str()) > now) continue;
      if (asked++ == max) break;
      send({"LREM", kTasks, "1", task}, [&taken, &task](const redisReply& reply) {
        if (reply.integer == 1) taken->payloads.push_back(task.substr(task.find(':') + 1));
      });
    }
    run();
    return taken;
  }
  bool cancel(const Message& message) override {
    return number({"LREM", kTasks, "1", task(message, message.due_ms)}) == 1;
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    if (!cancel(message)) return false;
    return number({"RPUSH", kTasks, task(message, due_ms)}) > 0;
  }

 private:
  static constexpr std::string_view kTasks = "tasks";

  static std::string task(const Message& message, std::int64_t due_ms) {
    return std::to_string(due_ms).append(":").append(message.payload);
  }
  void rest(std::int64_t most_ms) override { sleep(100, most_ms); }
};

}  // namespace

Opened open_list_alone(const Place& place, Role /*role*/) {
  return std::make_unique<ListAlone>(place);
}

}  // namespace tarry::bench
