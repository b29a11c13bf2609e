#include "app/commands/queues/settings_sheet.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "core/delivery_rate.h"
#include "core/objective.h"
#include "core/queue_limits.h"
#include "core/settings_table.h"

namespace tarry::app {
namespace {

std::string shown(const core::DurationSetting&, Millis value) {
  return base::format_duration_ms(value.count());
}
std::string shown(const core::CountSetting&, std::uint32_t value) { return std::to_string(value); }
std::string shown(const core::LimitSetting&, std::uint32_t value) {
  return core::limit_text(value);
}
std::string shown(const core::RuleSetting&, IfExists value) {
  return std::string(to_string(value));
}
std::string shown(const core::OnExpirySetting&, OnExpiry value) {
  return std::string(to_string(value));
}
std::string shown(const core::RateSetting&, DeliveryRate value) {
  return core::delivery_rate_text(value);
}
std::string shown(const core::ObjectiveSetting&, Objective value) {
  return core::objective_text(value);
}

}  // namespace

void add_settings(Sheet& sheet, const QueueSettings& settings) {
  core::each_setting([&](const auto& row) {
    std::string name(row.name);
    std::ranges::replace(name, '_', ' ');
    sheet.add(name, shown(row, settings.*row.value));
  });
}

}  // namespace tarry::app
