#include "engines/rabbitmq/ladder/topology.h"

#include <utility>

#include "engines/rabbitmq/ladder/names.h"

namespace tarry::rabbitmq {
namespace {

// By default, RabbitMQ 4 drops a message after 20 redeliveries.
constexpr std::int64_t kMostRedeliveries = 1'000'000'000;

// If a policy limits the queue's length, a full queue refuses pushes instead of dropping its oldest
// message.
Arguments kept(const Broker& broker) {
  if (!broker.quorum) return {{"x-queue-type", "classic"}, {"x-overflow", "reject-publish"}};
  return {{"x-queue-type", "quorum"},
          {"x-delivery-limit", kMostRedeliveries},
          {"x-overflow", "reject-publish"}};
}

Arguments handing_on(Arguments arguments, const Broker& broker, std::string_view exchange) {
  arguments.push_back({"x-dead-letter-exchange", std::string(exchange)});
  if (broker.quorum) arguments.push_back({"x-dead-letter-strategy", "at-least-once"});
  return arguments;
}

Arguments of_rung(const Ladder& ladder, int rung, const std::string& below, const Broker& broker) {
  Arguments arguments = handing_on(kept(broker), broker, below);
  arguments.push_back({"x-message-ttl", ladder.wait_ms(rung)});
  return arguments;
}

// If a policy sets message-ttl here, expired messages go to the dead instead of being deleted.
Arguments of_ready(const std::string& queue, const Broker& broker) {
  Arguments arguments = handing_on(kept(broker), broker, "");
  arguments.push_back({"x-dead-letter-routing-key", dead_name(queue)});
  return arguments;
}

Result<void> declare_rungs(Declarer& declarer, const Ladder& ladder, const Broker& broker) {
  std::string below(kReadyExchange);
  auto done = declarer.exchange(below);
  for (int rung = 0; done && rung < Ladder::kRungs; ++rung) {
    const std::string name = rung_name(ladder.base_ms(), rung);
    done = declarer.exchange(name);
    if (done) done = declarer.queue(name, of_rung(ladder, rung, below, broker));
    if (done) done = declarer.bind_queue(name, name, Ladder::pattern(rung, true));
    if (done) done = declarer.bind_exchange(below, name, Ladder::pattern(rung, false));
    below = name;
  }
  return done;
}

Result<void> all_or_nothing(Result<void> done, Declarer& declarer) {
  done ? declarer.keep() : declarer.undo();
  return done;
}

}  // namespace

Result<void> declare_ladder(Declarer& declarer, const Ladder& ladder, const Broker& broker) {
  return all_or_nothing(declare_rungs(declarer, ladder, broker), declarer);
}

Result<void> declare_queue(Declarer& declarer, const std::string& queue, const Broker& broker) {
  const std::string ready = ready_name(queue);
  auto done = declarer.queue(dead_name(queue), kept(broker));
  if (done) done = declarer.queue(ready, of_ready(queue, broker));
  if (done) done = declarer.bind_queue(ready, kReadyExchange, Ladder::pattern(queue));
  return all_or_nothing(std::move(done), declarer);
}

}  // namespace tarry::rabbitmq
