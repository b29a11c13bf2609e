#include "app/commands/queues/settings_sheet.h"

#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace tarry::app {
namespace {

std::string duration_text(Millis duration) { return base::format_duration_ms(duration.count()); }

}  // namespace

void add_settings(Sheet& sheet, const QueueSettings& settings) {
  sheet.add("lease", duration_text(settings.lease));
  sheet.add("max attempts", std::to_string(settings.max_attempts));
  sheet.add("backoff", fmt::format("{} to {}", duration_text(settings.backoff_min),
                                   duration_text(settings.backoff_max)));
  sheet.add("remember", duration_text(settings.remember));
  sheet.add("dead keep", duration_text(settings.dead_keep));
  sheet.add("if exists", to_string(settings.if_exists));
}

}  // namespace tarry::app
