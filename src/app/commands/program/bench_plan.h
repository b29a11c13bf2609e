// tarry bench --plan: how many servers a load needs.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "app/command_line/invocation.h"

namespace tarry::app {

struct PlanFlags {
  bool plan = false;
  std::optional<std::string> rate;
  std::optional<std::string> pending;
  std::optional<std::string> engine;
  std::optional<std::string> memory;

  [[nodiscard]] bool any_given() const { return rate || pending || engine || memory; }
};

void add_plan_flags(CLI::App& bench, PlanFlags& into);

/// `payload`: in bytes; `batch`: in messages; nothing if they were not given.
[[nodiscard]] ExitCode print_plan(Invocation& invocation, const PlanFlags& flags,
                                  std::optional<std::uint64_t> payload,
                                  std::optional<std::uint64_t> batch);

}  // namespace tarry::app
