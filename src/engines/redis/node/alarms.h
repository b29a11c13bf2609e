// Alarms: functions to be called at a later time. The time is the steady clock's; one timer serves
// all alarms. Or, in tests, it is a manual clock's BOOTTIME; then `moved` calls the functions.
//
// Thread safety: none; on the io_context's thread. The calls run on that thread too.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/unique_function.h"
#include "timing/clock.h"

namespace tarry::redis {

class Alarms {
 public:
  using Call = base::UniqueFunction<void()>;
  /// 0 names no alarm.
  using Id = std::uint64_t;

  /// `manual`: if not null, used instead of the steady clock.
  Alarms(boost::asio::io_context& io, const timing::Clock* manual);

  /// Runs `call` after at least `ms` milliseconds, and never before this function has returned.
  Id set(std::int64_t ms, Call call);
  /// Runs `call` after everything that is ready on the io_context's thread, whatever the clock.
  void soon(Call call);
  /// Ignores 0 and alarms that have run.
  void cancel(Id id);
  /// Call `moved` when the manual clock has been moved.
  void moved();
  /// The time of the alarms' clock. Its zero has no meaning.
  [[nodiscard]] std::int64_t now_us() const;
  /// From now on no call runs.
  void close();

 private:
  using Steady = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Steady, boost::asio::wait_traits<Steady>,
                                                  boost::asio::io_context::executor_type>;

  void arm();
  void run_due();

  const timing::Clock* manual_;
  Timer timer_;
  std::map<std::pair<std::int64_t, Id>, Call> calls_;  // by microseconds
  std::map<Id, std::int64_t> times_;
  Id last_ = 0;
  std::int64_t armed_ = 0;  // 0: the timer is not set
  bool closed_ = false;
};

}  // namespace tarry::redis
