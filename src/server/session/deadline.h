// Deadline: when a connection has waited long enough. Setting a later deadline costs nothing,
// because the running timer checks the deadline when it fires.
//
// Thread safety: the server's thread only.
#pragma once

#include <algorithm>
#include <chrono>

#include <boost/asio/basic_waitable_timer.hpp>

#include <tarry/time.h>

#include "server/listening/socket.h"

namespace tarry::session {

class Connection;

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// The connection owns the deadline.
  Deadline(Connection& connection, const listening::Executor& executor)
      : connection_(connection), timer_(executor) {}

  /// After this time the connection's `on_deadline` is called, unless another deadline is set
  /// before.
  void set(Millis from_now, Clock::time_point latest = Clock::time_point::max()) {
    deadline_ = std::min(Clock::now() + from_now, latest);
    if (deadline_ < armed_) arm();
  }
  void clear() noexcept { deadline_ = Clock::time_point::max(); }
  /// The same as `clear`; also releases the connection.
  void end() {
    clear();
    timer_.cancel();
  }

 private:
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                  listening::Executor>;

  void arm();
  void on_timer();

  Connection& connection_;
  Timer timer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point armed_ = Clock::time_point::max();  // max: no wait is outstanding
};

}  // namespace tarry::session
