// QueueRules: settings of queues by patterns of their names. Of several that match, each setting is
// the one of the longest pattern that has it; the whole name is longer than any beginning. So the
// order of the rules plays no part.
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
  /// The pattern has been checked, and is not among them yet.
  void add(QueueRule rule);

  [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }
  [[nodiscard]] const std::vector<QueueRule>& rules() const noexcept { return rules_; }

  /// What they say of the queue of that name; empty: nothing.
  [[nodiscard]] std::optional<SettingsPatch> patch_of(std::string_view queue) const;
  /// What they say of queues of which this is the longest pattern that matches.
  [[nodiscard]] SettingsPatch patch_of_pattern(std::string_view pattern) const;

 private:
  std::vector<QueueRule> rules_;  // the shortest beginning first, names last
};

}  // namespace tarry::presets
