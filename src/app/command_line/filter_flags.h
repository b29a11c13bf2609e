// The flags that choose messages of a queue, the same ones for every command that takes them.
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

#include "core/message_filter.h"

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

/// --prefix, --due-between, --header and --reason.
void add_filter(CLI::App& command, FilterFlags& into);
/// --state; `with_remembered`: also accepts the state of remembered messages.
void add_state(CLI::App& command, FilterFlags& into, bool with_remembered);

/// `invalid_argument`, naming flag and value.
[[nodiscard]] Result<core::MessageFilter> filter_of(const FilterFlags& flags);
[[nodiscard]] std::optional<State> state_of(const FilterFlags& flags);

/// FROM,TO: two times, one of which may be left out: from FROM on, and before TO.
[[nodiscard]] Result<void> parse_due_between(std::string_view text, core::MessageFilter& into);

}  // namespace tarry::app
