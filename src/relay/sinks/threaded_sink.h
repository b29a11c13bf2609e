// ThreadedSink: a sink that sends one message at a time on each of its threads. The derived class
// defines the sending, in a function that may block.
//
// Thread safety: that of a Sink.
//
// Invariants (under mutex_)
//  1. Until a message is answered, it is in waiting_ or one thread has it. It is answered once.
//  2. With one thread, messages are delivered in the order of `send`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "relay/sink.h"

namespace tarry::relay {

class ThreadedSink : public Sink {
 public:
  void send(std::vector<Outgoing> batch) final;
  void close() final;
  void abandon() final;

 protected:
  /// The derived class must call `begin` at the end of its constructor, and `end` at the beginning
  /// of its destructor.
  void begin(std::uint32_t threads);
  void end();

  /// Delivers one message; may block. Called from many threads at once.
  [[nodiscard]] virtual Answer deliver(const Outgoing& outgoing) = 0;
  /// Called when the sink is closed: deliveries in progress should end soon, and no further one may
  /// begin.
  virtual void interrupt() {}
  /// Called after `interrupt`: deliveries in progress must end at once.
  virtual void kill() {}

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Outgoing> waiting_;
  bool closed_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tarry::relay
