#include "server/session/deadline.h"

#include "server/session/connection.h"

namespace tarry::session {

void Deadline::arm() {
  armed_ = deadline_;
  timer_.expires_at(deadline_);
  timer_.async_wait(
      [this, owner = connection_.shared_from_this()](const boost::system::error_code& error) {
        if (!error) owner->guard([this] { on_timer(); });
      });
}

void Deadline::on_timer() {
  armed_ = Clock::time_point::max();
  if (deadline_ == Clock::time_point::max()) return;
  if (Clock::now() < deadline_) {
    arm();
  } else {
    connection_.on_deadline();
  }
}

}  // namespace tarry::session
