#include "app/commands/queues/settings_sheet.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "core/objective.h"
#include "core/settings_table.h"

namespace tarry::app {
namespace {

std::string shown(Millis value) { return base::format_duration_ms(value.count()); }
std::string shown(std::uint32_t value) { return std::to_string(value); }
std::string shown(IfExists value) { return std::string(to_string(value)); }
std::string shown(OnExpiry value) { return std::string(to_string(value)); }
std::string shown(Objective value) { return core::objective_text(value); }

}  // namespace

void add_settings(Sheet& sheet, const QueueSettings& settings) {
  core::each_setting([&](const auto& row) {
    std::string name(row.name);
    std::ranges::replace(name, '_', ' ');
    sheet.add(name, shown(settings.*row.value));
  });
}

}  // namespace tarry::app
