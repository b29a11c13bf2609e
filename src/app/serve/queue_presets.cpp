#include "app/serve/queue_presets.h"

#include <utility>
#include <variant>

#include "base/text/text.h"
#include "core/settings/settings_table.h"
#include "open/handles/ask.h"

namespace tarry::app {

Result<PresetChanges> apply_rules(core::Engine& engine, const presets::QueueRules& rules) {
  PresetChanges changes;
  if (rules.empty()) return changes;
  const auto reply = detail::wait_for(engine, core::StatsRequest{});
  if (!reply) return reply.error();
  for (const QueueStats& queue : std::get<StoreStats>(*reply).queues) {
    const auto patch = rules.patch_of(queue.queue);
    if (!patch || core::apply(*patch, queue.settings) == queue.settings) continue;
    const auto put = detail::wait_for(engine, core::ConfigureRequest{queue.queue, *patch});
    if (put) {
      changes.changed.push_back(queue.queue);
    } else {
      changes.failed.push_back({put.error().code, "the settings of queue " +
                                                      base::quoted(queue.queue) +
                                                      " stay as they are: " + put.error().message});
    }
  }
  for (const UnreadableQueue& queue : std::get<StoreStats>(*reply).unreadable) {
    changes.failed.push_back({queue.error.code, "the settings of queue " +
                                                    base::quoted(queue.queue) +
                                                    " stay as they are: " + queue.error.message});
  }
  return changes;
}

}  // namespace tarry::app
