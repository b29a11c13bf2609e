#include "engines/redis/claims/loop_engine.h"

#include <future>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>

#include "base/assert.h"
#include "base/threads/thread.h"
#include "core/engine_parts/settle_first.h"
#include "core/rules/validation.h"

namespace tarry::redis {
namespace {

namespace asio = boost::asio;

// How long `close` waits for outstanding answers.
constexpr std::int64_t kCloseGraceMs = 5'000;

}  // namespace

LoopEngine::LoopEngine(MakeRedis make_redis, std::shared_ptr<timing::ManualClock> clock)
    : clock_(std::move(clock)),
      redis_(make_redis(io_)),
      server_(*redis_, clock_.get()),
      alarms_(io_, clock_.get()),
      steady_(io_, nullptr) {}

Result<void> LoopEngine::start() {
  thread_ = base::start_thread("tarry-redis", [this] {
    const core::EngineThreadScope scope;
    io_.run();
  });
  std::promise<Result<void>> started;
  asio::post(io_, [&] {
    open([&](Result<void> result) {
      if (result) follow_clock();
      started.set_value(std::move(result));
    });
  });
  return started.get_future().get();
}

void LoopEngine::follow_clock() {
  if (!clock_) return;
  clock_token_ = clock_->subscribe([this] {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    asio::post(io_, [this] {
      alarms_.moved();
      claims()->wake_all();
    });
  });
}

core::Ticket LoopEngine::submit(core::Request request, core::Completion completion) {
  if (core::settles_first(request)) {
    return core::submit_settle_first(std::move(request), std::move(completion),
                                     [this](core::Request part, core::Completion done) {
                                       return submit(std::move(part), std::move(done));
                                     });
  }
  const core::Ticket ticket = ++last_ticket_;
  auto error = core::check_request(request);
  if (!error) error = refusal_of(request);
  auto asked = std::make_shared<Asked>();
  asked->request = std::move(request);
  std::unique_lock lock(mutex_);
  if (closed_) {
    lock.unlock();
    answers_.post([completion = std::move(completion)]() mutable {
      completion(Error{ErrorCode::closed, "the store is closed"});
    });
    return ticket;
  }
  asio::post(io_, [this, ticket, asked = std::move(asked), error = std::move(error),
                   completion = std::move(completion)]() mutable {
    ++outstanding_;
    asked->completion = [this, asked = asked.get(),
                         completion = std::move(completion)](Result<core::Reply> reply) mutable {
      complete(*asked, std::move(completion), std::move(reply));
    };
    if (error) return asked->fail(std::move(*error));
    run(ticket, asked);
  });
  return ticket;
}

void LoopEngine::withdraw(core::Ticket ticket) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  asio::post(io_, [this, ticket] {
    if (!forget(ticket)) claims()->withdraw(ticket);
  });
}

void LoopEngine::close() {
  TARRY_ASSERT(thread_.get_id() != std::this_thread::get_id());
  std::call_once(close_once_, [this] {
    if (clock_token_) clock_->unsubscribe(*clock_token_);
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    if (!thread_.joinable()) return;  // the system could not start a thread
    asio::post(io_, [this] { begin_close(); });
    thread_.join();
  });
}

void LoopEngine::complete(const Asked& asked, core::Completion completion,
                          Result<core::Reply> reply) {
  if (reply) {
    if (auto* stats = std::get_if<StoreStats>(&*reply)) add_own(*stats);
    carried_out(asked.request);
    tell_watches(*reply);
  }
  completion(std::move(reply));
  --outstanding_;
  if (closing_) end_if_done();
}

// Figures about this process's own work on the store.
void LoopEngine::add_own(StoreStats& stats) {
  for (QueueStats& queue : stats.queues) queue.waiting_claims = claims()->waiting_at(queue.queue);
  const base::Histogram& lateness = claims()->lateness();
  stats.lateness = {lateness.count(), static_cast<double>(lateness.percentile(50)),
                    static_cast<double>(lateness.percentile(99)),
                    static_cast<double>(lateness.percentile(99.9)),
                    static_cast<double>(lateness.max())};
  stats.round_trips = server_.round_trips();
  stats.connections = server_.connections();
}

void LoopEngine::begin_close() {
  closing_ = true;
  if (WaitingClaims* waiting = claims()) waiting->close();
  steady_.set(kCloseGraceMs, [this] { redis_->close(); });  // this answers the remaining requests
  end_if_done();
}

void LoopEngine::end_if_done() {
  if (outstanding_ > 0) return;
  alarms_.close();
  steady_.close();
  redis_->close();
  guard_.reset();
}

}  // namespace tarry::redis
