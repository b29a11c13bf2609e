#include "core/settings/settings_table.h"

namespace tarry::core {

QueueSettings apply(const SettingsPatch& patch, QueueSettings settings) {
  each_setting([&](const auto& row) {
    if (const auto& change = patch.*row.change) settings.*row.value = *change;
  });
  return settings;
}

void lay(SettingsPatch& onto, const SettingsPatch& over) {
  each_setting([&](const auto& row) {
    if (over.*row.change) onto.*row.change = over.*row.change;
  });
}

SettingsPatch patch_of(const QueueSettings& settings) {
  SettingsPatch patch;
  each_setting([&](const auto& row) { patch.*row.change = settings.*row.value; });
  return patch;
}

}  // namespace tarry::core
