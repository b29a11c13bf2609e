// LinkThread: a thread that owns one connection to the broker, connects again after a loss, and
// runs posted tasks.
//
// Invariants
//  1. The user is called on this thread, except for the first `connected`, which is called within
//     `start`. `lost` follows each `connected`, except when the thread ends.
//  2. Tasks run in the order in which they were posted, connected or not.
//  3. While the broker is away, the thread tries to connect after pauses that double from 100 ms to
//  2 s.
//
// Thread safety: `post` and `stop` from any thread; `link` on this thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <tarry/result.h>

#include "base/threads/thread.h"
#include "base/threads/wake_event.h"
#include "base/unique_function.h"
#include "net/rabbit/address.h"
#include "net/rabbit/link.h"

namespace tarry::rabbitmq {

using SteadyTime = std::chrono::steady_clock::time_point;

class LinkThread {
 public:
  class User {
   public:
    virtual ~User() = default;
    /// There is a new connection, on which the user opens its channels.
    [[nodiscard]] virtual Result<void> connected(net::rabbit::RabbitLink& link) = 0;
    /// A frame has arrived. An error ends the connection.
    [[nodiscard]] virtual Result<void> take(const amqp_frame_t& frame) = 0;
    virtual void lost(const Error& error) = 0;
    /// Does whatever is due by time, and returns when to be called again: within a second.
    virtual SteadyTime tick(SteadyTime now) = 0;
  };
  using Task = base::UniqueFunction<void()>;

  LinkThread(net::RabbitAddress address, User& user);
  ~LinkThread() { stop(); }
  LinkThread(const LinkThread&) = delete;
  LinkThread& operator=(const LinkThread&) = delete;

  /// Connects, and starts the thread. Once.
  [[nodiscard]] Result<void> start(base::ThreadName name);
  /// False if the thread is stopped; then the task does not run.
  bool post(Task task);
  /// Runs the posted tasks, and ends the thread. Idempotent. Not to be called on this thread.
  void stop();

  /// Null while the broker is away.
  [[nodiscard]] net::rabbit::RabbitLink* link() noexcept { return link_.get(); }
  /// Why it is away.
  [[nodiscard]] const Error& why_away() const noexcept { return away_; }
  /// Ends the connection; `lost` follows soon.
  void give_up(Error error) { broken_ = std::move(error); }

 private:
  void run();
  void run_tasks();
  void read_frames();
  void drop(const Error& error);
  [[nodiscard]] Result<void> connect();
  void wait_until(SteadyTime time);

  const net::RabbitAddress address_;
  User& user_;
  base::WakeEvent wake_;
  std::mutex mutex_;
  std::vector<Task> tasks_;
  bool stopping_ = false;
  std::thread thread_;

  std::unique_ptr<net::rabbit::RabbitLink> link_;
  std::optional<Error> broken_;
  Error away_{ErrorCode::unavailable, "not connected yet"};
  SteadyTime try_at_{};
  std::chrono::milliseconds pause_{0};
};

}  // namespace tarry::rabbitmq
