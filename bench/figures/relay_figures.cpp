// F16: a relay that sends due messages to RabbitMQ, compared with a program that publishes the same
// messages by hand. Both publish persistent messages and wait for confirms, with equally many under
// way. The relay also claims each message from a store that syncs every change, and acks it there.
#ifdef TARRY_WITH_RABBITMQ

#include <fmt/format.h>

#include <atomic>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <tarry/store.h>

#include "designs/plain_publisher.h"
#include "figures/figures.h"
#include "figures/payloads.h"
#include "harness/must.h"
#include "harness/rabbit_host.h"
#include "harness/scratch.h"
#include "harness/wall.h"
#include "relay/relay.h"
#include "relay/sinks/rabbitmq/rabbit_sink.h"

namespace tarry::bench {
namespace {

constexpr Figure kF16{
    "F16",   "relay to RabbitMQ, persistent, confirmed, against publishing by hand",
    "ratio", Better::higher,
    0.8,     0.95};
constexpr std::uint64_t kUnconfirmed = 1'000;
constexpr const char* kQueue = "due";

// Notices when the last message is acked.
class Watched final : public relay::Sink {
 public:
  Watched(std::unique_ptr<relay::Sink> inner, std::uint64_t messages)
      : inner_(std::move(inner)), left_(messages) {}

  void send(std::vector<relay::Outgoing> batch) override {
    for (relay::Outgoing& outgoing : batch) {
      outgoing.done = [this, done = std::move(outgoing.done)](relay::Answer answer) mutable {
        must(answer.fate == relay::Fate::confirmed, "RabbitMQ confirms: " + answer.reason);
        done(std::move(answer));
        if (--left_ == 0) all_.set_value();
      };
    }
    inner_->send(std::move(batch));
  }
  void close() override { inner_->close(); }
  [[nodiscard]] std::string title() const override { return inner_->title(); }
  void wait() { all_.get_future().wait(); }

 private:
  std::unique_ptr<relay::Sink> inner_;
  std::atomic<std::uint64_t> left_;
  std::promise<void> all_;
};

double by_hand(const RabbitHost& host, std::uint64_t messages, const Payloads& payloads) {
  PlainPublisher publisher(host.port());
  publisher.make_queue(kQueue);
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < messages; ++i) {
    publisher.publish(kQueue, i, payloads(i));
    publisher.wait_until_unconfirmed(kUnconfirmed - 1);
  }
  publisher.wait_until_unconfirmed(0);
  const double seconds = watch.seconds();
  must(publisher.remove_queue(kQueue) == messages, "all of them are in the queue");
  return static_cast<double>(messages) / seconds;
}

void push_all(const Queue& queue, std::uint64_t messages, const Payloads& payloads) {
  constexpr std::uint64_t kBatch = 1'000;
  std::vector<Push> pushes;
  for (std::uint64_t i = 0; i < messages; ++i) {
    pushes.push_back({.payload = payloads(i)});
    if (pushes.size() < kBatch && i + 1 < messages) continue;
    must(queue.push(pushes), "messages are accepted");
    pushes.clear();
  }
}

double by_relay(Run& run, const RabbitHost& host, std::uint64_t messages,
                const Payloads& payloads) {
  PlainPublisher broker(host.port());
  broker.make_queue(kQueue);
  const Scratch scratch(run.directory());
  Store store = must(open("file:" + scratch.path()), "the store opens");
  const Queue queue = store.queue("orders");
  push_all(queue, messages, payloads);
  relay::RabbitOptions to;
  to.port = host.port();
  to.routing_key = kQueue;
  relay::RelayOptions options;
  options.queues = {"orders"};
  options.in_flight = kUnconfirmed;
  Watched sink(std::make_unique<relay::RabbitSink>(to), messages);
  relay::Relay relay(queue.engine(), sink, options, 1);
  std::stop_source stop;
  const Stopwatch watch;
  auto ended = std::async(std::launch::async, [&] { return relay.run(stop.get_token()); });
  sink.wait();
  stop.request_stop();
  must(ended.get(), "the relay ends well");  // the last messages are acked before it ends
  const double seconds = watch.seconds();
  must(relay.stats().acked == messages, "each is acked");
  must(broker.remove_queue(kQueue) == messages, "each is in RabbitMQ, once");
  return static_cast<double>(messages) / seconds;
}

}  // namespace

void measure_relay_to_rabbitmq(Run& run) {
  if (!RabbitHost::is_installed()) {
    run.note("F16 is left out: rabbitmq-server is not installed");
    return;
  }
  const std::uint64_t messages = run.scaled(100'000);
  const Payloads payloads(100);
  const RabbitHost host;
  (void)by_hand(host, messages / 10, payloads);  // warms up the broker
  std::vector<double> ratios;
  for (int round = 0; round < run.rounds(); ++round) {
    const double ours = by_relay(run, host, messages, payloads);
    const double theirs = by_hand(host, messages, payloads);
    run.note(fmt::format("relay {}k/s, by hand {}k/s", short_number(ours / 1e3),
                         short_number(theirs / 1e3)));
    ratios.push_back(ours / theirs);
  }
  run.add(kF16, median_of(ratios));
}

}  // namespace tarry::bench

#endif
