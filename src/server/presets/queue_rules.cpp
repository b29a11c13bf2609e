#include "server/presets/queue_rules.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"
#include "core/queue_pattern.h"

namespace tarry::presets {
namespace {

// A name has no '*': so one that is a rule's own name lies behind all beginnings.
std::size_t weight(std::string_view pattern) noexcept {
  return core::is_beginning(pattern) ? pattern.size() : core::kMaxQueueName + 2;
}

template <typename T>
void lay(std::optional<T>& onto, const std::optional<T>& over) {
  if (over) onto = over;
}

void lay(SettingsPatch& onto, const SettingsPatch& over) {
  lay(onto.lease, over.lease);
  lay(onto.max_attempts, over.max_attempts);
  lay(onto.backoff_min, over.backoff_min);
  lay(onto.backoff_max, over.backoff_max);
  lay(onto.remember, over.remember);
  lay(onto.dead_keep, over.dead_keep);
  lay(onto.if_exists, over.if_exists);
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
    lay(*patch, rule.patch);
  }
  return patch;
}

SettingsPatch QueueRules::patch_of_pattern(std::string_view pattern) const {
  SettingsPatch patch;
  for (const QueueRule& rule : rules_) {
    const bool covers =
        rule.pattern == pattern ||
        (core::is_beginning(rule.pattern) && pattern.starts_with(core::beginning_of(rule.pattern)));
    if (covers && weight(rule.pattern) <= weight(pattern)) lay(patch, rule.patch);
  }
  return patch;
}

}  // namespace tarry::presets
