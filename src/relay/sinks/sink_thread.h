// SinkThread: a sink that does all its work on one thread of its own. It hands what is sent to that
// thread, and there calls what derives from it, which talks to the receiver.
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
  /// Why what was not sent is `down`, once the sink is closed.
  static constexpr const char* kStopped = "the relay has stopped";

  /// To be called by what derives from it: `begin` at the end of its constructor, `end` at the
  /// beginning of its destructor: after it the thread has ended.
  void begin();
  void end();
  [[nodiscard]] bool is_closed() const;

  /// From any thread: the `wait` that runs returns, or the next one.
  virtual void wake() = 0;
  /// From any thread, once the sink is closed: ends what blocks the thread elsewhere.
  virtual void interrupt() {}

  /// On the thread: until woken, or until there is something to do.
  virtual void wait() = 0;
  /// On the thread: takes what has arrived, and goes on with what it has. Must not wait.
  virtual void work(std::deque<Outgoing> arrived) = 0;
  /// On the thread: answers all it has, and what has arrived. Once more for what comes after it.
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
