// The value of a queue's setting as people write it: on the command line, in the configuration and
// in what the command line shows.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include <tarry/settings.h>

namespace tarry::core {

[[nodiscard]] std::string setting_text(Millis value);
/// A count; 0 is a limit that is not set: `none`.
[[nodiscard]] std::string setting_text(std::uint32_t value);
[[nodiscard]] std::string setting_text(IfExists value);
[[nodiscard]] std::string setting_text(OnExpiry value);
[[nodiscard]] std::string setting_text(DeliveryRate value);
[[nodiscard]] std::string setting_text(const Grouping& value);
[[nodiscard]] std::string setting_text(GroupOrder value);
[[nodiscard]] std::string setting_text(Objective value);

}  // namespace tarry::core
