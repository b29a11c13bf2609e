// Errors of a request that goes to several shards, or is done in slices, and was carried out in
// part. Codes that mean "nothing was done" (`unavailable`, `no_space`, `closed`) are used only if
// that is known; otherwise it is `unknown_outcome`, which no client repeats by itself.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::core {

/// `unknown_outcome`: how far `verb` of the queue was done, and `why` it was not completed.
[[nodiscard]] Error partly_done(std::string_view verb, std::string_view queue,
                                std::string_view so_far, const Error& why);

/// "1 message", "299 messages".
[[nodiscard]] std::string messages_so_far(std::uint64_t count);
/// "on 2 of its 3 shards".
[[nodiscard]] std::string shards_so_far(std::size_t done, std::size_t all);

/// Of two errors of a request, the less certain one: `unknown_outcome` before all others.
void keep_less_certain(Error& kept, Error other);

}  // namespace tarry::core
