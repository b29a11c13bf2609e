// GET .../why takes two requests: for the message, and then for its queue.
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "core/figures/why.h"
#include "core/rules/queue_pattern.h"
#include "server/http/handlers/handlers.h"
#include "wire/message.h"
#include "wire/why.h"

namespace tarry::http {
namespace {

/// The relays that serve the queue and hand nothing over now.
std::vector<core::IdleRelay> idle_relays(const Service& service, std::string_view queue) {
  std::vector<core::IdleRelay> idle;
  if (!service.relays) return idle;
  for (metrics::RelayFigures& relay : service.relays()) {
    if (relay.up && !relay.breaker_open) continue;
    if (!core::matches_any(relay.patterns, queue)) continue;
    idle.push_back({std::move(relay.name), !relay.up});
  }
  return idle;
}

Response no_queue(std::string_view queue) {
  return problem(404, ErrorCode::not_found, "there is no queue " + base::quoted(queue));
}

Response answer(std::string_view queue, std::string_view key,
                const std::optional<MessageInfo>& message, StoreStats& stats,
                const std::vector<core::IdleRelay>& relays) {
  for (QueueStats& found : stats.queues) {
    if (found.queue != queue) continue;
    if (!message) return problem(404, ErrorCode::not_found, core::why_unknown(key, found));
    return ok(wire::encode_why(core::why(*message, std::move(found), relays)));
  }
  return no_queue(queue);
}

}  // namespace

Routed why(Asked& asked) {
  auto get = wire::decode_get_query(asked.name, asked.query);
  if (!get) return problem(get.error());
  get->with_payload = false;
  std::string key(core::view(get->bytes, get->keys.front()));
  Routed routed = ask<core::GetReply>(std::move(*get), [](core::GetReply& reply) {
    // An error other than `not_found`, which `then` leaves to this.
    return problem(reply.items.front().error());
  });
  std::get<Submission>(routed).then = [&service = asked.service, queue = std::move(asked.name),
                                       key = std::move(key)](Result<core::Reply>& reply) mutable {
    auto* got = reply ? std::get_if<core::GetReply>(&*reply) : nullptr;
    std::optional<Routed> next;
    if (got == nullptr || got->items.size() != 1) return next;
    Result<MessageInfo>& item = got->items.front();
    if (!item && item.error().code != ErrorCode::not_found) return next;
    std::optional<MessageInfo> message;
    if (item) {
      if (service.holders != nullptr) service.holders->tell(*item);
      message = std::move(*item);
    }
    Submission submission;
    submission.request = core::StatsRequest{queue};
    submission.answer = [&service, queue = std::move(queue), key = std::move(key),
                         message = std::move(message)](core::Reply& answered) {
      auto* stats = std::get_if<StoreStats>(&answered);
      if (stats == nullptr) return no_queue(queue);
      return answer(queue, key, message, *stats, idle_relays(service, queue));
    };
    next = std::move(submission);
    return next;
  };
  return routed;
}

}  // namespace tarry::http
