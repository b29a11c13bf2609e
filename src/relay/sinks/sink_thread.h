// SinkThread: a sink that does all its work on one thread of its own. It hands messages to that
// thread, and there calls the derived class, which talks to the receiver.
//
// Thread safety: as a Sink's. Members marked `on the thread` need no lock.
//
// Invariants (under mutex_)
//  1. A message is in arrived_, or the thread has it, until it is answered.
//  2. After `close` the thread calls `stop`, and `work` never again.
#pragma once

#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "relay/sink.h"

namespace tarry::relay {

class SinkThread : public Sink {
 public:
  void send(std::vector<Outgoing> batch) final;
  void close() final;

 protected:
  /// Why unsent messages are `down` once the sink is closed.
  static constexpr const char* kStopped = "the relay has stopped";

  /// The derived class must call `begin` at the end of its constructor, and `end` at the beginning
  /// of its destructor; after `end` the thread has ended.
  void begin();
  void end();
  [[nodiscard]] bool is_closed() const;

  /// From any thread: the `wait` that runs returns, or the next one.
  virtual void wake() = 0;
  /// From any thread, once the sink is closed: ends calls in which the thread is blocked.
  virtual void interrupt() {}

  /// On the thread: until woken, or until there is something to do.
  virtual void wait() = 0;
  /// On the thread: takes the messages that have arrived, and continues its work. Must not wait.
  virtual void work(std::deque<Outgoing> arrived) = 0;
  /// On the thread: answers all messages that it has, and the arrived ones. Called once more for
  /// messages that arrive after that.
  virtual void stop(std::deque<Outgoing> arrived) = 0;

 private:
  void run();

  mutable std::mutex mutex_;
  std::deque<Outgoing> arrived_;
  bool closed_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tarry::relay
