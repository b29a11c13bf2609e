// RelayPlan: one relay as it was asked for, by flags or by a [[relay]] section.
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
  std::string to;                    // as SinkWish has it
  std::vector<std::string> command;  // of "command"
  std::uint32_t concurrency = 1;     // of "command"
  std::string coordination = "all";  // as relay_coordination.h has it
  Millis session = relay::kDefaultSession;
  std::uint64_t line = 0;  // of the configuration; 0: from flags

  // Chosen by the kind of its sink.
  [[nodiscard]] bool runs_command() const;
  [[nodiscard]] bool writes_stdout() const;

  /// The sink that is wanted; `on_broken` and `children` as SinkWish has them.
  [[nodiscard]] relay::SinkWish wish(std::function<void(Error)> on_broken,
                                     const relay::ChildOptions& children = {}) const;

  /// Whether the two would do the same, wherever in the file they are written.
  friend bool operator==(const RelayPlan& a, const RelayPlan& b) {
    return a.options == b.options && a.to == b.to && a.command == b.command &&
           a.concurrency == b.concurrency && a.coordination == b.coordination &&
           a.session == b.session;
  }
};

/// The default of in_flight. Messages that a command has not begun are claimed for nothing, and
/// cost an attempt if the relay is killed, so a command gets few.
[[nodiscard]] std::uint32_t in_flight_of(const RelayPlan& plan, std::optional<std::uint64_t> given);

/// Checks how many messages, threads and so on; not the sink. `invalid_argument`, naming value and
/// limit.
[[nodiscard]] Result<void> check_numbers(const RelayPlan& plan);
/// Where to. Errors as make_sink's.
[[nodiscard]] Result<void> check_sink(const RelayPlan& plan);

}  // namespace tarry::app
