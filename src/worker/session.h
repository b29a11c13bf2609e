// Session: one run of a worker on one queue, from the first claim to the end of the drain.
//
// One thread, the controller (whoever calls `run`), asks the engine for everything: claims, lease
// extensions, settlements. Handler threads take jobs and leave verdicts; completions leave answers;
// both only change the state and wake the controller. So at most one request of each kind is under
// way, and while one settlement is, the next gathers. What users want to be told, stop callbacks
// included, they are told by a thread of its own: however long they take, leases are extended.
//
// Thread safety: `run` once, on one thread; all else is inside.
//
// Invariants (under mutex_)
//  1. Every claimed message is in exactly one place: jobs_ (not begun: also in waiting_; or its
//     handler runs), outbox_, or the settlement under way. run() returns when all are empty and
//     nothing is under way.
//  2. jobs_.size() + what is being claimed <= concurrency + prefetch.
//  3. A job that has begun is erased by the thread that runs its handler, and by nobody else. None
//     begins once its lease has ended by this machine's clock, whatever the store has not said yet.
//  4. Whoever changes what the controller looks at sets news_ and notifies: no wake-up is lost
//     however the threads interleave.
//  5. No call to the engine, to a handler or to a stop callback is made under the mutex.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tarry/queue.h>
#include <tarry/result.h>
#include <tarry/worker.h>

#include "base/boot_clock.h"
#include "core/engine.h"
#include "worker/backoff.h"
#include "worker/counters.h"
#include "worker/turns.h"
#include "worker/verdicts.h"

namespace tarry::worker {

class Session {
 public:
  /// All of these outlive the session; the options have been checked.
  Session(core::Engine& engine, const std::string& queue, const WorkerOptions& options,
          const Handler& handler, Counters& counters, Turns& turns);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// As Worker::run.
  [[nodiscard]] Result<void> run(std::stop_token stop);

 private:
  using Clock = base::BootClock;
  using Moment = Clock::time_point;
  using Lock = std::unique_lock<std::mutex>;
  using JobId = std::uint64_t;

  struct Job {
    explicit Job(Delivery d) : delivery(std::move(d)) {}
    Delivery delivery;
    std::stop_source stop;
    Moment extend_at;
    Moment lease_end;
    bool begun = false;
    bool extendable = true;
    bool lost = false;    // the lease has run out, says the store
    bool lapsed = false;  // it has by this machine's clock, and the store has not said yet
    bool signalled = false;
  };
  struct Verdicted {
    Delivery delivery;  // owns the receipt's bytes
    Settlement settlement;
    Moment lease_end;
    bool tried = false;
  };

  // The controller's steps. Each answers whether it did something, having let go of the lock.
  [[nodiscard]] bool claim(Lock& lock, Moment now);
  [[nodiscard]] bool settle(Lock& lock, Moment now);
  [[nodiscard]] bool extend(Lock& lock, Moment now);
  [[nodiscard]] bool drain(Lock& lock, Moment now);
  void look_for_lapsed(Moment now);
  [[nodiscard]] bool is_done() const noexcept;
  [[nodiscard]] bool holds_on(Moment now) const noexcept;
  [[nodiscard]] std::size_t room() const noexcept;
  [[nodiscard]] bool wants_claim() const noexcept;
  [[nodiscard]] std::optional<Moment> next_moment() const;
  void wait_for_news(Lock& lock);
  void control(Lock& lock);

  // What users are told. Each answers whether there was something, having let go of the lock.
  void tell();
  [[nodiscard]] bool signal_handlers(Lock& lock);
  [[nodiscard]] bool tell_of_outage(Lock& lock);
  [[nodiscard]] bool tell_of_refusal(Lock& lock);
  void want_signals();

  // Completions.
  void on_claimed(Result<core::Reply> reply);
  void on_settled(std::vector<Verdicted> sent, Result<core::Reply> reply);
  void on_extended(const std::vector<JobId>& sent, Moment sent_at, Result<core::Reply> reply);

  void work();
  void work_on(Lock& lock, JobId id);
  void give_back(JobId id);
  [[nodiscard]] Verdict handle(const Job& job) const;
  [[nodiscard]] Verdict thrown(std::string_view what) const;
  void accept(Delivery delivery, Moment begun, Moment now);
  void settle_item(Verdicted sent, const core::ItemResult& answer);
  void extended(Job& job, Moment sent_at, const core::ItemResult& answer);
  /// Of a request as a whole: true if it is to be tried again, else the session ends.
  [[nodiscard]] bool may_try_again(const Error& error);
  void try_settling_later(Moment now);
  void note_outage(std::optional<Error> outage);
  void note_refusal(const Error& refusal);
  void wake_to_extend(Moment moment);
  void wake_at_end_of(const Job& job);
  void stop_for(std::optional<Error> error);
  void news();

  core::Engine& engine_;
  const std::string& queue_;
  const WorkerOptions& options_;
  const Handler& handler_;
  Counters& counters_;
  Turns& turns_;

  std::mutex mutex_;
  std::condition_variable news_arrived_;  // the controller's
  std::condition_variable work_arrived_;  // the handler threads'
  std::condition_variable tell_wanted_;   // of who tells users
  bool news_ = false;
  std::atomic<bool> stopping_ = false;  // for `turns_` also read without the mutex
  bool finished_ = false;
  bool signal_wanted_ = false;
  std::optional<Error> error_;
  std::optional<Moment> stopped_at_;

  JobId next_job_ = 1;
  std::unordered_map<JobId, Job> jobs_;
  std::deque<JobId> waiting_;
  std::deque<Verdicted> outbox_;

  bool claiming_ = false;
  bool withdrawn_ = false;
  core::Ticket claim_ticket_ = 0;  // the controller's alone
  Moment claim_at_{};
  Backoff claim_backoff_;
  bool is_away_ = false;                      // so the last claim was answered; it is tried again
  std::deque<std::optional<Error>> outages_;  // their beginnings and ends, not told yet
  std::optional<Error> refusal_;              // the last one, not told yet

  bool settling_ = false;
  Moment settle_at_{};
  Backoff settle_backoff_;

  bool extending_ = false;
  std::optional<Moment> extend_at_;  // no job's extend_at is earlier; empty: none needs it
  std::optional<Moment> lapse_at_;   // no lease ends earlier, but what lapsed; empty: there is none
};

}  // namespace tarry::worker
