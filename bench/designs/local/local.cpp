#include "designs/local/local.h"

#include <chrono>
#include <utility>

#include "harness/wall.h"

namespace tarry::bench {

void Local::push(std::span<const Message> batch) {
  const std::scoped_lock lock(mutex_);
  const std::int64_t before = next_ms();
  for (const Message& message : batch) {
    add({message.due_ms, std::string(message.key), std::string(message.payload)});
  }
  if (next_ms() < before) changed_.notify_one();
}

std::unique_ptr<Claimed> Local::claim(std::size_t max) {
  auto taken = std::make_unique<Taken>();
  const std::scoped_lock lock(mutex_);
  take(now_ms(), max, *taken);
  return taken;
}

std::unique_ptr<Claimed> Local::await(std::size_t max, std::int64_t most_ms) {
  using Clock = std::chrono::system_clock;
  auto taken = std::make_unique<Taken>();
  const std::int64_t end = now_ms() + most_ms;
  std::unique_lock lock(mutex_);
  for (;;) {
    const std::int64_t now = now_ms();
    take(now, max, *taken);
    if (taken->size() > 0 || now >= end) return taken;
    const std::int64_t until = std::min(end, next_ms());
    changed_.wait_until(lock, Clock::time_point(std::chrono::milliseconds(until)));
  }
}

bool Local::cancel(const Message& message) {
  const std::scoped_lock lock(mutex_);
  LocalEntry gone;
  return remove(message.key, gone);
}

bool Local::reschedule(const Message& message, std::int64_t due_ms) {
  const std::scoped_lock lock(mutex_);
  LocalEntry moved;
  if (!remove(message.key, moved)) return false;
  moved.due_ms = due_ms;
  add(std::move(moved));
  changed_.notify_one();
  return true;
}

}  // namespace tarry::bench
