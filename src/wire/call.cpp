#include "wire/call.h"

#include "wire/claim.h"
#include "wire/forecast.h"
#include "wire/message.h"
#include "wire/move.h"
#include "wire/parts/items.h"
#include "wire/parts/query.h"
#include "wire/push.h"
#include "wire/queue.h"
#include "wire/stats.h"

namespace tarry::wire {
namespace {

std::string queue_target(const std::string& queue, std::string_view rest) {
  std::string target = "/v1/queues/" + percent_encode(queue);
  target += rest;
  return target;
}

Call post(std::string target, std::string body, Answer answer, std::size_t items = 0) {
  return {"POST", std::move(target), std::move(body), answer, items, true};
}

Call reading(Call call) {
  call.changes = false;
  return call;
}

// A server confines a client to its token's queues; no client can ask for it.
Error confined() {
  return {ErrorCode::unsupported, "a server cannot be asked to confine receipts to some queues"};
}

// Has one overload for each kind of request.
struct Encode {
  Result<Call> operator()(const core::PushRequest& r) const {
    auto body = encode_push(r);
    if (!body) return std::move(body).error();
    return post(queue_target(r.queue, "/messages"), std::move(*body), Answer::pushed,
                r.items.size());
  }
  Result<Call> operator()(const core::CancelRequest& r) const {
    if (!r.seen.empty()) {
      return post(queue_target(r.queue, "/move-away"), encode_move_away(r), Answer::items,
                  r.keys.size());
    }
    return post(queue_target(r.queue, "/cancel"), encode_cancel(r), Answer::items, r.keys.size());
  }
  Result<Call> operator()(const core::RescheduleRequest& r) const {
    return post(queue_target(r.queue, "/reschedule"), encode_reschedule(r), Answer::items,
                r.items.size());
  }
  Result<Call> operator()(const core::ClaimRequest& r) const {
    if (r.settle.only_queues != nullptr) return confined();
    return post("/v1/claim", encode_claim(r), Answer::claimed, r.settle.items.size());
  }
  Result<Call> operator()(const core::SettleRequest& r) const {
    if (r.only_queues != nullptr) return confined();
    return post("/v1/settle", encode_settle(r), Answer::items, r.items.size());
  }
  Result<Call> operator()(const core::ExtendRequest& r) const {
    if (r.only_queues != nullptr) return confined();
    return post("/v1/extend", encode_extend(r), Answer::items, r.items.size());
  }
  Result<Call> operator()(const core::GetRequest& r) const {
    return reading(post(queue_target(r.queue, "/get"), encode_get(r), Answer::got, r.keys.size()));
  }
  Result<Call> operator()(const core::ListRequest& r) const {
    return Call{"GET", queue_target(r.queue, "/messages" + encode_list(r)), {}, Answer::listed, 0,
                false};
  }
  Result<Call> operator()(const core::StatsRequest& r) const {
    std::string target = "/v1/stats";
    QueryWriter query(target);
    if (!r.queue.empty()) query.add("queue", r.queue);
    if (r.names_only) query.add("names_only", "true");
    return Call{"GET", std::move(target), {}, Answer::stats, 0, false};
  }
  Result<Call> operator()(const core::ForecastRequest& r) const {
    return Call{"GET",     queue_target(r.queue, "/forecast" + encode_forecast(r)),
                {},        Answer::forecast,
                r.buckets, false};
  }
  Result<Call> operator()(const core::ConfigureRequest& r) const {
    return Call{"PUT", queue_target(r.queue, ""), encode_configure(r), Answer::configured, 0, true};
  }
  Result<Call> operator()(const core::PauseRequest& r) const {
    return post(queue_target(r.queue, "/pause"), encode_pause(r), Answer::count);
  }
  Result<Call> operator()(const core::ResumeRequest& r) const {
    return post(queue_target(r.queue, "/resume"), "{}", Answer::count);
  }
  Result<Call> operator()(const core::PurgeRequest& r) const {
    return post(queue_target(r.queue, "/purge"), "{}", Answer::count);
  }
  Result<Call> operator()(const core::RemoveRequest& r) const {
    return Call{"DELETE", queue_target(r.queue, r.force ? "?force=true" : ""), {}, Answer::count, 0,
                true};
  }
  Result<Call> operator()(const core::ReviveRequest& r) const {
    return post(queue_target(r.queue, "/revive"), encode_revive(r), Answer::count);
  }
  Result<Call> operator()(const core::MoveRequest& r) const {
    auto body = encode_move(r);
    if (!body) return std::move(body).error();
    return post(queue_target(r.queue, "/import"), std::move(*body), Answer::pushed, r.items.size());
  }
  Result<Call> operator()(const core::ReshardRequest& r) const {
    return post(queue_target(r.queue, "/reshard"), encode_reshard(r), Answer::resharded);
  }
};

template <typename T>
Result<core::Reply> as_reply(Result<T> decoded) {
  if (!decoded) return std::move(decoded).error();
  return core::Reply(std::move(*decoded));
}

Unexpected wrong_count(std::size_t results, std::size_t items) {
  return {ErrorCode::invalid_argument,
          std::to_string(results) + " results for " + std::to_string(items) + " items"};
}

template <typename T>
Result<core::Reply> as_batch(Result<T> decoded, std::size_t items) {
  if (decoded && decoded->items.size() != items) return wrong_count(decoded->items.size(), items);
  return as_reply(std::move(decoded));
}

}  // namespace

Result<Call> encode_call(const core::Request& request) { return std::visit(Encode(), request); }

Result<core::Reply> decode_answer(const Call& call, std::string_view body) {
  switch (call.answer) {
    case Answer::pushed: return as_batch(decode_push_reply(body), call.items);
    case Answer::items: return as_batch(decode_items_reply(body), call.items);
    case Answer::claimed: {
      auto claimed = decode_claim_reply(body, call.asked_at);
      if (claimed && claimed->settled.size() != call.items) {
        return wrong_count(claimed->settled.size(), call.items);
      }
      return as_reply(std::move(claimed));
    }
    case Answer::got: return as_batch(decode_get_reply(body), call.items);
    case Answer::listed: return as_reply(decode_list_reply(body));
    case Answer::stats: return as_reply(decode_store_stats(body));
    case Answer::forecast: {
      auto forecast = decode_forecast_reply(body);
      if (forecast && forecast->buckets.size() != call.items) {
        return Unexpected(ErrorCode::invalid_argument, std::to_string(forecast->buckets.size()) +
                                                           " buckets for " +
                                                           std::to_string(call.items));
      }
      return as_reply(std::move(forecast));
    }
    case Answer::configured: return as_reply(decode_configure_reply(body));
    case Answer::resharded: return as_reply(decode_reshard_reply(body));
    case Answer::count: break;
  }
  return as_reply(decode_count(body));
}

}  // namespace tarry::wire
