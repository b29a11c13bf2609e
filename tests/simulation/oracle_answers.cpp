// Oracle: compares answers with the expected ones.
#include <algorithm>

#include "engines/embedded/records/tokens.h"
#include "oracle.h"

namespace tarry::simulation {
namespace {

std::string text(Outcome outcome) { return std::string(to_string(outcome)); }

}  // namespace

void Oracle::check(const Expectation& expected, const core::PushReply& reply) {
  if (reply.items.size() != expected.pushes.size()) return;  // the request was refused as a whole
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    const core::PushResult& item = reply.items[i];
    if (item.error) continue;  // the item was judged when it was decided
    const contract::ModelPushed& pushed = expected.pushes[i];
    if (item.outcome != pushed.outcome) {
      return fail(4, "push answered " + text(item.outcome) + " for " + text(pushed.outcome));
    }
    given_.insert(item.id);
    if (item.due_ms != pushed.due) return fail(2, "push answered another due time");
    if (!expected.keys[i].empty() && core::view(reply.bytes, item.key) != expected.keys[i]) {
      return fail(4, "push answered another key");
    }
  }
}

void Oracle::check(const Expectation& expected, const core::ItemsReply& reply) {
  if (reply.items.size() != expected.answers.size()) return;
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    const core::ItemResult& item = reply.items[i];
    if (item.error || !expected.answers[i]) continue;
    const contract::ModelAnswer& answer = *expected.answers[i];
    if (item.outcome != answer.outcome) {
      const bool fenced = answer.outcome == Outcome::stale || item.outcome == Outcome::stale;
      return fail(fenced ? 5 : 3,
                  "answered " + text(item.outcome) + " for " + text(answer.outcome));
    }
    if (answer.due && item.due_ms != answer.due) return fail(8, "answered another due time");
    if (answer.settlement && item.settlement != answer.settlement) {
      return fail(6, "answered another settlement");
    }
  }
}

void Oracle::check(const Expectation& expected, const core::ClaimReply& reply) {
  check_claimed(expected.op->waited ? nullptr : &expected, reply);
}

void Oracle::check(const Expectation& expected, const core::GetReply& reply) {
  for (std::size_t i = 0; i < reply.items.size() && i < expected.messages.size(); ++i) {
    const auto& [message, boot] = expected.messages[i];
    const auto& item = reply.items[i];
    if (item.has_value() != message.has_value()) {
      return fail(7, message ? "a message that is there is not found" : "a message out of nothing");
    }
    if (!item) continue;
    const bool bare = message->stage == Message::Stage::remembered;
    if (!bare && (item->payload != message->payload || item->headers != message->headers)) {
      return fail(4, "get answers another payload or headers");
    }
    if (item->attempt != message->attempt || item->tallies != message->tallies ||
        item->priority != message->priority || item->stopping != message->stopping ||
        (!bare && item->due.time_since_epoch().count() != message->due)) {
      return fail(8, "get answers another due, attempt, priority or tally");
    }
    if (!bare && item->group != message->group) return fail(8, "get answers another group");
    const auto pushed = bare || !message->pushed ? std::optional<Time>()
                                                 : std::optional(Time(Millis(*message->pushed)));
    if (item->pushed != pushed) return fail(8, "get answers another push time");
    const bool waiting = item->state == State::scheduled || item->state == State::ready;
    if (waiting != (message->stage == Message::Stage::waiting)) {
      return fail(7, "get answers state " + std::string(to_string(item->state)));
    }
    const std::int64_t left = std::max<std::int64_t>(message->lease_end - boot, 0);
    // The lease has run out, but there was no space to record that, or its slice has not come yet.
    const bool put_off = was_full_ || may_fail_ || tolerance_.slices;
    if (item->lease_left && item->lease_left->count() > left && !put_off) {
      return fail(5, "get answers a longer lease");
    }
  }
}

void Oracle::check(const Expectation& /*expected*/, const core::ListReply& reply) {
  for (const MessageInfo& message : reply.messages) {
    if (!ids_.contains(message.id)) return fail(4, "a list names a message that nobody pushed");
  }
}

void Oracle::check(const Expectation& expected, const StoreStats& /*reply*/) {
  if (expected.op->figures.empty()) return;
  for (const QueueStats& stats : expected.op->figures.front().queues) {
    const auto found = expected.stats.find(stats.queue);
    if (found == expected.stats.end()) return fail(13, "stats of an unknown queue " + stats.queue);
    const auto& [model, counters] = found->second;
    if (stats.scheduled + stats.ready != model.scheduled + model.ready ||
        stats.leased != model.leased || stats.dead != model.dead ||
        stats.remembered != model.remembered) {
      return fail(13, "stats count otherwise in queue " + stats.queue);
    }
    if (stats.counters != counters) return fail(13, "counters differ in queue " + stats.queue);
  }
}

void Oracle::check(const Expectation& /*expected*/, const core::ForecastReply& /*reply*/) {}
void Oracle::check(const Expectation& /*expected*/, const ReshardStep& /*reply*/) {}

void Oracle::check(const Expectation& expected, const core::ConfigureReply& reply) {
  if (reply.settings != expected.settings) fail(8, "configure answers other settings");
}

void Oracle::check_not_removed(const Expectation& expected, const Error& error) {
  const auto& request = std::get<core::RemoveRequest>(expected.op->request);
  if (error.code == ErrorCode::not_found) {
    if (expected.there) fail(1, "queue " + request.queue + " is there, and its removal says no");
  } else if (error.code == ErrorCode::conflict) {
    if (!expected.leased || request.force) fail(4, "a removal was refused: " + error.message);
  } else {
    (void)refused(error, false);
  }
}

void Oracle::check(const Expectation& expected, const core::CountReply& reply) {
  const auto* remove = std::get_if<core::RemoveRequest>(&expected.op->request);
  if (remove != nullptr && (!expected.there || truth_.queues.contains(remove->queue))) {
    return fail(7, "queue " + remove->queue + " was removed, and was not there or still is");
  }
  if (remove != nullptr && expected.leased && !remove->force) {
    return fail(5, "queue " + remove->queue + " was removed while messages were leased");
  }
  const bool counts = remove != nullptr ||
                      std::holds_alternative<core::PurgeRequest>(expected.op->request) ||
                      std::holds_alternative<core::ReviveRequest>(expected.op->request);
  if (counts && reply.count != expected.count) {
    fail(13, "a sweep answers " + std::to_string(reply.count) + " for " +
                 std::to_string(expected.count));
  }
}

}  // namespace tarry::simulation
