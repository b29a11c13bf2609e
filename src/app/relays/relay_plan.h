// RelayPlan: one relay as flags or a [[relay]] section describe it.
//
// Plain values. Thread safety: pure functions, except for files that a sink's URL names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "app/relays/relay_sinks.h"
#include "relay/relay_threads.h"

namespace tarry::app {

struct RelayPlan {
  relay::RelayThreadsOptions options;
  std::string to;                    // as in SinkWish
  std::vector<std::string> command;  // for the sink "command"
  std::uint32_t concurrency = 1;     // for the sink "command"
  std::string coordination = "all";  // one of the forms in relay_coordination.h
  Millis session = relay::kDefaultSession;
  std::uint64_t line = 0;  // its line in the configuration; 0: from flags

  // `runs_command` and `writes_stdout` depend on the kind of the plan's sink.
  [[nodiscard]] bool runs_command() const;
  [[nodiscard]] bool writes_stdout() const;

  /// The SinkWish of this plan. `on_broken` and `children`: see SinkWish.
  [[nodiscard]] relay::SinkWish wish(std::function<void(Error)> on_broken,
                                     const relay::ChildOptions& children = {}) const;

  /// Whether both plans would do the same. Their lines in the file do not count.
  friend bool operator==(const RelayPlan& a, const RelayPlan& b) {
    return a.options == b.options && a.to == b.to && a.command == b.command &&
           a.concurrency == b.concurrency && a.coordination == b.coordination &&
           a.session == b.session;
  }
};

/// The number of messages in flight: `given`; if that is empty, the default of the plan's sink. The
/// default of a command is small: a message that waits for its command occupies a lease, and costs
/// an attempt if the relay is killed.
[[nodiscard]] std::uint32_t in_flight_of(const RelayPlan& plan, std::optional<std::uint64_t> given);

/// Checks the plan's numbers (messages, threads and so on), not its sink. Error:
/// `invalid_argument`, which names the value and the limit.
[[nodiscard]] Result<void> check_numbers(const RelayPlan& plan);
/// Checks the sink. Errors: those of make_sink.
[[nodiscard]] Result<void> check_sink(const RelayPlan& plan);

}  // namespace tarry::app
