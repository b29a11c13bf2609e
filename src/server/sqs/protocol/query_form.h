// The query protocol's form ("Action=SendMessage&MessageAttribute.1.Name=..."), read into the same
// objects as the JSON protocol has, so that operations know only those.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "net/http/http_message.h"
#include "server/sqs/protocol/protocol.h"

namespace tarry::sqs {

/// Reads the fields of the target's query and, of a POST, of the body. For a request whose target
/// is a queue's path, that path is its QueueUrl if it has none.
[[nodiscard]] std::variant<Decoded, Fault> decode_query(const net::HttpMessage& message);

using FormFields = std::vector<std::pair<std::string, std::string>>;
/// The decoded fields, in their order; a fault for text that is not percent-encoded, and for more
/// than 2,000 fields.
[[nodiscard]] std::variant<FormFields, Fault> parse_form(std::string_view text);

}  // namespace tarry::sqs
