// The limits of a queue: how many of its messages may be leased at once, and at which rate they are
// claimed (core/settings/delivery_rate.h). Their texts, and the refusal of engines that cannot hold
// them.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/settings.h>

namespace tarry::core {

/// Reads `5`, or `none` for 0. Error: `invalid_argument`, with the value and the limit. A user who
/// writes 0 may mean that nothing is to be handed out, so 0 is refused.
[[nodiscard]] Result<std::uint32_t> parse_limit(std::string_view name, std::string_view text,
                                                std::uint32_t max);
[[nodiscard]] std::string limit_text(std::uint32_t limit);

/// True if a claim gets nothing now because of a limit of the queue.
[[nodiscard]] bool is_limited(const QueueStats& queue) noexcept;

/// The same for one ready message: its group may be at its limit.
[[nodiscard]] bool is_limited(const MessageInfo& message, const QueueStats& queue) noexcept;

/// Which limit that is: "held by max_leased: 5 of 5 leased".
[[nodiscard]] std::string limit_held(const QueueStats& queue);
[[nodiscard]] std::string limit_held(const MessageInfo& message, const QueueStats& queue);

/// For engines that have no groups and keep no histories: `unsupported`, which names the first such
/// setting.
[[nodiscard]] std::optional<Error> refuse_groups(std::string_view engine,
                                                 const SettingsPatch& patch);
/// The same for engines that hold no limits either.
[[nodiscard]] std::optional<Error> refuse_limits(std::string_view engine,
                                                 const SettingsPatch& patch);

/// For engines that keep no histories. `asked`: what was asked for.
[[nodiscard]] Error no_history(std::string_view engine, std::string_view asked);

}  // namespace tarry::core
