// What both composition roots share: open.cpp (all engines) and open_embedded_only.cpp differ only
// in the opener that they hand in.
#pragma once

#include <memory>
#include <string_view>

#include <tarry/result.h>
#include <tarry/store.h>

#include "core/engine.h"
#include "open/store_url.h"

namespace tarry::detail {

using RemoteOpener = Result<std::unique_ptr<core::Engine>> (*)(const RemoteUrl& url);

/// `tarry::open`. Without `open_remote`, http: is `unsupported`.
[[nodiscard]] Result<Store> open_with(std::string_view url, OpenOptions options,
                                      RemoteOpener open_remote);

}  // namespace tarry::detail
