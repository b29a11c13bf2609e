// StatsFeed: the store's figures, a second old at most, for all who look at the console. It asks
// the engine once a second while somebody looks, and never otherwise.
//
// Thread safety: the server's thread only; the engine's answer is posted to it.
//
// Invariants
//  1. At most one request is at the engine.
//  2. The timer runs only while there is a seat, so that the server's loop can end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <tarry/result.h>
#include <tarry/settings.h>
#include <tarry/time.h>

#include "core/engine.h"
#include "server/identity/identity.h"

namespace tarry::console {

class StatsFeed : public std::enable_shared_from_this<StatsFeed> {
 public:
  /// Called when there are new figures. It may give its seat back.
  using Told = std::function<void()>;
  using Seats = std::list<Told>;

  /// Someone who looks, until it is destroyed.
  class Seat {
   public:
    Seat(std::shared_ptr<StatsFeed> feed, Seats::iterator place);
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat();

   private:
    std::shared_ptr<StatsFeed> feed_;
    Seats::iterator place_;
  };

  /// Completes the figures of queues.
  using Completes = std::function<void(std::vector<QueueStats>&)>;
  /// The engine must outlive the feed.
  StatsFeed(core::Engine& engine, Completes completes)
      : engine_(engine), completes_(std::move(completes)) {}

  [[nodiscard]] std::unique_ptr<Seat> take_seat(boost::asio::io_context::executor_type executor,
                                                Told told);

  /// The store's figures without its queues; null before the first answer, and while the store does
  /// not answer.
  [[nodiscard]] const StoreStats* store() const noexcept { return store_ ? &*store_ : nullptr; }
  /// Why there are none; null if there are, or nothing was asked yet.
  [[nodiscard]] const Error* trouble() const noexcept { return trouble_ ? &*trouble_ : nullptr; }
  /// The fields "full" and "queues" of an event, for one who has seen everything up to `seen`
  /// (0: nothing): the queues that have changed since, or all of them if `full`. Sets `seen`.
  [[nodiscard]] std::string changes(const identity::Identity& identity, std::uint64_t& seen) const;

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor>;
  struct Row {
    std::string json;
    std::uint64_t changed = 0;  // the turn of its last change
    std::uint64_t met = 0;      // the latest turn in which the queue existed
  };

  void leave(Seats::iterator place);
  void ask();
  void wait();
  void take(Result<core::Reply> reply);
  void take_queues(StoreStats& stats);

  core::Engine& engine_;
  const Completes completes_;
  std::optional<Timer> timer_;
  bool asking_ = false;
  Seats seats_;
  std::uint64_t turn_ = 0;
  std::uint64_t full_until_ = 0;  // one who has seen less gets all: a queue went since
  std::map<std::string, Row> rows_;
  std::optional<StoreStats> store_;
  std::optional<Error> trouble_;
};

}  // namespace tarry::console
