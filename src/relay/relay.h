// Relay: claims due messages and hands them to a sink; acks messages that the sink has confirmed.
//
// One thread, which calls `run`, makes all requests to the engine and the sink; their answers only
// reach the flow and wake it.
//
// Thread safety: `run` once, on one thread; the rest from any.
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

/// Reports for the operator; called on the thread of a relay's `run`.
struct RelayHooks {
  /// The breaker has opened, or is closed again; half-open is not reported.
  std::function<void(bool open, const std::string& last_error)> on_breaker = {};
  /// The store does not answer, and is asked again; or, empty, it has answered since.
  std::function<void(const std::optional<Error>& outage)> on_outage = {};
  /// Messages have failed: the last one's reason, at most once a minute for each kind. Not called
  /// for failures while the breaker is open.
  std::function<void(Mishap mishap, const std::string& reason)> on_mishap = {};
  /// The store can no longer be used: it claims nothing more, and will end once it has drained.
  std::function<void()> on_failed = {};
};

class Relay {
 public:
  /// Engine and sink outlive the relay; the options have been checked.
  Relay(core::Engine& engine, Sink& sink, const RelayOptions& options, std::uint32_t seed,
        RelayHooks hooks = {});
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Runs until a stop is requested or the store is closed; both are success. Then it claims
  /// nothing more, gives the sink `drain` to answer for its messages, closes it, abandons it 2 s
  /// later, and returns once everything is settled. While the store is `unavailable` it tries again
  /// after 100 ms to 5 s. Errors: the store's error when it can no longer be used.
  Result<void> run(std::stop_token stop);

  /// From now on it claims from these, by name, and from no others. From any thread.
  void serve(std::vector<Share> shares);

  /// After a stop: abandons the sink, and gives up requests that the store does not accept at once.
  /// From any thread.
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
  /// Tells the flow, and wakes the controller.
  template <typename Tell>
  void news(Tell tell);

  core::Engine& engine_;
  Sink& sink_;
  mutable std::mutex mutex_;
  std::condition_variable news_arrived_;
  bool news_ = false;
  core::Ticket claim_ = 0;  // the controller's alone
  Flow flow_;
  const RelayHooks hooks_;
  bool told_open_ = false;
  bool told_failed_ = false;
  bool told_outage_ = false;
  struct Told {
    std::uint64_t count = 0;     // that there were by then
    std::optional<Moment> next;  // no sooner
  };
  std::array<Told, kMishaps.size()> told_mishaps_;
};

}  // namespace tarry::relay
