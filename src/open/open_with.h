// The code that both composition roots share. open.cpp (all engines) and open_embedded_only.cpp
// differ only in the openers that they pass.
#pragma once

#include <memory>
#include <string_view>

#include <tarry/result.h>
#include <tarry/store.h>

#include "core/engine.h"
#include "open/urls/store_url.h"

namespace tarry::detail {

using EngineResult = Result<std::unique_ptr<core::Engine>>;

/// How to open stores that the embedded library does not have.
struct Openers {
  EngineResult (*remote)(const RemoteUrl& url);
  EngineResult (*redis)(const RedisUrl& url, const OpenOptions& options);
  EngineResult (*rabbitmq)(const RabbitUrl& url, const OpenOptions& options);
};

/// `tarry::open`. Without `openers`, everything except memory: and file: is `unsupported`.
[[nodiscard]] Result<Store> open_with(std::string_view url, OpenOptions options,
                                      const Openers* openers);

}  // namespace tarry::detail
