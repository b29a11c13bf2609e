// The two protocols of SQS, by the bytes of one request and one answer. AWS JSON 1.0 names the
// operation in X-Amz-Target; the older query protocol in the form's field Action, and is answered
// with XML.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/object.hpp>

#include "net/http/http_message.h"
#include "server/http_session/response.h"
#include "server/sqs/protocol/fault.h"

namespace tarry::sqs {

enum class Protocol : std::uint8_t { json, query };

/// The protocol that the request's head names; JSON if it names none.
[[nodiscard]] Protocol protocol_of(const net::HttpMessage& message) noexcept;

/// Whether a request to an address that speaks other protocols too is one of SQS: by X-Amz-Target,
/// or by an Action in the query or a form at `/` or at a queue's path.
[[nodiscard]] bool is_for_sqs(const net::HttpMessage& head) noexcept;

struct Decoded {
  std::string action;
  boost::json::object params;
};
/// Reads the request, whose body has arrived in full.
[[nodiscard]] std::variant<Decoded, Fault> decode_request(const net::HttpMessage& message,
                                                          Protocol protocol);

[[nodiscard]] http_session::Response encode_answer(Protocol protocol, std::string_view action,
                                                   const boost::json::object& fields,
                                                   std::string_view request_id);
/// The response's `allow` is empty; `code` lives as long as the program.
[[nodiscard]] http_session::Response encode_fault(Protocol protocol, const Fault& fault,
                                                  std::string_view request_id);

}  // namespace tarry::sqs
