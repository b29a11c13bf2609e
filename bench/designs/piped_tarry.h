// tarry as a piped design: a queue of a store in Redis, by its public verbs with callbacks, which
// run on the engine's thread.
#pragma once

#include <memory>
#include <string>

#include "designs/piped.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Piped> make_piped_tarry(const std::string& socket_path);
/// `url` is a Redis store's, without options: "redis://127.0.0.1:6379".
[[nodiscard]] std::unique_ptr<Piped> make_piped_tarry_at(const std::string& url);

}  // namespace tarry::bench
