#include "server/presets/queue_rules.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"
#include "core/rules/queue_pattern.h"
#include "core/settings/settings_table.h"

namespace tarry::presets {
namespace {

// The order of patterns. A whole name contains no '*', and comes after all beginnings.
std::size_t weight(std::string_view pattern) noexcept {
  return core::is_beginning(pattern) ? pattern.size() : core::kMaxQueueName + 2;
}

}  // namespace

void QueueRules::add(QueueRule rule) {
  const auto before =
      std::ranges::upper_bound(rules_, weight(rule.pattern), {},
                               [](const QueueRule& other) { return weight(other.pattern); });
  rules_.insert(before, std::move(rule));
}

std::optional<SettingsPatch> QueueRules::patch_of(std::string_view queue) const {
  std::optional<SettingsPatch> patch;
  for (const QueueRule& rule : rules_) {
    if (!core::matches(rule.pattern, queue)) continue;
    if (!patch) patch.emplace();
    core::lay(*patch, rule.patch);
  }
  return patch;
}

SettingsPatch QueueRules::patch_of_pattern(std::string_view pattern) const {
  SettingsPatch patch;
  for (const QueueRule& rule : rules_) {
    const bool covers =
        rule.pattern == pattern ||
        (core::is_beginning(rule.pattern) && pattern.starts_with(core::beginning_of(rule.pattern)));
    if (covers && weight(rule.pattern) <= weight(pattern)) core::lay(patch, rule.patch);
  }
  return patch;
}

}  // namespace tarry::presets
