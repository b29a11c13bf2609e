// The engine of the layouts: a delay queue in Redis that belongs to other programs, as a store. It
// offers every verb that the keys can express; the others are `unsupported`.
// docs/formats/redis-layouts.md.
#pragma once

#include <memory>
#include <string>

#include <tarry/log.h>
#include <tarry/result.h>

#include "core/engine.h"
#include "core/limits.h"
#include "engines/redis/records/layout_spec.h"
#include "net/redis/redis_client.h"
#include "timing/manual_clock.h"

namespace tarry::redis {

struct LayoutEngineOptions {
  net::RedisOptions server;
  LayoutSpec layout;
  bool allow_eviction = false;
  core::Limits limits;
  /// Tests only: Lua that stands before each script; SCRIPT is the script's name there.
  std::string before_scripts;
  /// Tests only: instead of Redis's time.
  std::shared_ptr<timing::ManualClock> clock;
  /// Called with a line for the operator; on the engine's thread.
  Log log;
};

/// Connects, checks the server, and starts the engine's thread. Errors: `invalid_argument` for
/// names of keys that make no sense, otherwise as `open_redis`.
[[nodiscard]] Result<std::unique_ptr<core::Engine>> open_layout(LayoutEngineOptions options);

}  // namespace tarry::redis
