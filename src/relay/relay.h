// Relay: claims due messages, hands them to a sink, and acks those that the sink has confirmed.
//
// One thread, which calls `run`, makes all requests to the engine and the sink. Their answers only
// change the flow and wake this thread.
//
// Thread safety: call `run` once, on one thread; all other functions may be called from any thread.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

#include <tarry/result.h>

#include "core/engine.h"
#include "relay/flow.h"
#include "relay/options.h"
#include "relay/sink.h"

namespace tarry::relay {

/// Events for the operator. Called on the thread that runs `run`.
struct RelayHooks {
  /// The breaker has opened, or is closed again. Half-open is not reported.
  std::function<void(bool open, const std::string& last_error)> on_breaker = {};
  /// The store does not answer, and the relay keeps trying; or, without an error, it answers again.
  std::function<void(const std::optional<Error>& outage)> on_outage = {};
  /// Messages have failed. `reason` is that of the last one. Called at most once a minute for each
  /// kind, and not for failures while the breaker is open.
  std::function<void(Mishap mishap, const std::string& reason)> on_mishap = {};
  /// The store can no longer be used. The relay claims nothing more, and ends once it has drained.
  std::function<void()> on_failed = {};
};

class Relay {
 public:
  /// Engine and sink must outlive the relay. The options have been checked.
  Relay(core::Engine& engine, Sink& sink, const RelayOptions& options, std::uint32_t seed,
        RelayHooks hooks = {});
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Runs until a stop is requested or the store is closed; both are success. Then it claims
  /// nothing more, and the sink has the time `drain` to answer for its messages. After that the
  /// sink is closed, and 2 s later abandoned. `run` returns once everything is settled. While the
  /// store is `unavailable`, the relay tries again after 100 ms to 5 s. Error: the store's, if the
  /// store can no longer be used.
  Result<void> run(std::stop_token stop);

  /// From now on the relay claims from these queues (sorted by name) and from no others. May be
  /// called from any thread.
  void serve(std::vector<Share> shares);

  /// Call `abandon` after a stop: abandons the sink, and gives up requests that the store does not
  /// accept at once. May be called from any thread.
  void abandon();

  [[nodiscard]] RelayStats stats() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  template <typename Answered>
  void ask(Lock& lock, core::Request request, Answered answered);
  void perform(Lock& lock, core::ClaimRequest request);
  void perform(Lock& lock, core::SettleRequest request);
  void perform(Lock& lock, core::ExtendRequest request);
  void perform(Lock& lock, Flow::HandOn hand_on);
  void perform(Lock& lock, Flow::Withdraw);
  void perform(Lock& lock, Flow::CloseSink);
  void perform(Lock& lock, Flow::AbandonSink);
  void perform(Lock& lock, Flow::Wait wait);
  void perform(Lock&, Flow::Finished) {}
  void tell_of_breaker(Lock& lock);
  void tell_of_outage(Lock& lock);
  void tell_of_mishaps(Lock& lock);
  void tell_of_failure(Lock& lock);
  /// Reports something to the flow, and wakes the controller.
  template <typename Tell>
  void news(Tell tell);

  core::Engine& engine_;
  Sink& sink_;
  mutable std::mutex mutex_;
  std::condition_variable news_arrived_;
  bool news_ = false;
  core::Ticket claim_ = 0;  // used by the controller only
  Flow flow_;
  const RelayHooks hooks_;
  bool told_open_ = false;
  bool told_failed_ = false;
  bool told_outage_ = false;
  struct Told {
    std::uint64_t count = 0;     // how many there were at the last report
    std::optional<Moment> next;  // the earliest time of the next report
  };
  std::array<Told, kMishaps.size()> told_mishaps_;
};

}  // namespace tarry::relay
