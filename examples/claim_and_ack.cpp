// The smallest program: push, claim, ack.
#include <tarry/store.h>

#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const auto store = tarry::open(argc > 1 ? argv[1] : "memory:");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  const tarry::Queue orders = store->queue("orders");
  const auto pushed = orders.push({.key = "order:42", .payload = "a lamp", .due = tarry::in(50ms)});
  if (!pushed) {
    std::cerr << pushed.error().message << "\n";
    return 1;
  }

  // Waits until a message falls due; after ten seconds the answer is empty.
  const auto deliveries = orders.claim({.max = 10, .lease = 30s, .wait = 10s});
  if (!deliveries) {
    std::cerr << deliveries.error().message << "\n";
    return 1;
  }
  for (const tarry::Delivery& delivery : *deliveries) {
    std::cout << delivery.key() << ": " << delivery.payload() << "\n";
    // Until this answers `done`, the message may be delivered again: its lease can run out.
    const auto acked = orders.ack(delivery.receipt());
    std::cout << (acked ? to_string(acked->outcome) : acked.error().message) << "\n";
  }
  return 0;
}
