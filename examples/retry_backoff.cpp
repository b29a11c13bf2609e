// Calls another company's service, which is sometimes down. Each retry waits longer than the last
// one. A message that cannot succeed becomes dead: look at it, and revive it.
#include <tarry/store.h>
#include <tarry/worker.h>

#include <atomic>
#include <iostream>

using namespace std::chrono_literals;

namespace {

// Stands for an HTTP client; returns the status of the answer.
int charge(std::string_view invoice, std::uint32_t attempt) {
  if (invoice == "invoice:bad") return 422;
  return attempt < 3 ? 503 : 200;
}

}  // namespace

int main(int argc, char** argv) {
  auto store = tarry::open(argc > 1 ? argv[1] : "memory:");
  if (!store) {
    std::cerr << store.error().message << "\n";
    return 1;
  }
  tarry::Queue charges = store->queue("charges");
  const auto settings = charges.configure(
      {.max_attempts = 5, .backoff_min = 20ms, .backoff_max = 1s, .remember = 24h});
  const auto good = charges.push({.key = "invoice:7", .payload = "12.50 EUR"});
  const auto bad = charges.push({.key = "invoice:bad", .payload = "no account"});
  if (!settings || !good || !bad) return 1;

  std::stop_source stop;
  std::atomic<int> ended = 0;
  tarry::Worker worker(charges, {}, [&](const tarry::Delivery& d, std::stop_token) {
    const int status = charge(d.key(), d.attempt());
    std::cout << d.key() << ", attempt " << d.attempt() << ": " << status << "\n";
    if (status >= 500) return tarry::retry();  // after the queue's backoff
    if (++ended == 2) stop.request_stop();
    if (status >= 400) return tarry::bury("refused with " + std::to_string(status));
    return tarry::ack();
  });
  if (!worker.run(stop.get_token())) return 1;

  const auto dead = charges.list({.state = tarry::State::dead});
  if (!dead) return 1;
  for (const tarry::MessageInfo& message : dead->messages) {
    std::cout << message.key << " is set aside: " << message.reason << "\n";
  }
  // `remember` keeps the keys of finished messages: the same invoice is not charged twice.
  const auto again = charges.push({.key = "invoice:7", .payload = "12.50 EUR"});
  if (again) std::cout << "invoice:7 once more: " << to_string(again->outcome) << "\n";
  return again ? 0 : 1;
}
