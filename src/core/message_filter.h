// MessageFilter: chooses the messages of a queue for a verb on many messages, or for a list. The
// command line and the server use the same one.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/time.h>

namespace tarry::core {

/// A message must match every member that is set. The state is not one of them: a list has one.
struct MessageFilter {
  std::string prefix = {};            ///< its key begins with it
  std::optional<Time> due_from = {};  ///< due then or later
  std::optional<Time> due_to = {};    ///< due before then
  Headers headers = {};               ///< it has each of them, with this value
  std::string reason = {};            ///< a pattern for matches_glob; empty: any reason

  /// Whether it can exclude any message.
  [[nodiscard]] bool narrows() const noexcept {
    return !prefix.empty() || due_from || due_to || !headers.empty() || !reason.empty();
  }
};

[[nodiscard]] bool matches(const MessageFilter& filter, const MessageInfo& message) noexcept;

/// Matches the whole text: `*` stands for any bytes, also none, `?` for one byte, others for
/// themselves. Takes time in proportion to the product of both sizes, at most.
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace tarry::core
