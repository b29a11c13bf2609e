#include "engines/rabbitmq/messages/link_thread.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/engine.h"

namespace tarry::rabbitmq {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{2'000};
constexpr milliseconds kGoodbye{1'000};

}  // namespace

LinkThread::LinkThread(net::RabbitAddress address, User& user)
    : address_(std::move(address)), user_(user) {}

Result<void> LinkThread::start(base::ThreadName name) {
  if (auto done = connect(); !done) return done;
  thread_ = base::start_thread(name, [this] {
    const core::EngineThreadScope scope;
    run();
    // The broker delivers this connection's messages to nobody else until the connection has ended.
    if (link_) link_->say_goodbye(kGoodbye);
    link_.reset();
  });
  return {};
}

bool LinkThread::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    tasks_.push_back(std::move(task));
  }
  wake_.set();
  return true;
}

void LinkThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.set();
  if (thread_.joinable()) thread_.join();
}

Result<void> LinkThread::connect() {
  auto link = std::make_unique<net::rabbit::RabbitLink>(address_);
  auto done = link->open(address_);
  if (done) {
    link_ = std::move(link);
    done = user_.connected(*link_);
    if (!done) link_.reset();
  }
  return done;
}

void LinkThread::drop(const Error& error) {
  away_ = {ErrorCode::unavailable, error.message};
  link_.reset();
  broken_.reset();
  pause_ = kFirstPause;
  try_at_ = steady_clock::now();
  user_.lost(away_);
}

void LinkThread::run_tasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Task& task : tasks) task();
}

void LinkThread::read_frames() {
  while (link_ && !broken_) {
    amqp_frame_t frame{};
    const auto came = link_->next(frame);
    if (!came) return drop(came.error());
    if (!*came) return;
    if (auto taken = user_.take(frame); !taken) return drop(taken.error());
  }
}

void LinkThread::run() {
  for (;;) {
    wake_.clear();
    run_tasks();
    read_frames();
    const SteadyTime now = steady_clock::now();
    SteadyTime next = user_.tick(now);
    if (broken_) drop(Error(*broken_));
    if (!link_ && now >= try_at_) {
      if (auto done = connect(); !done) {
        away_ = {ErrorCode::unavailable, done.error().message};
        pause_ = std::min(pause_ * 2, kLongestPause);
        try_at_ = steady_clock::now() + pause_;
      }
      continue;
    }
    if (!link_) next = std::min(next, try_at_);
    {
      const std::lock_guard lock(mutex_);
      if (!tasks_.empty()) continue;
      if (stopping_) return;
    }
    wait_until(next);
  }
}

void LinkThread::wait_until(SteadyTime time) {
  const auto left = std::chrono::ceil<milliseconds>(time - steady_clock::now());
  const auto ms = std::clamp<std::int64_t>(left.count(), 0, 1'000);
  std::array<pollfd, 2> waited{{{wake_.descriptor(), POLLIN, 0}, {-1, POLLIN, 0}}};
  if (link_) waited[1].fd = link_->socket();
  // If a signal ends the wait early, the loop merely looks once more.
  static_cast<void>(::poll(waited.data(), waited.size(), static_cast<int>(ms)));
}

}  // namespace tarry::rabbitmq
