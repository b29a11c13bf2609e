// The program's own thread, which claims until it is told to stop.
#include <tarry/store.h>

#include <iostream>
#include <latch>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const auto store = tarry::open(argc > 1 ? argv[1] : "memory:");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  const tarry::Queue orders = store->queue("orders");
  std::latch handled(1);
  std::jthread consumer([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      // A request to stop ends the wait at once, with an empty list.
      const auto deliveries = orders.claim({.max = 10, .wait = 1h, .stop = stop});
      if (!deliveries) {
        std::cerr << deliveries.error().message << "\n";
        return;
      }
      for (const tarry::Delivery& delivery : *deliveries) {
        std::cout << delivery.key() << ": " << delivery.payload() << "\n";
        const auto acked = orders.ack(delivery.receipt());
        std::cout << (acked ? to_string(acked->outcome) : acked.error().message) << "\n";
        handled.count_down();
      }
    }
    std::cout << "stopped\n";
  });
  const auto pushed = orders.push({.key = "order:42", .payload = "a lamp", .due = tarry::in(50ms)});
  if (!pushed) {
    std::cerr << pushed.error().message << "\n";
    return 1;
  }
  handled.wait();
  return 0;  // the jthread asks its thread to stop, and waits for it
}
