// Errors of a request that was carried out in part, because it goes to several shards or is done in
// slices. The codes that mean "nothing was done" (`unavailable`, `no_space`, `closed`) are used
// only if that is certain. Otherwise the code is `unknown_outcome`, after which no client repeats
// the request by itself.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::core {

/// An `unknown_outcome` error that says how far `verb` was carried out on the queue, and `why` it
/// was not completed.
[[nodiscard]] Error partly_done(std::string_view verb, std::string_view queue,
                                std::string_view so_far, const Error& why);

/// "1 message", "299 messages".
[[nodiscard]] std::string messages_so_far(std::uint64_t count);
/// "on 2 of its 3 shards".
[[nodiscard]] std::string shards_so_far(std::size_t done, std::size_t all);

/// Leaves in `kept` the less certain of two errors of a request: `unknown_outcome` replaces any
/// other.
void keep_less_certain(Error& kept, Error other);

}  // namespace tarry::core
