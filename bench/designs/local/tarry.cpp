// tarry by its public verbs, on the engine that the URL names: with leases, acks by receipt, and
// claims that wait.
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include <tarry/store.h>

#include "designs/openers.h"
#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr std::string_view kQueue = "bench";

class TarryDeliveries final : public Claimed {
 public:
  explicit TarryDeliveries(std::vector<Delivery> all) : deliveries(std::move(all)) {}
  std::size_t size() const override { return deliveries.size(); }
  std::string_view payload(std::size_t index) const override { return deliveries[index].payload(); }
  std::uint64_t proof() const override {
    std::uint64_t sum = 0;
    for (const Delivery& delivery : deliveries) sum += proof_of(delivery.payload());
    return sum;
  }
  std::vector<Delivery> deliveries;
};

class TarryCompared final : public Compared {
 public:
  /// Without `lease` a claim lasts as long as the engine lets it.
  TarryCompared(const std::string& url, std::optional<Millis> lease, std::string_view queue)
      : store_(must(open(url), "open")), queue_(store_.queue(queue)), lease_(lease) {}

  void push(std::span<const Message> batch) override {
    std::vector<Push> pushes;
    pushes.reserve(batch.size());
    for (const Message& message : batch) {
      Push& push = pushes.emplace_back();
      push.key = message.key;
      push.payload = message.payload;
      push.due = Due::at(Time(Millis(message.due_ms)));
    }
    for (const auto& pushed : must(queue_.push(pushes), "push")) {
      must(pushed && pushed->outcome == Outcome::pushed, "each message is new");
    }
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override { return await(max, 0); }
  std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms) override {
    ClaimOptions options;
    options.max = static_cast<std::uint32_t>(max);
    options.lease = lease_;
    options.wait = Millis(most_ms);
    return std::make_unique<TarryDeliveries>(must(queue_.claim(options), "claim"));
  }
  void settle(const Claimed& claimed) override {
    std::vector<Settle> settles;
    for (const Delivery& each : static_cast<const TarryDeliveries&>(claimed).deliveries) {
      settles.emplace_back().receipt = each.receipt();
    }
    // An answer may be stale, because the lease ran out before. The driver counts that.
    (void)must(queue_.settle(settles), "settle");
  }
  bool cancel(const Message& message) override {
    const auto cancelled = queue_.cancel(message.key);
    return cancelled && cancelled->outcome == Outcome::cancelled;
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    const auto moved = queue_.reschedule(message.key, Due::at(Time(Millis(due_ms))));
    return moved && moved->outcome == Outcome::rescheduled;
  }

 private:
  void rest(std::int64_t /*most_ms*/) override {}

  Store store_;
  Queue queue_;
  std::optional<Millis> lease_;
};

}  // namespace

std::unique_ptr<Compared> open_tarry_embedded(const Place& place, Role /*role*/) {
  return std::make_unique<TarryCompared>("file:" + place.directory + "/tarry?sync=always",
                                         Millis(place.lease_ms), kQueue);
}

std::unique_ptr<Compared> open_tarry_on_redis(const Place& place, Role /*role*/) {
  return std::make_unique<TarryCompared>("redis+unix://" + place.redis_socket,
                                         Millis(place.lease_ms), kQueue);
}

// All measures share one broker, and a queue cannot be purged of messages that are still on the
// ladder. So each place has a queue of its own, named after its directory.
std::unique_ptr<Compared> open_tarry_on_rabbitmq(const Place& place, Role /*role*/) {
  return std::make_unique<TarryCompared>(
      "amqp://guest:guest@127.0.0.1:" + std::to_string(place.rabbit_port), std::nullopt,
      std::filesystem::path(place.directory).filename().string());
}

}  // namespace tarry::bench
