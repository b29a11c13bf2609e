// SinkThread: a sink that does all its work on one thread of its own. It hands messages to that
// thread, which calls the derived class; the derived class talks to the receiver.
//
// Thread safety: that of a Sink. Members marked `on the thread` need no lock.
//
// Invariants (under mutex_)
//  1. Until a message is answered, it is in arrived_, or the thread has it.
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
  /// The reason in the answer `down` for messages that were not sent when the sink was closed.
  static constexpr const char* kStopped = "the relay has stopped";

  /// The derived class must call `begin` at the end of its constructor, and `end` at the beginning
  /// of its destructor; after `end` the thread has ended.
  void begin();
  void end();
  [[nodiscard]] bool is_closed() const;

  /// Called from any thread. It must make the current `wait` return or, if none is running, the
  /// next one.
  virtual void wake() = 0;
  /// Called from any thread, once the sink is closed. It ends calls in which the thread is blocked.
  virtual void interrupt() {}

  /// Called on the thread. Waits until woken, or until there is something to do.
  virtual void wait() = 0;
  /// Called on the thread. Takes the messages that have arrived, and continues the sink's work.
  /// Must not wait.
  virtual void work(std::deque<Outgoing> arrived) = 0;
  /// Called on the thread. Answers all messages that the sink has, and the arrived ones. Called
  /// again for messages that arrive later.
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
