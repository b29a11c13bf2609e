// tarry itself as a design: a queue of an embedded store, by its public and blocking verbs.
#pragma once

#include <memory>
#include <string>

#include <tarry/store.h>

#include "designs/design.h"

namespace tarry::bench {

/// `options` are added to the URL: "&shards=2".
[[nodiscard]] std::unique_ptr<Design> make_tarry_queue(const std::string& path, Sync sync,
                                                       const std::string& options = {});

/// The same, on an open store whose owner keeps it open.
[[nodiscard]] std::unique_ptr<Design> make_tarry_queue(Store store);

}  // namespace tarry::bench
