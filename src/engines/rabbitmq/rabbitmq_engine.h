// The engine on RabbitMQ, without a plugin. A ladder of queues with fixed delays makes all others
// (ladder.h). refusals.cpp lists what the engine cannot do.
//
// Thread safety: as core::Engine says. Completions run on the publisher's thread, the consumer's,
// or a thread for answers.
#pragma once

#include <cstdint>
#include <memory>

#include <tarry/log.h>
#include <tarry/result.h>

#include "core/engine.h"
#include "core/limits.h"
#include "engines/rabbitmq/ladder/broker.h"
#include "engines/rabbitmq/ladder/ladder.h"
#include "net/rabbit/address.h"

namespace tarry::rabbitmq {

struct RabbitEngineOptions {
  net::RabbitAddress address;
  std::int64_t rung_ms = Ladder::kDefaultBaseMs;  // 1 to Ladder::kMostBaseMs
  Queues queues = Queues::automatic;
  core::Limits limits = {};
  Log log = {};  // empty: nothing is logged
};

/// Connects, and declares the ladder. Errors: `unavailable` if no broker answers;
/// `permission_denied` for the login, the vhost or the right to configure; `conflict` if a queue of
/// ours exists with other arguments; `unsupported` for a broker below 3.8.
[[nodiscard]] Result<std::unique_ptr<core::Engine>> open_rabbitmq(RabbitEngineOptions options);

}  // namespace tarry::rabbitmq
