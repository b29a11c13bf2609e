// Messages on the wire, as in the answers of get and list.
//
//   get many: {"keys":[...],"payload":true,"history":false} -> {"results":[message or {"error"}]}
//   list:     ?state=&after=&limit=&prefix= -> {"messages":[message,...],"next":"..."}
//   message:  {"queue","id","key","state","stopping","due","due_ms","pushed","pushed_ms",
//              "priority","attempt","expire_ms","expire_at","expire_at_ms","tallies",
//              "lease_left_ms","settlement","kept_until","kept_until_ms","reason","paused",
//              "paused_until(_ms)","holder","history":{wire/history.h},"headers","payload"};
//              fields that do not apply are left out
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "core/rules/message_filter.h"
#include "wire/parts/batch.h"
#include "wire/parts/query.h"

namespace tarry::wire {

enum class Payload : std::uint8_t { shown, left_out };

/// Writes the members of one message's object.
void write_message_info(JsonWriter& out, const MessageInfo& info, Payload payload);

[[nodiscard]] std::string encode_get(const core::GetRequest& request);
[[nodiscard]] Result<Decoded<core::GetRequest>> decode_get(std::string queue,
                                                           std::string_view body);
/// ?key= or ?key_base64=
[[nodiscard]] Result<core::GetRequest> decode_get_query(std::string queue, Query& query);
[[nodiscard]] std::string encode_get_reply(const core::GetReply& reply, const BadItems& bad,
                                           Payload payload);
[[nodiscard]] Result<core::GetReply> decode_get_reply(std::string_view body);

/// The query, with its '?'.
[[nodiscard]] std::string encode_list(const core::ListRequest& request);
[[nodiscard]] Result<core::ListRequest> decode_list(std::string queue, Query& query);
/// Which messages of the page to show: due_from, due_to, reason, header=NAME=VALUE. Call it before
/// `decode_list`, which tells the query's errors.
[[nodiscard]] core::MessageFilter decode_list_filter(Query& query);
[[nodiscard]] std::string encode_list_reply(const core::ListReply& reply);
[[nodiscard]] Result<core::ListReply> decode_list_reply(std::string_view body);

}  // namespace tarry::wire
