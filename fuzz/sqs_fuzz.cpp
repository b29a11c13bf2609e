// Requests to the SQS front, in both protocols, and their signatures: every fault is one line of
// text; attributes come back from headers as they were; an answer in XML has no raw markup.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json/object.hpp>

#include "base/assert.h"
#include "base/text/text.h"
#include "fuzz/input.h"
#include "net/http/http_parser.h"
#include "server/sqs/operations/batch.h"
#include "server/sqs/protocol/protocol.h"
#include "server/sqs/protocol/signature.h"
#include "server/sqs/protocol/xml.h"
#include "server/sqs/queues/message_attributes.h"
#include "server/sqs/queues/queue_attributes.h"
#include "server/sqs/queues/queue_record.h"

namespace tarry::fuzz {
namespace {

void check_fault(const sqs::Fault& fault) {
  TARRY_ASSERT(fault.message.find('\n') == std::string::npos);
  TARRY_ASSERT(base::is_valid_utf8(fault.message));
  TARRY_ASSERT(sqs::xml_fault(fault, "id").ends_with("</ErrorResponse>"));
}

void check_attributes(const boost::json::object& from) {
  sqs::MessageAttributes attributes;
  if (const auto fault = sqs::read_message_attributes(from, attributes)) return check_fault(*fault);
  std::string key;
  for (const auto& one : attributes) {
    if (one.name == sqs::kKeyAttribute) key = one.value;
  }
  Headers headers;
  sqs::add_headers(attributes, headers);
  const auto back = sqs::attributes_in(headers, key);
  TARRY_ASSERT(sqs::md5_of(back) == sqs::md5_of(attributes));
}

void check_params(const boost::json::object& params) {
  std::vector<sqs::Entry> entries;
  if (const auto fault = sqs::read_entries(params, entries)) check_fault(*fault);
  if (const auto* from = params.if_contains("MessageAttributes"); from && from->is_object()) {
    check_attributes(from->get_object());
  }
  if (const auto* from = params.if_contains("Attributes"); from && from->is_object()) {
    sqs::GivenAttributes given;
    if (const auto fault = sqs::read_attributes(from->get_object(), true, given)) {
      check_fault(*fault);
    } else {
      for (const bool fifo : {false, true}) static_cast<void>(sqs::patch_of(given, fifo, true));
    }
  }
  static_cast<void>(sqs::xml_answer("X", params, "id"));
}

void check_signature(const net::HttpMessage& message) {
  const auto read = sqs::read_signature(message);
  if (const auto* fault = std::get_if<sqs::Fault>(&read)) check_fault(*fault);
  const auto* signature = std::get_if<sqs::Signature>(&read);
  if (signature == nullptr) return;
  if (const auto fault = sqs::check_time(*signature, Time(Millis(0)))) check_fault(*fault);
  const auto hash = sqs::body_hash(message);
  if (const auto* fault = std::get_if<sqs::Fault>(&hash)) return check_fault(*fault);
  TARRY_ASSERT(
      !sqs::is_signed_with(message, *signature, "no such secret", std::get<std::string>(hash)));
}

void check_request(std::string_view text) {
  net::HttpParser parser(net::HttpParser::Side::request, {64 * 1024, 1 << 20});
  while (!text.empty()) {
    const std::size_t used = parser.feed(text);
    if (used == 0) break;
    text.remove_prefix(used);
  }
  if (!parser.done()) return;
  const net::HttpMessage& message = parser.message();
  check_signature(message);
  const auto decoded = sqs::decode_request(message, sqs::protocol_of(message));
  if (const auto* fault = std::get_if<sqs::Fault>(&decoded)) return check_fault(*fault);
  check_params(std::get<sqs::Decoded>(decoded).params);
  static_cast<void>(sqs::decode_record(message.body));
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarry::fuzz::check_request(tarry::fuzz::Input(data, size).rest());
  return 0;
}
