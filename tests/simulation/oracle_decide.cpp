// Oracle: applies each request to the model as soon as the shard has decided it.
#include <algorithm>

#include "core/rules/headers.h"
#include "engines/embedded/records/tokens.h"
#include "oracle.h"

namespace tarry::simulation {
namespace {

using contract::ModelPush;

ModelPush model_push(const std::string& bytes, const core::PushItem& item) {
  ModelPush push;
  push.payload = core::view(bytes, item.payload);
  if (auto headers = core::decode_headers(core::view(bytes, item.headers))) {
    push.headers = std::move(*headers);
  }
  push.due = item.due;
  push.priority = item.priority;
  push.if_exists = item.if_exists;
  push.max_attempts = item.max_attempts;
  if (item.expire) push.expire = item.expire->count();
  if (item.expire_at) push.expire_at = item.expire_at->time_since_epoch().count();
  return push;
}

const core::PushItem& push_of(const core::PushItem& item) { return item; }
const core::PushItem& push_of(const core::MoveItem& item) { return item.push; }

}  // namespace

void Oracle::decide(const OneShard& shard, const embedded::Part& part) {
  const auto found = asked_.find(part.op.get());
  if (found == asked_.end()) return;  // the request was already answered with an error
  Expectation& expected = found->second;
  expected.decided = true;
  if (const auto* remove = std::get_if<core::RemoveRequest>(&part.op->request)) {
    // A removal is decided in several steps, and so are its errors.
    return decide(*remove, expected);
  }
  // A shard that has stopped decides nothing; nor does a shard without enough space for the whole
  // request.
  const auto* revive = std::get_if<core::ReviveRequest>(&part.op->request);
  const bool sweeps = std::holds_alternative<core::PurgeRequest>(part.op->request) ||
                      (revive != nullptr && revive->all);
  if (const auto* configure = std::get_if<core::ConfigureRequest>(&part.op->request)) {
    if (keeps_its_order(*configure, part.op->error)) return;
  }
  if (part.op->error && (!sweeps || part.op->error->code != ErrorCode::no_space)) {
    (void)refused(part.op->error, false);
    return;
  }
  (void)shard;
  std::visit([&](const auto& request) { decide(request, expected); }, part.op->request);
}

// ---- pushes

void Oracle::note_push(Queue& queue, const std::string& name, const core::PushResult& result,
                       std::string_view key, bool request_names_it,
                       const contract::ModelPushed& pushed, Expectation& expected) {
  expected.pushes.push_back(pushed);
  expected.keys.emplace_back(request_names_it ? std::string_view() : key);
  const bool fresh = pushed.outcome == Outcome::pushed || pushed.outcome == Outcome::replaced ||
                     pushed.outcome == Outcome::revived;
  if (!fresh) return;
  if (given_.contains(result.id)) {
    return fail(4, "id " + std::to_string(result.id) + " was given a second time");
  }
  ids_.insert(result.id);
  const embedded::ShardState& state = *state_;
  for (embedded::Handle handle = 0; handle < state.slab.end(); ++handle) {
    if (!state.slab.holds(handle, result.id)) continue;
    queue.refs[pushed.uid] = {handle, result.id};
    if (pushed.key >= contract::kFirstGeneratedKey) made_[name][pushed.key] = std::string(key);
    return;
  }
  // A later item of the batch has replaced this message.
  queue.refs[pushed.uid] = {embedded::kNoHandle, result.id};
}

// `apply` carries out the item on the model. Its arguments are queue, item and push.
template <typename Request, typename Apply>
void Oracle::decide_pushes(const Request& request, Expectation& expected, Apply&& apply) {
  const auto& reply = std::get<core::PushReply>(expected.op->reply);
  for (std::size_t i = 0; i < request.items.size() && !failure_; ++i) {
    snapshot();  // a crash may come between two items
    const core::PushResult& result = reply.items[i];
    const core::PushItem& item = push_of(request.items[i]);
    const std::string_view own = core::view(request.bytes, item.key);
    const bool expires_too_soon =
        result.error && result.error->code == ErrorCode::invalid_argument &&
        !this->queue(request.queue).model.may_expire(model_push(request.bytes, item));
    const bool has_no_group =
        result.error && result.error->code == ErrorCode::invalid_argument && !expires_too_soon &&
        this->queue(request.queue).model.has_groups() &&
        this->queue(request.queue).model.group_of(model_push(request.bytes, item).headers).empty();
    if (has_no_group || expires_too_soon ||
        refused_due(result.error, request.queue, own, item.due) || refused(result.error, false)) {
      expected.pushes.emplace_back();
      expected.keys.emplace_back();
      continue;
    }
    Queue& queue = this->queue(request.queue);
    ModelPush push = model_push(request.bytes, item);
    if (!own.empty()) push.key = key_id(queue, request.queue, own);
    const std::string_view key = own.empty() ? core::view(reply.bytes, result.key) : own;
    note_push(queue, request.queue, result, key, !own.empty(), apply(queue, request.items[i], push),
              expected);
  }
}

void Oracle::decide(const core::PushRequest& request, Expectation& expected) {
  decide_pushes(request, expected,
                [](Queue& queue, const core::PushItem& /*item*/, const ModelPush& push) {
                  return queue.model.push(push);
                });
}

void Oracle::decide(const core::MoveRequest& request, Expectation& expected) {
  decide_pushes(request, expected,
                [&](Queue& queue, const core::MoveItem& item, const ModelPush& push) {
                  std::optional<std::string> dead;
                  if (item.dead) dead = std::string(core::view(request.bytes, item.reason));
                  return queue.model.move(push, item.attempt, item.tallies, dead, item.pushed_ms);
                });
}

bool Oracle::refused_due(const std::optional<Error>& error, const std::string& queue,
                         std::string_view key, Due due) const {
  if (!error || error->code != ErrorCode::invalid_argument) return false;
  const auto found = truth_.queues.find(queue);
  if (found == truth_.queues.end()) return false;
  const auto id = key_id(found->second, queue, key);
  return id && !found->second.model.may_reschedule(*id, due);
}

// ---- by key

void Oracle::decide(const core::CancelRequest& request, Expectation& expected) {
  const auto& reply = std::get<core::ItemsReply>(expected.op->reply);
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    snapshot();
    expected.answers.emplace_back();
    if (refused(reply.items[i].error, true)) continue;
    contract::ModelAnswer answer;
    if (truth_.queues.contains(request.queue)) {
      Queue& queue = this->queue(request.queue);
      const auto key = key_id(queue, request.queue, core::view(request.bytes, request.keys[i]));
      if (key) answer = queue.model.cancel(*key);
    }
    expected.answers.back() = answer;
  }
}

void Oracle::decide(const core::RescheduleRequest& request, Expectation& expected) {
  const auto& reply = std::get<core::ItemsReply>(expected.op->reply);
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    expected.answers.emplace_back();
    const core::RescheduleItem& item = request.items[i];
    const auto& error = reply.items[i].error;
    if (refused_due(error, request.queue, core::view(request.bytes, item.key), item.due)) continue;
    if (refused(error, false)) continue;
    contract::ModelAnswer answer;
    if (truth_.queues.contains(request.queue)) {
      Queue& queue = this->queue(request.queue);
      const auto key = key_id(queue, request.queue, core::view(request.bytes, item.key));
      if (key) answer = queue.model.reschedule(*key, item.due, item.priority);
    }
    expected.answers.back() = answer;
  }
}

// ---- by receipt

void Oracle::decide(const core::SettleRequest& request, Expectation& expected) {
  const auto& reply = std::get<core::ItemsReply>(expected.op->reply);
  for (std::size_t i = 0; i < request.items.size() && !failure_; ++i) {
    snapshot();
    const core::SettleItem& item = request.items[i];
    const core::ItemResult& result = reply.items[i];
    expected.answers.emplace_back();
    using core::SettleAction;
    const bool ends = item.action == SettleAction::ack || item.action == SettleAction::move_away;
    if (refused(result.error, ends && request.items.size() == 1)) continue;
    const auto claim = claims_.find(core::view(request.bytes, item.receipt));
    if (claim == claims_.end()) {
      expected.answers.back() = contract::ModelAnswer{Outcome::stale, {}, {}};
      continue;
    }
    Queue& queue = this->queue(claim->second.queue);
    const std::size_t number = claim->second.number;
    if (item.action == SettleAction::move_away) {
      expected.answers.back() = queue.model.move_away(number);
      continue;
    }
    std::optional<std::int64_t> delay;
    if (item.delay) delay = item.delay->count();
    if (item.action == SettleAction::retry && !item.delay && result.due_ms) {
      // The engine chooses the jitter, within the upper half of the delay.
      delay = *result.due_ms - now_.realtime_ms;
      const QueueSettings& settings = queue.model.settings();
      const auto live = std::find_if(
          queue.model.messages().begin(), queue.model.messages().end(), [&](const auto& entry) {
            return entry.second.stage == Message::Stage::leased && entry.second.claim == number;
          });
      if (live != queue.model.messages().end() && !live->second.stopping) {
        std::int64_t full = settings.backoff_min.count();
        for (std::uint32_t n = 1; n < live->second.attempt && full < settings.backoff_max.count();
             ++n) {
          full *= 2;
        }
        full = std::min(full, settings.backoff_max.count());
        if (*delay < full / 2 || *delay > full) {
          fail(2, "a retry waits " + std::to_string(*delay) + " ms, not half to all of " +
                      std::to_string(full));
        }
      }
    }
    Action action = Action::ack;
    if (item.action == SettleAction::retry) action = Action::retry;
    if (item.action == SettleAction::release) action = Action::release;
    if (item.action == SettleAction::bury) action = Action::bury;
    expected.answers.back() = queue.model.settle(
        number, action, delay, item.priority, std::string(core::view(request.bytes, item.reason)));
  }
}

void Oracle::decide(const core::ExtendRequest& request, Expectation& expected) {
  const auto& reply = std::get<core::ItemsReply>(expected.op->reply);
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    expected.answers.emplace_back();
    if (refused(reply.items[i].error, false)) continue;
    const auto claim = claims_.find(core::view(request.bytes, request.items[i].receipt));
    if (claim == claims_.end()) {
      expected.answers.back() = contract::ModelAnswer{Outcome::stale, {}, {}};
      continue;
    }
    std::optional<std::int64_t> lease;
    if (request.items[i].lease) lease = request.items[i].lease->count();
    expected.answers.back() = queue(claim->second.queue).model.extend(claim->second.number, lease);
  }
}

// ---- claims

void Oracle::decide(const core::ClaimRequest& request, Expectation& expected) {
  std::optional<std::int64_t> lease;
  if (request.lease) lease = request.lease->count();
  std::size_t count = 0;
  std::map<std::string, std::vector<Message>> all;
  for (const std::string& name : request.queues) {
    const auto found = truth_.queues.find(name);
    if (found == truth_.queues.end()) continue;
    Queue& queue = found->second;
    std::vector<Message>& taken = all[name];
    for (const auto& [key, message] : queue.model.messages()) {
      if (message.stage != Message::Stage::waiting && message.stage != Message::Stage::dead) {
        continue;
      }
      if (!leased_now(queue, message)) continue;
      if (!request.keys.empty()) {
        const std::string text = key_text(name, key);
        if (std::find(request.keys.begin(), request.keys.end(), text) == request.keys.end()) {
          return fail(4, "a claim by key took another message");
        }
      }
      if (!(request.any_state && !request.keys.empty()) && !may_deliver(queue, message)) return;
      taken.push_back(message);
    }
    count += taken.size();
    const auto in_order = [](const Message& message) {
      return std::tuple(message.priority, message.due, message.uid);
    };
    std::ranges::sort(taken, {}, in_order);
  }
  for (const auto& [name, taken] : all) {
    if (request.keys.empty()) {
      check_order(this->queue(name), taken, count >= request.max ? request.max : 0);
    }
    for (const Message& message : taken) take(name, message, lease, &expected);
  }
  if (count > request.max) fail(4, "a claim took more than it may");
}

// ---- reads

void Oracle::decide(const core::GetRequest& request, Expectation& expected) {
  for (const core::Slice key : request.keys) {
    expected.messages.emplace_back(std::nullopt, now_.boottime_ms);
    const auto found = truth_.queues.find(request.queue);
    if (found == truth_.queues.end()) continue;
    const auto id = key_id(found->second, request.queue, core::view(request.bytes, key));
    if (!id) continue;
    if (const Message* message = found->second.model.find(*id)) {
      expected.messages.back().first = *message;
    }
  }
}

void Oracle::decide(const core::ListRequest& /*request*/, Expectation& /*expected*/) {}

void Oracle::decide(const core::StatsRequest& /*request*/, Expectation& expected) {
  for (const auto& [name, queue] : truth_.queues) {
    expected.stats[name] = {queue.model.stats(), queue.model.counters()};
  }
}

void Oracle::decide(const core::ForecastRequest& /*request*/, Expectation& /*expected*/) {}
void Oracle::decide(const core::ReshardRequest& /*request*/, Expectation& /*expected*/) {}

// ---- queues

void Oracle::decide(const core::RemoveRequest& request, Expectation& expected) {
  const auto found = truth_.queues.find(request.queue);
  switch (expected.op->step) {
    case embedded::RemoveStep::look:
      expected.there = found != truth_.queues.end();
      expected.leased = expected.there && found->second.model.stats().leased != 0;
      break;
    case embedded::RemoveStep::sweep:
      if (expected.there) sweeps_[request.queue] = {expected.op.get(), false, true, true};
      break;
    case embedded::RemoveStep::free:
      if (state_->queues.find(request.queue) == embedded::kNoQueue) forget(request.queue);
      break;
    case embedded::RemoveStep::decide:
      if (!expected.op->error) truth_.going.insert(request.queue);
      break;
    case embedded::RemoveStep::thaw: break;
  }
}

/// Forgets a removed queue; its receipts, wherever they are, are stale from now on.
void Oracle::forget(const std::string& queue) {
  truth_.queues.erase(queue);
  truth_.going.erase(queue);
  made_.erase(queue);
  sweeps_.erase(queue);
  std::erase_if(claims_, [&](const auto& entry) { return entry.second.queue == queue; });
  std::erase_if(starts_, [&](const Start& start) { return start.queue == queue; });
}

// True if a queue that has messages refuses another order in its groups.
bool Oracle::keeps_its_order(const core::ConfigureRequest& request,
                             const std::optional<Error>& error) {
  if (!error || error->code != ErrorCode::conflict) return false;
  if (this->queue(request.queue).model.may_configure(request.patch)) {
    fail(1, "an order in groups was refused without a cause: " + error->message);
  }
  return true;
}

void Oracle::decide(const core::ConfigureRequest& request, Expectation& expected) {
  Queue& queue = this->queue(request.queue);
  if (!queue.model.may_configure(request.patch)) {
    return fail(8, "a queue with messages has taken another order in its groups");
  }
  queue.model.configure(request.patch);
  expected.settings = queue.model.settings();
}

void Oracle::decide(const core::PauseRequest& request, Expectation& /*expected*/) {
  std::optional<std::int64_t> until;
  if (request.until) until = request.until->time_since_epoch().count();
  queue(request.queue).model.pause(until);
}

void Oracle::decide(const core::ResumeRequest& request, Expectation& /*expected*/) {
  const auto found = truth_.queues.find(request.queue);
  if (found != truth_.queues.end()) found->second.model.resume();
}

void Oracle::decide(const core::PurgeRequest& request, Expectation& /*expected*/) {
  if (truth_.queues.contains(request.queue)) {
    sweeps_[request.queue].active = true;
  }
}

void Oracle::decide(const core::ReviveRequest& request, Expectation& expected) {
  if (!truth_.queues.contains(request.queue)) return;
  if (request.all) {
    sweeps_[request.queue].active = true;
    return;
  }
  Queue& queue = this->queue(request.queue);
  for (const core::Slice slice : request.keys) {
    const auto key = key_id(queue, request.queue, core::view(request.bytes, slice));
    if (key) expected.count += queue.model.revive({*key});
  }
}

}  // namespace tarry::simulation
