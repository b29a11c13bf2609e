// The smallest program of a user: push a message, claim it, ack it.
#include <tarry/store.h>

#include <chrono>
#include <cstdio>

int main() {
  using namespace std::chrono_literals;
  auto store = tarry::open("memory:");
  if (!store) {
    std::fprintf(stderr, "open: %s\n", store.error().message.c_str());
    return 1;
  }
  const tarry::Queue orders = store->queue("orders");
  const auto pushed = orders.push({.key = "order:42", .payload = "hello", .due = tarry::in(20ms)});
  if (!pushed) {
    std::fprintf(stderr, "push: %s\n", pushed.error().message.c_str());
    return 1;
  }
  const auto claimed = orders.claim({.wait = 30s});
  if (!claimed || claimed->size() != 1 || claimed->front().payload() != "hello") {
    std::fprintf(stderr, "claim: not the message that was pushed\n");
    return 1;
  }
  const auto acked = orders.ack(claimed->front().receipt());
  if (!acked || acked->outcome != tarry::Outcome::done) {
    std::fprintf(stderr, "ack: not done\n");
    return 1;
  }
  std::puts("claimed order:42");
  return 0;
}
