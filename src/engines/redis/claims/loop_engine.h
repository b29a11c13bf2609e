// LoopEngine: the base of the engine on Redis and of the layouts' engine. All work is done on one
// thread, which runs one io_context. This class accepts requests on any thread, counts outstanding
// requests, follows the test clock, and closes in order.
//
// Thread safety: any thread may call the public functions. The protected functions, and all
// functions that a derived class overrides, run on the engine's thread only, unless they say
// otherwise.
//
// Invariants
//  1. Each completion runs once. After `close` it runs with `closed`, on a thread of its own.
//  2. Nothing is posted to the engine's thread after `close` has posted the end.
//  3. The engine's thread ends when the last answer has been given. `close` waits 5 s for that.
//     Then it closes the connection to Redis, which answers the remaining requests.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "core/engine.h"
#include "core/engine_parts/answer_thread.h"
#include "engines/redis/claims/waiting_claims.h"
#include "engines/redis/node/alarms.h"
#include "engines/redis/node/server.h"
#include "engines/redis/verbs/asked.h"
#include "net/redis/redis.h"
#include "timing/manual_clock.h"

namespace tarry::redis {

class LoopEngine : public core::Engine {
 public:
  /// Starts the engine's thread, which connects to Redis and opens the store. Returns when that is
  /// done. Call once, before any other function.
  [[nodiscard]] Result<void> start();

  core::Ticket submit(core::Request request, core::Completion completion) final;
  void withdraw(core::Ticket ticket) final;
  void close() final;

 protected:
  using Started = base::UniqueFunction<void(Result<void>)>;
  using MakeRedis = base::UniqueFunction<std::unique_ptr<net::Redis>(boost::asio::io_context& io)>;

  /// `clock`: not null in tests; then used instead of Redis's time. A derived class must close the
  /// engine in its destructor.
  LoopEngine(MakeRedis make_redis, std::shared_ptr<timing::ManualClock> clock);

  /// Opens the store and calls `done` once. After a success `claims()` is not null.
  virtual void open(Started done) = 0;
  [[nodiscard]] virtual WaitingClaims* claims() noexcept = 0;
  /// The reason why the store cannot carry out such a request, if there is one. Any thread.
  [[nodiscard]] virtual std::optional<Error> refusal_of(const core::Request& /*request*/) const {
    return std::nullopt;
  }
  /// Sees to it that the request is completed.
  virtual void run(core::Ticket ticket, const AskedPtr& asked) = 0;
  /// Ends the wait of a claim that only the derived class knows. False if there is no such claim.
  [[nodiscard]] virtual bool forget(core::Ticket /*ticket*/) { return false; }
  /// Called when the request has been carried out, before its completion.
  virtual void carried_out(const core::Request& /*request*/) {}

  [[nodiscard]] net::Redis& redis() noexcept { return *redis_; }
  [[nodiscard]] Server& server() noexcept { return server_; }
  [[nodiscard]] Alarms& alarms() noexcept { return alarms_; }
  /// Alarms by the steady clock, even in tests.
  [[nodiscard]] Alarms& steady() noexcept { return steady_; }

 private:
  void complete(const Asked& asked, core::Completion completion, Result<core::Reply> reply);
  void add_own(StoreStats& stats);
  void follow_clock();
  void begin_close();
  void end_if_done();

  const std::shared_ptr<timing::ManualClock> clock_;
  std::optional<timing::ManualClock::Token> clock_token_;
  std::atomic<core::Ticket> last_ticket_ = 0;
  std::once_flag close_once_;
  std::mutex mutex_;  // held while posting, so that nothing is posted after the close
  bool closed_ = false;

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      io_.get_executor()};
  const std::unique_ptr<net::Redis> redis_;
  Server server_;
  Alarms alarms_;
  Alarms steady_;
  std::size_t outstanding_ = 0;
  bool closing_ = false;
  std::thread thread_;
  core::AnswerThread answers_;  // for requests submitted after the close
};

}  // namespace tarry::redis
