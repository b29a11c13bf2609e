// The rate of a queue in Redis: its spelling in META's settings, and when its bucket
// (scripts/bucket.lua) has the next token.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/settings.h>

namespace tarry::redis {

/// "100p1000b20" for 100/1s burst 20; "0" for none.
[[nodiscard]] std::string spell_rate(const DeliveryRate& rate);
/// None for a text that spell_rate does not write.
[[nodiscard]] DeliveryRate read_rate(std::string_view text) noexcept;

/// `bucket`: META's field. Empty if the bucket has a token at `now_ms`, or cannot be read.
[[nodiscard]] std::optional<std::int64_t> next_token_ms(const DeliveryRate& rate,
                                                        std::string_view bucket,
                                                        std::int64_t now_ms) noexcept;

}  // namespace tarry::redis
