#include "core/settings/setting_text.h"

#include "base/text/text.h"
#include "core/settings/delivery_rate.h"
#include "core/settings/grouping.h"
#include "core/settings/objective.h"
#include "core/settings/queue_limits.h"

namespace tarry::core {

std::string setting_text(Millis value) { return base::format_duration_ms(value.count()); }
std::string setting_text(std::uint32_t value) { return limit_text(value); }
std::string setting_text(IfExists value) { return std::string(to_string(value)); }
std::string setting_text(OnExpiry value) { return std::string(to_string(value)); }
std::string setting_text(DeliveryRate value) { return delivery_rate_text(value); }
std::string setting_text(const Grouping& value) { return grouping_text(value); }
std::string setting_text(GroupOrder value) { return std::string(to_string(value)); }
std::string setting_text(Objective value) { return objective_text(value); }

}  // namespace tarry::core
