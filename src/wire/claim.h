// Claim on the wire, both ways.
//
//   request: {"queues":["q"],"max","max_bytes","lease","wait","keys":[...],"any_state"}
//   answer:  {"messages":[{"queue","id","key","payload","headers","receipt","due","due_ms",
//             "claimed_ms","lease_ms","attempt","priority","tallies":{...}}],"waited_ms"}, empty
//             when none; "waited_ms": how long the request was there before the leases began
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "base/boot_clock.h"
#include "core/reply.h"
#include "core/request.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace tarry::wire {

[[nodiscard]] std::string encode_claim(const core::ClaimRequest& request);
[[nodiscard]] Result<core::ClaimRequest> decode_claim(std::string_view body);

/// Headers that are damaged go out empty: the payload's checksum is the engine's to check.
/// `asked_at`: when the request came.
[[nodiscard]] std::string encode_claim_reply(
    const core::ClaimReply& reply, std::optional<base::BootClock::time_point> asked_at = {});
/// `asked_at`: when the request was sent. The leases began as long after that as it waited there.
[[nodiscard]] Result<core::ClaimReply> decode_claim_reply(
    std::string_view body, std::optional<base::BootClock::time_point> asked_at = {});

void write_tallies(JsonWriter& out, const Tallies& tallies);
/// `unknown`: of the fields within.
[[nodiscard]] Tallies read_tallies(Fields& fields, Unknown unknown = Unknown::ignored);

}  // namespace tarry::wire
