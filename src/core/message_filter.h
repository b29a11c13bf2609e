// MessageFilter: which messages of a queue are meant by a verb on many of them, or by a list. The
// command line and the server go by the same one.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/time.h>

namespace tarry::core {

/// Each that is given must be met. The state is not among them: a list goes by one.
struct MessageFilter {
  std::string prefix = {};            ///< the key begins so
  std::optional<Time> due_from = {};  ///< due then or later
  std::optional<Time> due_to = {};    ///< due before then
  Headers headers = {};               ///< each is there, with this value
  std::string reason = {};            ///< a pattern, as matches_glob has it; empty: any reason

  /// Whether it can leave any message out.
  [[nodiscard]] bool narrows() const noexcept {
    return !prefix.empty() || due_from || due_to || !headers.empty() || !reason.empty();
  }
};

[[nodiscard]] bool matches(const MessageFilter& filter, const MessageInfo& message) noexcept;

/// The whole text: `*` stands for any bytes, none included, `?` for one byte, all else for itself.
/// In time proportional to both sizes multiplied, at most.
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace tarry::core
