// Queues with limits (docs/decisions/0024-limits-on-redis.md): which queues may have them, and the
// errors for the others.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <optional>
#include <string>

#include <tarry/result.h>
#include <tarry/settings.h>

#include "base/unique_function.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

[[nodiscard]] bool has_limits(const QueueSettings& settings) noexcept;
[[nodiscard]] bool sets_limits(const SettingsPatch& patch) noexcept;

/// `unsupported` if one script cannot use all the queue's shards.
[[nodiscard]] std::optional<Error> refuse_shards(const Context& context, const QueuePlaces& queue);

/// Checks whether the queue, which may not exist yet, can have the limits of `patch`.
void check_limits(Context& context, const std::string& queue, const SettingsPatch& patch,
                  base::UniqueFunction<void(std::optional<Error>)> done);

}  // namespace tarry::redis
