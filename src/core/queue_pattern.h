// Queue patterns: a queue's name, or the beginning of one and a `*`; `*` alone is every queue.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string_view>

#include <tarry/result.h>

namespace tarry::core {

/// `invalid_argument` for an empty pattern, and for one that can match no queue.
[[nodiscard]] std::optional<Error> check_queue_pattern(std::string_view pattern);

/// Ends in a `*`.
[[nodiscard]] bool is_beginning(std::string_view pattern) noexcept;

/// The common beginning of the names that it matches, or the name itself.
[[nodiscard]] std::string_view beginning_of(std::string_view pattern) noexcept;

[[nodiscard]] bool matches(std::string_view pattern, std::string_view queue) noexcept;

/// Whether some queue name can match both.
[[nodiscard]] bool overlap(std::string_view a, std::string_view b) noexcept;

}  // namespace tarry::core
