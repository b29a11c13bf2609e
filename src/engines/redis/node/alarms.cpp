#include "engines/redis/node/alarms.h"

#include <boost/asio/post.hpp>

namespace tarry::redis {

Alarms::Alarms(boost::asio::io_context& io, const timing::Clock* manual)
    : manual_(manual), timer_(io.get_executor()) {}

std::int64_t Alarms::now_us() const {
  if (manual_ != nullptr) return manual_->now().boottime_ms * 1000;
  return std::chrono::duration_cast<std::chrono::microseconds>(Steady::now().time_since_epoch())
      .count();
}

Alarms::Id Alarms::set(std::int64_t ms, Call call) {
  const Id id = ++last_;
  const std::int64_t at = now_us() + ms * 1000;
  calls_.emplace(std::pair(at, id), std::move(call));
  times_.emplace(id, at);
  arm();
  return id;
}

void Alarms::soon(Call call) {
  boost::asio::post(timer_.get_executor(), [this, call = std::move(call)]() mutable {
    if (!closed_) call();
  });
}

void Alarms::cancel(Id id) {
  const auto found = times_.find(id);
  if (found == times_.end()) return;
  calls_.erase(std::pair(found->second, id));
  times_.erase(found);
}

void Alarms::moved() { run_due(); }

void Alarms::close() {
  closed_ = true;
  calls_.clear();
  times_.clear();
  timer_.cancel();
}

void Alarms::arm() {
  if (manual_ != nullptr || closed_ || calls_.empty()) return;
  const std::int64_t first = calls_.begin()->first.first;
  if (armed_ != 0 && armed_ <= first) return;
  armed_ = first;
  timer_.expires_at(Steady::time_point(std::chrono::microseconds(first)));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    armed_ = 0;
    run_due();
  });
}

void Alarms::run_due() {
  // Runs only alarms that were set before. A call that sets another alarm must not keep this loop
  // running.
  const std::int64_t now = now_us();
  const Id newest = last_;
  while (!closed_ && !calls_.empty()) {
    auto first = calls_.begin();
    while (first != calls_.end() && first->first.first <= now && first->first.second > newest) {
      ++first;
    }
    if (first == calls_.end() || first->first.first > now) break;
    Call call = std::move(first->second);
    times_.erase(first->first.second);
    calls_.erase(first);
    call();
  }
  arm();
}

}  // namespace tarry::redis
