// QueueRun: one run of a worker on one queue, from the first claim to the end of the drain.
//
// One thread, the controller (which calls `run`), sends the engine the requests of the book of
// leases: claims, extensions, settlements. Handler threads take jobs and store verdicts;
// completions store answers. Both only change the state and wake the controller. Another thread
// calls the users' callbacks, stop callbacks included, so that leases are extended however long
// these take.
//
// Thread safety: call `run` once, on one thread; everything else is internal.
//
// Invariants (under mutex_)
//  1. jobs_ has the same claims as the book. A job is either not begun, and then also in waiting_,
//     or its handler runs. run() returns when the book is idle.
//  2. jobs_.size() + messages being claimed <= concurrency + prefetch.
//  3. A job that has begun is erased only by the thread that runs its handler. No job begins once
//     its lease has ended by this machine's clock, even if the store has not said so yet.
//  4. Every change that the controller needs to see is followed by `news`, so that no wake-up is
//     lost, however the threads interleave.
//  5. No call to the engine, to a handler or to a stop callback is made under the mutex.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tarry/queue.h>
#include <tarry/result.h>
#include <tarry/worker.h>

#include "base/unique_function.h"
#include "core/engine.h"
#include "leases/book.h"
#include "worker/counters.h"
#include "worker/turns.h"

namespace tarry::worker {

class QueueRun {
 public:
  /// All references must stay valid during the run. The options have been checked.
  QueueRun(core::Engine& engine, const std::string& queue, const WorkerOptions& options,
           const Handler& handler, Counters& counters, Turns& turns);
  QueueRun(const QueueRun&) = delete;
  QueueRun& operator=(const QueueRun&) = delete;

  /// The same as Worker::run.
  [[nodiscard]] Result<void> run(std::stop_token stop);

 private:
  using Moment = leases::Moment;
  using Lock = std::unique_lock<std::mutex>;
  using JobId = leases::Book::Id;

  struct Job {
    explicit Job(Delivery d) : delivery(std::move(d)) {}
    Delivery delivery;
    std::stop_source stop;
    bool begun = false;
    bool over = false;  // its lease has ended, by the store or by this machine's clock
    bool signalled = false;
  };

  // The controller's steps. Each returns whether it did something; if so, it has released the lock
  // meanwhile.
  [[nodiscard]] bool claim(Lock& lock, Moment now);
  [[nodiscard]] bool settle(Lock& lock, Moment now);
  [[nodiscard]] bool extend(Lock& lock, Moment now);
  [[nodiscard]] bool drain(Lock& lock, Moment now);
  core::Ticket submit(Lock& lock, core::Request request,
                      void (QueueRun::*answered)(Result<core::Reply>));
  void look_for_lapsed(Moment now);
  [[nodiscard]] std::size_t room() const noexcept;
  [[nodiscard]] bool wants_claim() const noexcept;
  [[nodiscard]] std::optional<Moment> next_moment() const;
  void wait_for_news(Lock& lock);
  void control(Lock& lock);

  // Calls the users' callbacks.
  void tell();
  [[nodiscard]] std::vector<base::UniqueFunction<void()>> take_calls();
  void want_signals();

  // Completions.
  void on_claimed(Result<core::Reply> reply);
  void on_settled(Result<core::Reply> reply);
  void on_extended(Result<core::Reply> reply);

  void work();
  void work_on(Lock& lock, JobId id);
  void give_back(JobId id);
  [[nodiscard]] Verdict handle(const Job& job) const;
  [[nodiscard]] Verdict thrown(std::string_view what) const;
  void accept(Delivery delivery, Moment begun, Moment now);
  void stop_for(std::optional<Error> why);
  /// Call `news` when the book has changed: passes on counts, outages and refusals, and wakes the
  /// controller.
  void news();
  void pass_on();
  void note_outage(std::optional<Error> outage);

  core::Engine& engine_;
  const std::string& queue_;
  const WorkerOptions& options_;
  const Handler& handler_;
  Counters& counters_;
  Turns& turns_;

  std::mutex mutex_;
  std::condition_variable news_arrived_;  // the controller's
  std::condition_variable work_arrived_;  // the handler threads'
  std::condition_variable tell_wanted_;   // wakes the thread that calls users
  bool news_ = false;
  std::atomic<bool> stopping_ = false;  // whether the book has stopped; `turns_` reads it too,
                                        // without the mutex
  bool finished_ = false;
  bool signal_wanted_ = false;

  leases::Book book_;
  std::unordered_map<JobId, Job> jobs_;
  std::deque<JobId> waiting_;
  core::Ticket claim_ticket_ = 0;  // used by the controller only

  bool is_away_ = false;  // whether the store is away, by the last entry of outages_
  // Beginnings and ends of outages that are not reported yet.
  std::deque<std::optional<Error>> outages_;
  std::optional<Error> refusal_;  // the last refusal that is not reported yet
};

}  // namespace tarry::worker
