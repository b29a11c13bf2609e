// MessageFilter: selects messages of a queue, for a verb on many messages or for a list. The
// command line and the server use the same filter.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/time.h>

namespace tarry::core {

/// A message must match every member that is set. The state is not a member, because a list request
/// already has one.
struct MessageFilter {
  std::string prefix = {};            ///< its key begins with it
  std::optional<Time> due_from = {};  ///< due then or later
  std::optional<Time> due_to = {};    ///< due before then
  Headers headers = {};               ///< it has all of these headers
  std::string reason = {};            ///< a pattern for matches_glob; empty: any reason

  /// Whether the filter can exclude any message.
  [[nodiscard]] bool narrows() const noexcept {
    return !prefix.empty() || due_from || due_to || !headers.empty() || !reason.empty();
  }
};

[[nodiscard]] bool matches(const MessageFilter& filter, const MessageInfo& message) noexcept;

/// Whether the pattern matches the whole text: `*` stands for any number of bytes, `?` for one
/// byte, and every other byte for itself. The time is at most proportional to the product of both
/// sizes.
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace tarry::core
