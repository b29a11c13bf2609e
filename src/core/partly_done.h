// What is said of a request that goes to several shards, or slice after slice, and was carried out
// in part. "Nothing was done" (`unavailable`, `no_space`, `closed`) may be said only where that is
// known: else it is `unknown_outcome`, which nobody repeats unseen.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::core {

/// `unknown_outcome`: `verb` of the queue is done so far, and `why` it is not done to its end.
[[nodiscard]] Error partly_done(std::string_view verb, std::string_view queue,
                                std::string_view so_far, const Error& why);

/// "1 message", "299 messages".
[[nodiscard]] std::string messages_so_far(std::uint64_t count);
/// "on 2 of its 3 shards".
[[nodiscard]] std::string shards_so_far(std::size_t done, std::size_t all);

/// The one of both errors of a request that says less: `unknown_outcome` before all others.
void keep_less_certain(Error& kept, Error other);

}  // namespace tarry::core
