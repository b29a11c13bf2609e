// Closes orders that were not paid in time.
#include <tarry/store.h>
#include <tarry/worker.h>

#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  auto store = tarry::open(argc > 1 ? argv[1] : "file:orders-store");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  tarry::Queue orders = store->queue("orders");

  auto lamp = orders.push({.key = "order:42", .payload = "a lamp", .due = tarry::in(30min)});
  auto kettle = orders.push({.key = "order:43", .payload = "a kettle", .due = tarry::in(200ms)});
  if (!lamp || !kettle) return 1;

  auto moved = orders.reschedule("order:42", tarry::in(1h));  // the customer asked for more time
  auto paid = orders.cancel("order:42");                      // and then paid
  if (moved && paid) std::cout << "order:42 " << to_string(paid->outcome) << "\n";

  std::stop_source stop;
  tarry::Worker worker(orders, {.concurrency = 4}, [&](const tarry::Delivery& d, std::stop_token) {
    std::cout << "closing " << d.key() << ": " << d.payload() << "\n" << std::flush;
    stop.request_stop();  // one is enough for an example
    return tarry::ack();  // or tarry::retry(10s), or tarry::bury("no such order")
  });
  return worker.run(stop.get_token()) ? 0 : 1;
}
