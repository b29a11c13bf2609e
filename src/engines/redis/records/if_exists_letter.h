// The letter of an if_exists rule, as META, the scripts and their arguments have it
// (docs/formats/redis.md).
//
// Pure functions.
#pragma once

#include <optional>

#include <tarry/message.h>

namespace tarry::redis {

/// r(eject), k(eep), p (replace), e(arlier), l(ater).
[[nodiscard]] char letter_of(IfExists rule) noexcept;
/// Nothing if no rule has that letter.
[[nodiscard]] std::optional<IfExists> rule_of(char letter) noexcept;

}  // namespace tarry::redis
