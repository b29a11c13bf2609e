// The flags of `tarry relay`, and the RelayPlan that they describe.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tarry/time.h>
#include <CLI/CLI.hpp>

#include "app/relays/relay_plan.h"

namespace tarry::app {

struct RelayFlags {
  std::optional<std::string> config;
  std::vector<std::string> queues;
  std::optional<std::string> to;
  std::optional<std::uint64_t> threads;
  std::optional<std::uint64_t> in_flight;
  std::optional<std::uint64_t> batch;
  std::optional<std::uint64_t> rate;
  std::optional<std::uint64_t> concurrency;
  std::optional<std::uint64_t> max_attempts;
  std::optional<Millis> lease;
  std::optional<Millis> drain;
  std::optional<std::string> coordination;
  std::optional<Millis> session;

  /// Whether a flag besides --config describes a relay.
  [[nodiscard]] bool plan_given() const {
    return !queues.empty() || to || threads || in_flight || batch || rate || concurrency ||
           max_attempts || lease || drain || coordination || session;
  }
};

void add_relay_flags(CLI::App& command, RelayFlags& into);

/// The flags' `to` must be set. `command`: the words after --.
[[nodiscard]] RelayPlan plan_of(const RelayFlags& flags, const std::vector<std::string>& command);

}  // namespace tarry::app
