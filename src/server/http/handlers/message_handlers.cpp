#include <optional>
#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "core/rules/message_filter.h"
#include "core/rules/trace_context.h"
#include "server/http/handlers/batches.h"
#include "server/http/handlers/handlers.h"
#include "wire/history.h"
#include "wire/message.h"
#include "wire/parts/items.h"
#include "wire/parts/problem.h"
#include "wire/push.h"

namespace tarry::http {
namespace {

// The problem's detail for a push that changed nothing: the reason, or the state of the existing
// message.
std::string conflict_detail(Outcome outcome, std::string_view key) {
  const std::string name = base::quoted(key);
  if (outcome == Outcome::in_flight) return "a delivery of " + name + " is running";
  if (outcome == Outcome::settled) return name + " was settled, and is remembered";
  return name + " exists";
}

bool is_conflict(Outcome outcome) noexcept {
  return outcome == Outcome::exists || outcome == Outcome::in_flight || outcome == Outcome::settled;
}

void tell_holders(const session::Holders* holders, core::GetReply& reply) {
  if (holders == nullptr) return;
  for (auto& item : reply.items) {
    if (item) holders->tell(*item);
  }
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

// A field that occurs several times counts as one with all values (RFC 9110, 5.3).
std::string joined(const net::HttpMessage& message, std::string_view name) {
  std::string all;
  for (const net::HttpField& field : message.fields) {
    if (!base::equals_ignoring_case(field.name, name)) continue;
    if (!all.empty()) all += ',';
    all += field.value;
  }
  return all;
}

// The messages belong to the trace of the request that pushes them. A store without headers would
// refuse the push.
void keep_trace(const Asked& asked, core::PushRequest& request) {
  const std::string* parent = asked.message.find(core::kTraceparent);
  if (parent == nullptr || !asked.service.capabilities.headers) return;
  if (asked.message.count(core::kTraceparent) > 1) return;
  core::add_trace(request, core::read_trace(*parent, joined(asked.message, core::kTracestate)));
}

}  // namespace

Routed push(Asked& asked) {
  auto push = wire::decode_push(std::move(asked.name), asked.body);
  if (!push) return problem(push.error());
  keep_trace(asked, push->request);
  if (push->single) return ask<core::PushReply>(std::move(push->request), one_pushed);
  return answer_pushed(std::move(*push));
}

Routed push_many(Asked& asked) {
  auto push = wire::decode_push_batch(std::move(asked.name), asked.body);
  if (!push) return problem(push.error());
  keep_trace(asked, push->request);
  return answer_pushed(std::move(*push));
}

Routed list(Asked& asked) {
  auto filter = wire::decode_list_filter(asked.query);
  auto request = wire::decode_list(std::move(asked.name), asked.query);
  // Only dead messages have a reason.
  if (request && !request->state && !filter.reason.empty()) request->state = State::dead;
  return ask<core::ListReply>(
      std::move(request), [filter = std::move(filter)](core::ListReply& reply) {
        std::erase_if(reply.messages,
                      [&](const MessageInfo& one) { return !core::matches(filter, one); });
        return ok(wire::encode_list_reply(reply));
      });
}

Routed get_one(Asked& asked) {
  auto get = wire::decode_get_query(std::move(asked.name), asked.query);
  if (!get) return problem(get.error());
  return ask<core::GetReply>(
      std::move(*get), [holders = asked.service.holders](core::GetReply& reply) {
        if (reply.items.size() != 1) {
          return problem(500, ErrorCode::misuse, "the engine's answer does not fit the request");
        }
        if (!reply.items.front()) return problem(reply.items.front().error());
        tell_holders(holders, reply);
        Response response;
        wire::JsonWriter out(response.body);
        out.begin_object();
        wire::write_message_info(out, *reply.items.front(), wire::Payload::shown);
        out.end_object();
        return response;
      });
}

Routed history(Asked& asked) {
  auto get = wire::decode_get_query(std::move(asked.name), asked.query);
  if (!get) return problem(get.error());
  get->with_payload = false;
  get->with_history = true;
  return ask<core::GetReply>(std::move(*get), [](core::GetReply& reply) {
    if (reply.items.size() != 1) {
      return problem(500, ErrorCode::misuse, "the engine's answer does not fit the request");
    }
    const auto& item = reply.items.front();
    return item ? ok(wire::encode_history(item->history)) : problem(item.error());
  });
}

Routed get_many(Asked& asked) {
  auto get = wire::decode_get(std::move(asked.name), asked.body);
  if (!get) return problem(get.error());
  const auto payload = get->request.with_payload ? wire::Payload::shown : wire::Payload::left_out;
  if (get->request.keys.empty() && !get->bad.empty()) {
    return ok(wire::encode_get_reply({}, get->bad, payload));
  }
  return ask<core::GetReply>(
      std::move(get->request),
      [holders = asked.service.holders, bad = std::move(get->bad), payload](core::GetReply& reply) {
        tell_holders(holders, reply);
        return ok(wire::encode_get_reply(reply, bad, payload));
      });
}

Routed cancel(Asked& asked) {
  return answer_by_key(wire::decode_cancel(std::move(asked.name), asked.body));
}

Routed reschedule(Asked& asked) {
  return answer_by_key(wire::decode_reschedule(std::move(asked.name), asked.body));
}

}  // namespace tarry::http
