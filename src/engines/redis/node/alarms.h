// Alarms: calls at a time to come. By the steady clock, with one timer for all; or, in tests, by a
// manual clock's BOOTTIME, when `moved` is called.
//
// Thread safety: none; on the io_context's thread, where the calls run too.
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

  /// `manual`: not null, the clock to go by.
  Alarms(boost::asio::io_context& io, const timing::Clock* manual);

  /// Calls no sooner than in `ms`, and never within this function.
  Id set(std::int64_t ms, Call call);
  /// Calls once everything that is ready on the io_context's thread has run; under any clock.
  void soon(Call call);
  /// 0, or an alarm that has run, is ignored.
  void cancel(Id id);
  /// The manual clock has been moved.
  void moved();
  /// The time of its clock, whose zero has no meaning.
  [[nodiscard]] std::int64_t now_us() const;
  /// No call runs any more.
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
  std::int64_t armed_ = 0;  // 0: not
  bool closed_ = false;
};

}  // namespace tarry::redis
