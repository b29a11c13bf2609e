// Claim on the wire, both ways.
//
//   request: {"queues":["q"],"max","max_bytes","lease","wait","keys":[...],"any_state",
//             "settle":[{"receipt","action","delay","reason","priority"}]}
//   answer:  {"messages":[{"queue","id","key","payload","headers","receipt","due","due_ms",
//             "claimed_ms","lease_ms","attempt","priority","tallies":{...}}],"waited_ms"}, an empty
//             list if there is none; "waited_ms": time from the request's arrival to the start of
//             the leases. For a request with "settle" also "settled":[{"outcome","due","due_ms"}],
//             as the verb settle answers (items.h), and "error":{"code","message"} if the claim
//             failed after the settlements
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "base/threads/boot_clock.h"
#include "core/reply.h"
#include "core/request.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"
#include "wire/parts/batch.h"

namespace tarry::wire {

[[nodiscard]] std::string encode_claim(const core::ClaimRequest& request);
/// The bad items are those of "settle".
[[nodiscard]] Result<Decoded<core::ClaimRequest>> decode_claim(std::string_view body);

/// Damaged headers are written as empty. (To find damage is the engine's task, by its checksum.)
/// `asked_at`: when the request arrived.
[[nodiscard]] std::string encode_claim_reply(
    const core::ClaimReply& reply, std::optional<base::BootClock::time_point> asked_at = {},
    const BadItems& bad = {});
/// `asked_at`: when the request was sent. The leases began `waited_ms` after that.
[[nodiscard]] Result<core::ClaimReply> decode_claim_reply(
    std::string_view body, std::optional<base::BootClock::time_point> asked_at = {});

void write_tallies(JsonWriter& out, const Tallies& tallies);
/// `unknown`: how to treat unknown fields in the object.
[[nodiscard]] Tallies read_tallies(Fields& fields, Unknown unknown = Unknown::ignored);

}  // namespace tarry::wire
