#include "app/config/queue_section.h"

#include <array>
#include <utility>
#include <vector>

#include "core/if_exists.h"
#include "core/limits.h"
#include "core/queue_pattern.h"
#include "core/validation.h"

namespace tarry::app::config {
namespace {

SettingsPatch read_patch(Section& section) {
  SettingsPatch patch;
  patch.lease = section.duration("lease", Millis(1), Millis(core::kMaxLeaseMs));
  if (const auto attempts = section.count("max_attempts", 1, core::kMaxAttempts)) {
    patch.max_attempts = static_cast<std::uint32_t>(*attempts);
  }
  patch.backoff_min = section.duration("backoff_min", Millis(0), Millis(core::kMaxBackoffMs));
  patch.backoff_max = section.duration("backoff_max", Millis(0), Millis(core::kMaxBackoffMs));
  patch.remember = section.duration("remember", Millis(0), Millis(core::kMaxRememberMs));
  patch.dead_keep = section.duration("dead_keep", Millis(1000), Millis(core::kMaxDeadKeepMs));
  if (const auto rule = section.choice("if_exists", core::if_exists_names())) {
    patch.if_exists = core::if_exists_from(*rule);
  }
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
  // What several patterns say together must hold together too.
  for (auto& [pattern, section] : sections) {
    if (core::check_queue_pattern(pattern)) continue;
    if (auto error = core::check_patch(rules.patch_of_pattern(pattern), QueueSettings())) {
      section.fail("", error->message);
    }
  }
  return rules;
}

}  // namespace tarry::app::config
