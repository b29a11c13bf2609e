// Config: the settings of `tarry serve` and `tarry relay`. Flags override the environment, which
// overrides the file, which overrides the defaults. Every value records where it came from.
//
// Thread safety: plain values; `load` reads the environment and the file.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tarry/result.h>

#include "app/config/setting.h"
#include "app/relays/relay_plan.h"
#include "schedule/declared.h"
#include "server/presets/queue_rules.h"

namespace tarry::app::config {

/// The values of flags as the user wrote them, by setting.
using Flags = std::map<Which, std::string>;

struct Held {
  std::optional<Value> value;  // empty: not given, and there is no default
  std::string from;            // its source: "flag --listen", "environment TARRY_LISTEN",
                               // "tarry.toml:3", "default"
};

struct Config {
  std::string file;        // empty: none
  std::vector<Held> held;  // in the order of the table
  presets::QueueRules queues;
  std::vector<RelayPlan> relays;
  schedule::Declared schedules;

  [[nodiscard]] const Held& at(Which which) const { return held[static_cast<std::size_t>(which)]; }
  [[nodiscard]] std::string text(Which which) const;
  [[nodiscard]] std::uint64_t number(Which which) const;
};

/// The file that `--config` names, otherwise the one that TARRY_CONFIG names, otherwise empty.
[[nodiscard]] std::string file_of(const std::optional<std::string>& flag);

/// The settings in force. The error has all reasons for refusing them, one per line. `file` may be
/// empty.
[[nodiscard]] Result<Config> load(const std::string& file, const Flags& flags,
                                  std::vector<std::string>& problems);

/// The log line for a reload that changes nothing because of these problems (at least one).
[[nodiscard]] std::string not_reloaded(const std::vector<std::string>& problems);

}  // namespace tarry::app::config
