#include "server/sqs/protocol/protocol.h"

#include <algorithm>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "server/http_session/hosts.h"
#include "server/sqs/protocol/query_form.h"
#include "server/sqs/protocol/xml.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;
using http_session::Response;

constexpr std::string_view kJsonType = "application/x-amz-json-1.0";
constexpr std::string_view kXmlType = "text/xml";
constexpr std::string_view kTarget = "X-Amz-Target";
constexpr std::string_view kBegins = "AmazonSQS.";

/// `/`, or `/000000000000/orders`.
bool is_path_of_sqs(std::string_view path) noexcept {
  if (path == "/") return true;
  const std::size_t slash = path.find('/', 1);
  return slash != std::string_view::npos && slash > 1 &&
         std::ranges::all_of(path.substr(1, slash - 1), base::is_digit);
}

std::variant<Decoded, Fault> decode_json(const net::HttpMessage& message) {
  const std::string* target = message.find(kTarget);
  if (target == nullptr || !target->starts_with(kBegins)) {
    return Fault{Kind::invalid_action, "The field X-Amz-Target is not AmazonSQS. and an action."};
  }
  Decoded decoded;
  decoded.action = target->substr(kBegins.size());
  boost::system::error_code error;
  json::value value = json::parse(message.body.empty() ? "{}" : message.body, error);
  json::object* params = error ? nullptr : value.if_object();
  if (params == nullptr) {
    return Fault{Kind::malformed, error ? "The body is not JSON: " + error.message() + "."
                                        : "The body is not a JSON object."};
  }
  decoded.params = std::move(*params);
  return decoded;
}

}  // namespace

Protocol protocol_of(const net::HttpMessage& message) noexcept {
  if (message.find(kTarget) != nullptr) return Protocol::json;
  const std::string* type = message.find("Content-Type");
  const bool is_form = message.method == "GET" ||
                       (type != nullptr && type->starts_with("application/x-www-form-urlencoded"));
  return is_form ? Protocol::query : Protocol::json;
}

bool is_for_sqs(const net::HttpMessage& head) noexcept {
  const std::string* action = head.find(kTarget);
  if (action != nullptr && action->starts_with(kBegins)) return true;
  const std::string_view target = http_session::origin_form(head.target);
  const std::string_view path = target.substr(0, target.find('?'));
  if (!is_path_of_sqs(path)) return false;
  const std::string_view query = target.substr(std::min(path.size() + 1, target.size()));
  if (query.starts_with("Action=") || query.find("&Action=") != std::string_view::npos) return true;
  return head.method == "POST" && protocol_of(head) == Protocol::query;
}

std::variant<Decoded, Fault> decode_request(const net::HttpMessage& message, Protocol protocol) {
  return protocol == Protocol::json ? decode_json(message) : decode_query(message);
}

Response encode_answer(Protocol protocol, std::string_view action, const json::object& fields,
                       std::string_view request_id) {
  Response response;
  if (protocol == Protocol::query) {
    response.content_type = kXmlType;
    response.body = xml_answer(action, fields, request_id);
    return response;
  }
  response.content_type = kJsonType;
  response.body = json::serialize(fields);
  return response;
}

Response encode_fault(Protocol protocol, const Fault& fault, std::string_view request_id) {
  Response response;
  response.status = fault.status();
  response.retry_after = fault.retry_after;
  response.code = fault.query_code();
  response.detail = fault.message;
  constexpr unsigned kTooMany = 429;
  constexpr unsigned kFirstFailure = 500;
  const bool is_refused = fault.kind == Kind::missing_token || fault.kind == Kind::invalid_token ||
                          fault.kind == Kind::signature_wrong;
  response.token_refused = is_refused;
  if (is_refused || response.status == kTooMany || response.status >= kFirstFailure) {
    response.reason = fault.reason.empty() ? fault.message : fault.reason;
  }
  if (protocol == Protocol::query) {
    response.content_type = kXmlType;
    response.body = xml_fault(fault, request_id);
    return response;
  }
  json::object fields;
  fields["__type"] = "com.amazonaws.sqs#" + std::string(fault.json_name());
  fields["message"] = fault.message;
  response.content_type = kJsonType;
  response.body = json::serialize(fields);
  return response;
}

}  // namespace tarry::sqs
