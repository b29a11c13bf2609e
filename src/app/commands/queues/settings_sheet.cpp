#include "app/commands/queues/settings_sheet.h"

#include <algorithm>
#include <string>

#include "core/settings/setting_text.h"
#include "core/settings/settings_table.h"

namespace tarry::app {
void add_settings(Sheet& sheet, const QueueSettings& settings) {
  core::each_setting([&](const auto& row) {
    std::string name(row.name);
    std::ranges::replace(name, '_', ' ');
    sheet.add(name, core::setting_text(settings.*row.value));
  });
}

}  // namespace tarry::app
