#include "app/config/queue_section.h"

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/rules/expiry.h"
#include "core/rules/queue_pattern.h"
#include "core/rules/validation.h"
#include "core/settings/delivery_rate.h"
#include "core/settings/grouping.h"
#include "core/settings/if_exists.h"
#include "core/settings/objective.h"
#include "core/settings/queue_limits.h"
#include "core/settings/settings_table.h"

namespace tarry::app::config {
namespace {

std::optional<Millis> read_setting(Section& section, const core::DurationSetting& row) {
  return section.duration(row.name, row.min, row.max);
}
std::optional<std::uint32_t> read_setting(Section& section, const core::CountSetting& row) {
  const auto count = section.count(row.name, row.min, row.max);
  return count ? std::optional(static_cast<std::uint32_t>(*count)) : std::nullopt;
}
std::optional<IfExists> read_setting(Section& section, const core::RuleSetting& row) {
  const auto rule = section.choice(row.name, core::if_exists_names());
  return rule ? core::if_exists_from(*rule) : std::nullopt;
}
std::optional<OnExpiry> read_setting(Section& section, const core::OnExpirySetting& row) {
  const auto rule = section.choice(row.name, core::on_expiry_names());
  return rule ? core::on_expiry_from(*rule) : std::nullopt;
}
std::optional<std::uint32_t> read_setting(Section& section, const core::LimitSetting& row) {
  const auto limit = section.count_or_none(row.name, row.max);
  return limit ? std::optional(static_cast<std::uint32_t>(*limit)) : std::nullopt;
}

/// `parse` reads the setting's text.
template <typename Row, typename Parse>
auto read_text(Section& section, const Row& row, const Parse& parse) {
  using Value = std::remove_cvref_t<decltype(*parse(""))>;
  const auto text = section.text(row.name);
  if (!text) return std::optional<Value>();
  const auto value = parse(*text);
  if (!value) section.fail(row.name, value.error().message);
  return value ? std::optional<Value>(*value) : std::nullopt;
}
std::optional<DeliveryRate> read_setting(Section& section, const core::RateSetting& row) {
  return read_text(section, row, core::parse_delivery_rate);
}
std::optional<Grouping> read_setting(Section& section, const core::GroupSetting& row) {
  return read_text(section, row, core::parse_grouping);
}
std::optional<GroupOrder> read_setting(Section& section, const core::GroupOrderSetting& row) {
  const auto order = section.choice(row.name, core::group_order_names());
  return order ? core::group_order_from(*order) : std::nullopt;
}
std::optional<Objective> read_setting(Section& section, const core::ObjectiveSetting& row) {
  return read_text(section, row, core::parse_objective);
}

SettingsPatch read_patch(Section& section) {
  SettingsPatch patch;
  core::each_setting([&](const auto& row) { patch.*row.change = read_setting(section, row); });
  section.finish();
  return patch;
}

}  // namespace

presets::QueueRules read_queue_rules(Section& whole) {
  presets::QueueRules rules;
  auto sections = whole.named_sections("queue");
  for (auto& [pattern, section] : sections) {
    const SettingsPatch patch = read_patch(section);
    if (auto error = core::check_queue_pattern(pattern)) {
      section.fail("", error->message);
    } else {
      rules.add({pattern, patch});
    }
  }
  // The settings that a queue gets from several patterns must be valid together, too.
  for (auto& [pattern, section] : sections) {
    if (core::check_queue_pattern(pattern)) continue;
    if (auto error = core::check_patch(rules.patch_of_pattern(pattern), QueueSettings())) {
      section.fail("", error->message);
    }
  }
  return rules;
}

}  // namespace tarry::app::config
