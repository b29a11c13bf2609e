// Queue patterns: either the name of a queue, or the beginning of names followed by `*`. A `*`
// alone matches every queue.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "core/request.h"

namespace tarry::core {

/// Error: `invalid_argument` for an empty pattern, and for one that can match no queue.
[[nodiscard]] std::optional<Error> check_queue_pattern(std::string_view pattern);

/// Whether the pattern ends in a `*`.
[[nodiscard]] bool is_beginning(std::string_view pattern) noexcept;

/// The common beginning of all names that the pattern matches; the name itself if there is no `*`.
[[nodiscard]] std::string_view beginning_of(std::string_view pattern) noexcept;

[[nodiscard]] bool matches(std::string_view pattern, std::string_view queue) noexcept;

[[nodiscard]] bool matches_any(const std::vector<std::string>& patterns,
                               std::string_view queue) noexcept;

/// Whether a request confined to these queues may touch this one.
[[nodiscard]] bool allows(const OnlyQueues& only, std::string_view queue) noexcept;

/// Whether `wide` matches every queue that `narrow` matches.
[[nodiscard]] bool covers(std::string_view wide, std::string_view narrow) noexcept;

/// Whether any queue name can match both patterns.
[[nodiscard]] bool overlap(std::string_view a, std::string_view b) noexcept;

}  // namespace tarry::core
