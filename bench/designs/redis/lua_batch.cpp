#include "designs/redis/lua_batch.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "designs/openers.h"
#include "harness/wall.h"

namespace tarry::bench {

void LuaBatch::push(std::span<const Message> batch) {
  for (const Message& message : batch) {
    send({"ZADD", kBatchQueue, std::to_string(message.due_ms), message.payload});
  }
  run();
}

std::unique_ptr<Claimed> LuaBatch::claim(std::size_t max) {
  auto taken = std::make_unique<Taken>();
  fetch({"EVALSHA", pop_, "1", kBatchQueue, std::to_string(now_ms()), std::to_string(max)},
        taken->payloads);
  return taken;
}

bool LuaBatch::cancel(const Message& message) {
  return number({"ZREM", kBatchQueue, message.payload}) == 1;
}

bool LuaBatch::reschedule(const Message& message, std::int64_t due_ms) {
  return number({"ZADD", kBatchQueue, "XX", "CH", std::to_string(due_ms), message.payload}) == 1;
}

void LuaBatch::rest(std::int64_t most_ms) {
  constexpr std::int64_t kMostMs = 100;
  std::vector<std::string> head;
  fetch({"ZRANGE", kBatchQueue, "0", "0", "WITHSCORES"}, head);
  const std::int64_t until = head.size() < 2 ? kMostMs : std::atoll(head[1].c_str()) - now_ms();
  sleep(std::clamp<std::int64_t>(until, 1, kMostMs), most_ms);
}

Opened open_lua_batch(const Place& place, Role /*role*/) {
  return std::make_unique<LuaBatch>(place);
}

}  // namespace tarry::bench
