// The answers of a server, as the remote engine reads them: one byte picks what was asked, the rest
// is the body. What is read is written as a server would and read again, the same.
#include <cstdint>
#include <string>
#include <variant>

#include "base/assert.h"
#include "fuzz/input.h"
#include "support/wire_text.h"
#include "wire/call.h"
#include "wire/claim.h"
#include "wire/forecast.h"
#include "wire/message.h"
#include "wire/parts/items.h"
#include "wire/parts/problem.h"
#include "wire/push.h"
#include "wire/queue.h"
#include "wire/service.h"
#include "wire/stats.h"

namespace tarry::fuzz {
namespace {

using testing::text_of;

struct Encoder {
  std::string operator()(const core::PushReply& r) const { return wire::encode_push_reply(r, {}); }
  std::string operator()(const core::ItemsReply& r) const {
    return wire::encode_items_reply(r, {}, {});
  }
  std::string operator()(const core::ClaimReply& r) const { return wire::encode_claim_reply(r); }
  std::string operator()(const core::GetReply& r) const {
    return wire::encode_get_reply(r, {}, wire::Payload::shown);
  }
  std::string operator()(const core::ListReply& r) const { return wire::encode_list_reply(r); }
  std::string operator()(const StoreStats& r) const { return wire::encode_store_stats(r); }
  std::string operator()(const core::ConfigureReply& r) const {
    return wire::encode_configure_reply(r);
  }
  std::string operator()(const core::CountReply& r) const { return wire::encode_count(r); }
  std::string operator()(const core::ForecastReply& r) const {
    return wire::encode_forecast_reply(r, Millis(1));
  }
  std::string operator()(const ReshardStep& r) const { return wire::encode_reshard_reply(r); }
};

void check_answer(std::uint8_t kind, std::string_view body) {
  wire::Call call;
  call.answer = static_cast<wire::Answer>(kind % 8);
  call.items = kind / 8;
  if (kind >= 0xe8 && kind < 0xf0) call.answer = wire::Answer::resharded;
  if (kind >= 0xf0) {
    call.answer = wire::Answer::forecast;
    call.items = kind - 0xf0u;
  }
  auto reply = wire::decode_answer(call, body);
  if (!reply) {
    TARRY_ASSERT(!reply.error().message.empty());
    return;
  }
  if (auto* listed = std::get_if<core::ListReply>(&*reply)) {
    for (MessageInfo& message : listed->messages) message.payload.clear();  // lists have none
  }
  const auto again = wire::decode_answer(call, std::visit(Encoder{}, *reply));
  TARRY_ASSERT(again);
  TARRY_ASSERT(text_of(*again) == text_of(*reply));
}

void check_problem(std::uint8_t kind, std::string_view body) {
  const unsigned status = 400u + kind;
  TARRY_ASSERT(!wire::reason_phrase(status).empty());
  TARRY_ASSERT(!wire::read_problem(status, body).message.empty());
  const auto health = wire::decode_health(body);
  TARRY_ASSERT(health || !health.error().message.empty());
  if (!health) return;
  TARRY_ASSERT(wire::decode_health(wire::encode_health(*health)));
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarry::fuzz::Input input(data, size);
  const std::uint8_t kind = input.u8();
  tarry::fuzz::check_answer(kind, input.rest());
  tarry::fuzz::check_problem(kind, input.rest());
  return 0;
}
