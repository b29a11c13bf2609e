// The JSON bodies of requests, as the server reads them: one byte picks the verb, the rest is the
// body. What is read is written as a client would and read again, the same.
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "base/assert.h"
#include "fuzz/input.h"
#include "support/wire_text.h"
#include "wire/call.h"
#include "wire/claim.h"
#include "wire/json/json_reader.h"
#include "wire/message.h"
#include "wire/move.h"
#include "wire/parts/items.h"
#include "wire/push.h"
#include "wire/queue.h"
#include "wire/service.h"

namespace tarry::fuzz {
namespace {

using testing::text_of;

void check_error(const Error& error) {
  TARRY_ASSERT(!error.message.empty() && error.message.size() < 4096);
  TARRY_ASSERT(error.message.find('\n') == std::string::npos);
}

/// The request, less what could not be read.
template <typename T>
auto request_of(T decoded) {
  if constexpr (requires { decoded.bad; }) {
    for (const wire::BadItem& bad : decoded.bad) check_error(bad.error);
    return std::move(decoded.request);
  } else {
    return decoded;
  }
}

template <typename Decode>
void check(Decode decode, std::string_view body) {
  auto first = decode(body);
  if (!first) return check_error(first.error());
  const core::Request request = request_of(*std::move(first));
  const auto call = wire::encode_call(request);
  TARRY_ASSERT(call);
  auto second = decode(call->body);
  TARRY_ASSERT(second);
  if constexpr (requires { second->bad; }) TARRY_ASSERT(second->bad.empty());
  TARRY_ASSERT(text_of(core::Request(request_of(*std::move(second)))) == text_of(request));
}

void check_move(std::uint8_t verb, std::string_view body) {
  const std::string q = "q";
  using Body = std::string_view;
  switch (verb % 3) {
    case 0: return check([&](Body b) { return wire::decode_move(q, b); }, body);
    case 1: return check([&](Body b) { return wire::decode_reshard(q, b); }, body);
    default: break;
  }
  const auto away = wire::decode_move_away(q, body);
  if (!away) return check_error(away.error());
  TARRY_ASSERT(away->request.seen.size() == away->request.keys.size());
  // Of no message it is no other than a plain cancel.
  if (away->request.keys.empty()) return;
  check([&](Body b) { return wire::decode_move_away(q, b); }, body);
}

void check_one(std::uint8_t verb, std::string_view body) {
  const std::string q = "q";
  using Body = std::string_view;
  if (verb >= 0xf0) return check_move(verb, body);
  switch (verb % 10) {
    case 0: return check([&](Body b) { return wire::decode_push(q, b); }, body);
    case 1: return check([&](Body b) { return wire::decode_cancel(q, b); }, body);
    case 2: return check([&](Body b) { return wire::decode_reschedule(q, b); }, body);
    case 3: return check([&](Body b) { return wire::decode_claim(b); }, body);
    case 4: return check([&](Body b) { return wire::decode_settle(b); }, body);
    case 5: return check([&](Body b) { return wire::decode_extend(b); }, body);
    case 6: return check([&](Body b) { return wire::decode_get(q, b); }, body);
    case 7: return check([&](Body b) { return wire::decode_configure(q, b); }, body);
    case 8: return check([&](Body b) { return wire::decode_pause(q, b); }, body);
    default: return check([&](Body b) { return wire::decode_revive(q, b); }, body);
  }
}

void check_others(std::string_view body) {
  if (const auto error = wire::decode_nothing(body)) check_error(*error);
  const auto by = wire::decode_advance(body);
  if (!by) return check_error(by.error());
  TARRY_ASSERT(by->count() >= 0);
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarry::fuzz::Input input(data, size);
  const std::uint8_t verb = input.u8();
  tarry::fuzz::check_one(verb, input.rest());
  tarry::fuzz::check_others(input.rest());
  return 0;
}
