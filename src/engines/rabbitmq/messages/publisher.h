// Publisher: publishes messages, and reports for each whether the broker has stored it. It has a
// connection of its own, because a broker that is short of memory stops reading from connections
// that publish, and claimed messages must still be settled then.
//
// Invariants
//  1. Each message's `done` runs once: on the publisher's thread or, after `close`, on the thread
//     that closes.
//  2. `done` gets no error only if the broker has confirmed the message and routed it to a queue.
//     After `unknown_outcome` the message may be stored; after any other error it is not.
//  3. At most kMostUnconfirmed messages, or one larger than kMostBytes, are unconfirmed at once. So
//     the thread hears that a broker has stopped reading before a write to it would block.
//
// Thread safety: any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tarry/log.h>
#include <tarry/result.h>

#include "engines/rabbitmq/ladder/broker.h"
#include "engines/rabbitmq/ladder/declarer.h"
#include "engines/rabbitmq/ladder/ladder.h"
#include "engines/rabbitmq/messages/link_thread.h"
#include "engines/rabbitmq/messages/message.h"
#include "timing/real_clock.h"

namespace tarry::rabbitmq {

struct Outgoing {
  Message message;
  bool dead = false;  // goes to the dead messages; else it is claimed when it is due
  base::UniqueFunction<void(Result<void>)> done;
};

class Publisher final : private LinkThread::User {
 public:
  Publisher(net::RabbitAddress address, Ladder ladder, Queues wanted, Log log);
  ~Publisher() override { close(); }

  /// Connects, and declares the ladder.
  [[nodiscard]] Result<void> start();
  [[nodiscard]] const Broker& broker() const noexcept { return broker_; }

  void publish(std::vector<Outgoing> messages);
  /// Waits up to 5 s for confirms. Idempotent.
  void close();

 private:
  struct Route {
    std::string exchange;  // empty: the key is the queue's name
    std::string key;
  };
  struct Sent {
    Outgoing out;
    Route route;
    SteadyTime end;  // the broker must have confirmed it by then
    std::string returned;
  };

  Result<void> connected(net::rabbit::RabbitLink& link) override;
  Result<void> take(const amqp_frame_t& frame) override;
  void lost(const Error& error) override;
  SteadyTime tick(SteadyTime now) override;

  void add(std::vector<Outgoing> messages);
  void send_some();
  [[nodiscard]] Result<void> ensure(const std::string& queue);
  /// Properties must fit into one frame. Larger ones would end the connection within a message.
  [[nodiscard]] Result<void> check_room(const MessageProperties& properties);
  [[nodiscard]] Route route_of(const Outgoing& out) const;
  [[nodiscard]] int send(const Route& route, const Message& message,
                         const MessageProperties& properties);
  Result<void> take_method(const amqp_frame_t& frame);
  void take_returned(const amqp_frame_t& frame);
  void confirm(std::uint64_t tag, bool multiple, bool taken);
  Result<void> reopen(const std::string& why);
  void fail_waiting(const Error& error);
  void fail_sent(const Error& error);
  void finish(Outgoing& out, Result<void> how);

  const net::RabbitAddress address_;
  const Ladder ladder_;
  const Queues wanted_;
  const Log log_;
  const timing::RealClock clock_;
  Broker broker_;
  bool told_ = false;

  std::optional<Declarer> declarer_;
  std::set<std::string> there_;             // queues that this connection has declared
  std::map<std::string, Error> not_there_;  // cleared at each tick
  std::deque<Outgoing> waiting_;
  std::map<std::uint64_t, Sent> sent_;  // by tag
  std::uint64_t last_tag_ = 0;
  std::size_t bytes_ = 0;  // of sent_
  std::string scratch_;
  std::optional<std::string>
      returning_;  // why; set until the properties of the returned message arrive
  std::optional<std::string> blocked_;  // why
  SteadyTime blocked_at_{};

  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t outstanding_ = 0;  // guarded by mutex_
  LinkThread thread_;
};

}  // namespace tarry::rabbitmq
