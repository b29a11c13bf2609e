// One worker for the queues of a shop, each with its own handler; and a batch of pushes.
#include <tarry/store.h>
#include <tarry/worker.h>

#include <atomic>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  auto store = tarry::open(argc > 1 ? argv[1] : "memory:");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  const tarry::Queue orders = store->queue("orders");
  const tarry::Queue mails = store->queue("mails");
  const auto set = mails.configure({.max_attempts = 2, .backoff_min = 10ms, .backoff_max = 10ms});
  if (!set) return 1;

  // A batch is one request, however many messages it holds, and answers for each of them. The
  // views need to live until the call returns, no longer.
  std::vector<std::string> keys;
  for (int i = 1; i <= 100; ++i) keys.push_back("order:" + std::to_string(i));
  std::vector<tarry::Push> batch;
  for (const std::string& key : keys) batch.push_back({.key = key, .due = tarry::in(50ms)});
  const auto pushed = orders.push(batch);
  const auto mail = mails.push({.key = "mail:1", .payload = "your order was closed"});
  if (!pushed || !mail) return 1;
  for (const auto& each : *pushed) {
    if (!each) std::cerr << each.error().message << "\n";
  }

  std::stop_source stop;
  std::atomic<int> left = 102;  // 100 orders, and the mail twice
  const auto one_less = [&] {
    if (--left == 0) stop.request_stop();
  };
  tarry::Worker worker(
      {{orders,
        [&](const tarry::Delivery&, std::stop_token) {
          one_less();
          return tarry::ack();
        },
        {.concurrency = 4, .prefetch = 20}},
       {mails,
        [&](const tarry::Delivery&, std::stop_token) -> tarry::Verdict {
          one_less();
          throw std::runtime_error("no such mail server");  // a retry, after the queue's backoff
        },
        {.concurrency = 2, .drain = 30s}}},
      5);  // handlers at once, over both queues
  if (const auto ended = worker.run(stop.get_token()); !ended) {
    std::cerr << ended.error().message << "\n";
    return 1;
  }

  std::cout << "orders: " << worker.stats("orders")->acked << " acked\n";
  const auto of_mails = *worker.stats("mails");
  std::cout << "mails: " << of_mails.thrown << " failed, the last with: " << of_mails.last_error
            << "\n";
  const auto dead = mails.get("mail:1");
  std::cout << "mail:1 is " << (dead ? to_string(dead->state) : "gone") << "\n";
  return 0;
}
