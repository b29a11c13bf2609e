#include "engines/remote/lent_loop.h"

#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

#include "core/engine.h"

namespace tarry::remote {
namespace {

// How long the own thread rests after the last caller. A caller that asks one thing after the other
// comes again sooner, and two wake-ups more do not matter to any other.
constexpr std::chrono::milliseconds kRest{50};

}  // namespace

void LentLoop::start(base::ThreadName name) {
  thread_ = base::start_thread(name, [this] {
    const core::EngineThreadScope scope;
    run();
  });
}

void LentLoop::post(Task task) {
  const std::lock_guard lock(mutex_);
  boost::asio::post(io_, [this, task = std::move(task)]() mutable {
    ++ran_;
    task();
  });
  ++posted_;
  if (runner_ == Runner::none) want_own_thread();
}

void LentLoop::want_own_thread() {
  wanted_ = true;
  changed_.notify_one();
}

bool LentLoop::take() {
  const std::lock_guard lock(mutex_);
  callers_come_ = true;
  if (runner_ != Runner::none || wanted_) return false;
  runner_ = Runner::lender;
  return true;
}

void LentLoop::lend(const bool& done) noexcept {
  {
    const core::EngineThreadScope scope(core::EngineThreadScope::Thread::lent);
    while (!done && io_.run_one() != 0) {
    }
  }
  const std::lock_guard lock(mutex_);
  runner_ = Runner::none;
  if (io_.stopped() || !may_leave()) want_own_thread();
}

bool LentLoop::may_leave() const { return posted_ == ran_ && is_idle_(); }

void LentLoop::run() {
  while (run_until_idle()) wait_for_work();
}

// Returns false if the io_context has no work left. The own thread rests only if callers come who
// may run the loop themselves.
bool LentLoop::run_until_idle() {
  while (io_.run_one() != 0) {
    if (!callers_come_ || !is_idle_() || io_.stopped()) continue;
    const std::lock_guard lock(mutex_);
    if (!may_leave()) continue;
    runner_ = Runner::none;
    return true;
  }
  return false;
}

void LentLoop::wait_for_work() {
  std::unique_lock lock(mutex_);
  do {
    callers_come_ = false;
    changed_.wait_for(lock, kRest, [this] { return wanted_; });
  } while (!wanted_ && (callers_come_ || runner_ != Runner::none));
  wanted_ = false;
  runner_ = Runner::own;
}

}  // namespace tarry::remote
