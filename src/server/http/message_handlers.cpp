#include "base/text.h"
#include "server/http/handlers.h"
#include "wire/items.h"
#include "wire/message.h"
#include "wire/problem.h"
#include "wire/push.h"

namespace tarry::http {
namespace {

// A push that changed nothing says why, and what is there.
std::string conflict_detail(Outcome outcome, std::string_view key) {
  const std::string name = base::quoted(key);
  if (outcome == Outcome::in_flight) return "a delivery of " + name + " is running";
  if (outcome == Outcome::settled) return name + " was settled, and is remembered";
  return name + " exists";
}

bool is_conflict(Outcome outcome) noexcept {
  return outcome == Outcome::exists || outcome == Outcome::in_flight || outcome == Outcome::settled;
}

Response one_pushed(const core::PushReply& reply) {
  if (reply.items.size() != 1) {
    return problem(500, ErrorCode::misuse, "the engine's answer does not fit the request");
  }
  const core::PushResult& result = reply.items.front();
  if (result.error) return problem(*result.error);
  Response response;
  wire::JsonWriter out(response.body);
  out.begin_object();
  if (is_conflict(result.outcome)) {
    response.status = 409;
    const auto detail = conflict_detail(result.outcome, core::view(reply.bytes, result.key));
    wire::write_problem(out, 409, to_string(ErrorCode::conflict), detail);
  }
  wire::write_pushed(out, result, reply.bytes);
  out.end_object();
  return response;
}

}  // namespace

Routed push(Asked& asked) {
  auto push = wire::decode_push(std::move(asked.queue), asked.body);
  if (!push) return problem(push.error());
  if (push->single) return ask<core::PushReply>(std::move(push->request), one_pushed);
  if (push->request.items.empty() && !push->bad.empty()) {
    return ok(wire::encode_push_reply({}, push->bad));
  }
  return ask<core::PushReply>(std::move(push->request),
                              [bad = std::move(push->bad)](const core::PushReply& reply) {
                                return ok(wire::encode_push_reply(reply, bad));
                              });
}

Routed list(Asked& asked) {
  auto list = wire::decode_list(std::move(asked.queue), asked.query);
  if (!list) return problem(list.error());
  return ask<core::ListReply>(std::move(*list), [](const core::ListReply& reply) {
    return ok(wire::encode_list_reply(reply));
  });
}

Routed get_one(Asked& asked) {
  auto get = wire::decode_get_query(std::move(asked.queue), asked.query);
  if (!get) return problem(get.error());
  return ask<core::GetReply>(std::move(*get), [](const core::GetReply& reply) {
    if (reply.items.size() != 1) {
      return problem(500, ErrorCode::misuse, "the engine's answer does not fit the request");
    }
    if (!reply.items.front()) return problem(reply.items.front().error());
    Response response;
    wire::JsonWriter out(response.body);
    out.begin_object();
    wire::write_message_info(out, *reply.items.front(), wire::Payload::shown);
    out.end_object();
    return response;
  });
}

Routed get_many(Asked& asked) {
  auto get = wire::decode_get(std::move(asked.queue), asked.body);
  if (!get) return problem(get.error());
  const auto payload = get->request.with_payload ? wire::Payload::shown : wire::Payload::left_out;
  if (get->request.keys.empty() && !get->bad.empty()) {
    return ok(wire::encode_get_reply({}, get->bad, payload));
  }
  return ask<core::GetReply>(std::move(get->request),
                             [bad = std::move(get->bad), payload](const core::GetReply& reply) {
                               return ok(wire::encode_get_reply(reply, bad, payload));
                             });
}

Routed cancel(Asked& asked) {
  auto cancel = wire::decode_cancel(std::move(asked.queue), asked.body);
  if (!cancel) return problem(cancel.error());
  if (cancel->request.keys.empty() && !cancel->bad.empty()) {
    return ok(wire::encode_items_reply({}, cancel->bad, {}));
  }
  auto keys = wire::keys_of(cancel->request);
  return ask<core::ItemsReply>(
      std::move(cancel->request),
      [bad = std::move(cancel->bad), keys = std::move(keys)](const core::ItemsReply& reply) {
        return ok(wire::encode_items_reply(reply, bad, keys));
      });
}

Routed reschedule(Asked& asked) {
  auto moved = wire::decode_reschedule(std::move(asked.queue), asked.body);
  if (!moved) return problem(moved.error());
  if (moved->request.items.empty() && !moved->bad.empty()) {
    return ok(wire::encode_items_reply({}, moved->bad, {}));
  }
  auto keys = wire::keys_of(moved->request);
  return ask<core::ItemsReply>(
      std::move(moved->request),
      [bad = std::move(moved->bad), keys = std::move(keys)](const core::ItemsReply& reply) {
        return ok(wire::encode_items_reply(reply, bad, keys));
      });
}

}  // namespace tarry::http
