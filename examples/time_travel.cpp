// A test of your own code need not wait: it moves the clock.
#include <tarry/store.h>

#include <iostream>

using namespace std::chrono_literals;

int main() {
  tarry::ManualClock clock;
  auto store = tarry::open("memory:", {.clock = clock});
  if (!store) return 1;
  tarry::Queue trials = store->queue("trials");
  auto pushed = trials.push({.key = "user:7", .payload = "trial ends", .due = tarry::in(31 * 24h)});

  clock.advance(31 * 24h - 1ms);
  auto early = trials.claim();
  clock.advance(1ms);
  auto due = trials.claim({.wait = 1s});

  const bool right = pushed && early && early->empty() && due && due->size() == 1;
  std::cout << (right ? "not a millisecond early\n" : "this should not happen\n");
  return right ? 0 : 1;
}
