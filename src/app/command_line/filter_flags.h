// The flags that select messages of a queue. Every command that selects messages has the same
// flags.
//
// Thread safety: one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>
#include <CLI/CLI.hpp>

#include "core/rules/message_filter.h"

namespace tarry::app {

struct FilterFlags {
  std::optional<std::string> prefix;
  std::optional<std::string> due_between;
  std::vector<std::string> headers;
  std::optional<std::string> reason;
  std::optional<std::string> state;

  [[nodiscard]] bool given() const noexcept {
    return prefix || due_between || !headers.empty() || reason || state;
  }
};

/// Adds --prefix, --due-between, --header and --reason.
void add_filter(CLI::App& command, FilterFlags& into);
/// Adds --state. `with_remembered`: the flag also accepts the state of remembered messages.
void add_state(CLI::App& command, FilterFlags& into, bool with_remembered);

/// Error: `invalid_argument`, which names the flag and the value.
[[nodiscard]] Result<core::MessageFilter> filter_of(const FilterFlags& flags);
[[nodiscard]] std::optional<State> state_of(const FilterFlags& flags);

/// Reads FROM,TO: messages due at FROM or later and before TO. One of the two times may be left
/// out.
[[nodiscard]] Result<void> parse_due_between(std::string_view text, core::MessageFilter& into);

}  // namespace tarry::app
