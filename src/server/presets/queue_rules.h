// QueueRules: settings of queues by patterns of their names. If several patterns match, each
// setting comes from the longest pattern that has this setting. A whole name counts as longer than
// any pattern with `*`. So the order of the rules does not matter.
//
// Plain values. Thread safety: that of a vector.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/settings.h>

namespace tarry::presets {

struct QueueRule {
  std::string pattern;
  SettingsPatch patch;
};

class QueueRules {
 public:
  /// Adds a rule. Its pattern must have been checked, and must not be that of another rule.
  void add(QueueRule rule);

  [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }
  [[nodiscard]] const std::vector<QueueRule>& rules() const noexcept { return rules_; }

  /// The settings for the queue of that name; empty if no rule matches.
  [[nodiscard]] std::optional<SettingsPatch> patch_of(std::string_view queue) const;
  /// The settings for a queue whose longest matching pattern is this one.
  [[nodiscard]] SettingsPatch patch_of_pattern(std::string_view pattern) const;

 private:
  std::vector<QueueRule> rules_;  // shortest beginning first, whole names last
};

}  // namespace tarry::presets
