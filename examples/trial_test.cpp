// How the code of a shop is tested: a store in memory, a clock moved by hand, the real worker.
#include <tarry/store.h>
#include <tarry/worker.h>

#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;

// -- what is tested

class Trials {
 public:
  explicit Trials(tarry::Queue queue) : queue_(std::move(queue)) {}

  bool begin(const std::string& user) { return push(user, "a week left", 24 * 24h); }

  // Handles every due message, then returns.
  std::vector<std::string> work() {
    std::vector<std::string> sent;
    for (;;) {
      const auto due = queue_.claim({.max = 100});
      if (!due || due->empty()) return sent;
      for (const tarry::Delivery& each : *due) {
        const std::string user(each.header("user").value_or(""));
        sent.push_back(user + ": " + std::string(each.payload()));
        if (each.payload() == "a week left") push(user, "over", 7 * 24h);
        if (!queue_.ack(each.receipt())) return sent;
      }
    }
  }

 private:
  bool push(const std::string& user, std::string_view what, tarry::Millis delay) {
    const auto pushed =
        queue_.push({.payload = what, .due = tarry::in(delay), .headers = {{"user", user}}});
    return pushed.has_value();
  }

  tarry::Queue queue_;
};

// -- the test

bool same(const std::vector<std::string>& said, const std::vector<std::string>& expected) {
  for (const std::string& line : said) std::cout << line << "\n";
  return said == expected;
}

int main() {
  tarry::ManualClock clock;
  auto store = tarry::open("memory:", {.clock = clock});
  if (!store) return 1;
  Trials trials(store->queue("trials"));
  bool good = trials.begin("ann");

  clock.advance(24 * 24h - 1ms);
  good = same(trials.work(), {}) && good;
  clock.advance(1ms);
  good = same(trials.work(), {"ann: a week left"}) && good;
  clock.advance(7 * 24h);
  good = same(trials.work(), {"ann: over"}) && good;
  clock.advance(365 * 24h);
  good = same(trials.work(), {}) && good;
  return good ? 0 : 1;
}
