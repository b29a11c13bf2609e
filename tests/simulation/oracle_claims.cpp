// Oracle: which messages may be delivered, which must be, and in which order.
#include <algorithm>
#include <tuple>

#include "core/rules/headers.h"
#include "oracle.h"

namespace tarry::simulation {

using embedded::Stage;

bool Oracle::leased_now(const Queue& queue, const Message& message) const {
  const embedded::Ref ref = queue.refs.at(message.uid);
  if (!state_->slab.holds(ref.handle, ref.id)) return false;
  const embedded::Message& there = state_->slab[ref.handle];
  if (there.stage() != Stage::leased) return false;
  const std::uint32_t claims = state_->histories[there.history].tallies.claims;
  return message.stage == Message::Stage::leased ? claims == message.tallies.claims
                                                 : claims == message.tallies.claims + 1;
}

bool Oracle::may_deliver(const Queue& queue, const Message& message) const {
  const auto self = const_cast<Oracle*>(this);
  const std::string who = "message " + std::to_string(queue.refs.at(message.uid).id);
  if (message.stage != Message::Stage::waiting) {
    self->fail(5, who + " was delivered, and is dead");
    return false;
  }
  if (queue.model.paused()) {
    self->fail(5, who + " was delivered from a paused queue");
    return false;
  }
  if (message.due > now_.realtime_ms) {
    self->fail(2, who + " was delivered " + std::to_string(message.due - now_.realtime_ms) +
                      " ms before it is due");
    return false;
  }
  if (message.expire_at && *message.expire_at <= now_.realtime_ms) {
    self->fail(2, who + " was delivered " + std::to_string(now_.realtime_ms - *message.expire_at) +
                      " ms after it expired");
    return false;
  }
  if (message.boot_due && *message.boot_due - tolerance_.clock > now_.boottime_ms) {
    self->fail(2, who + " was delivered " + std::to_string(*message.boot_due - now_.boottime_ms) +
                      " ms before its delay has passed");
    return false;
  }
  return true;
}

// Whether the store must see that the message is due: it is due by both clocks. (The store may wait
// while the wall clock has gone back by less than a step; `caught_up` excludes that case.)
bool Oracle::must_deliver(const Message& message) const {
  if (message.expire_at && *message.expire_at <= now_.realtime_ms) return false;
  return message.stage == Message::Stage::waiting && message.due <= now_.realtime_ms &&
         (!message.boot_due || *message.boot_due + tolerance_.clock <= now_.boottime_ms);
}

bool Oracle::caught_up() const {
  if (may_fail_ || full_) return false;
  if (tolerance_.clock != 0 && now_.realtime_ms < highest_realtime_) return false;
  const auto due = state_->due_wheel.next_due();
  const auto lease = state_->lease_wheel.next_due();
  const auto expiry = state_->own.next_expiry_ms();
  return (!due || *due > now_.realtime_ms) && (!expiry || *expiry > now_.realtime_ms) &&
         (!lease || *lease > now_.boottime_ms);
}

void Oracle::take(const std::string& name, const Message& message,
                  std::optional<std::int64_t> lease, Expectation* expected) {
  Queue& queue = this->queue(name);
  if (queue.model.room() == 0) {
    return fail(5, "a message was delivered beyond max_leased " +
                       std::to_string(queue.model.settings().max_leased) + " or the rate");
  }
  if (!queue.model.group_has_room(message)) {
    return fail(5, "a message of group " + message.group +
                       " was delivered beyond group_max_leased " +
                       std::to_string(queue.model.settings().group_max_leased) +
                       " or out of its group's order");
  }
  Claim claim;
  claim.queue = name;
  claim.message = queue.model.take(message.key, lease);
  claim.number = claim.message.claim;
  claim.decided_boot = now_.boottime_ms;
  claim.claimed = now_.realtime_ms;
  const ClaimName called{queue.refs.at(message.uid).id, claim.message.tallies.claims};
  if (granted_.contains(called)) return fail(5, "one claim was granted twice");
  if (expected != nullptr) expected->claims.push_back(called);
  granted_.emplace(called, std::move(claim));
}

// How many of the messages are of the group.
std::size_t Oracle::count_of(const std::vector<Message>& messages, const std::string& group) {
  return static_cast<std::size_t>(std::ranges::count(messages, group, &Message::group));
}

// Whether the limit and the order of the message's group let a claim take it after it took `taken`.
bool Oracle::group_has_room(const Queue& queue, const Message& message,
                            const std::vector<Message>& taken) {
  const QueueSettings& settings = queue.model.settings();
  const bool is_free = settings.group_max_leased == 0 && settings.group_order == GroupOrder::due;
  if (message.group.empty() || is_free) return true;
  Model after = queue.model;
  for (const Message& other : taken) {
    if (other.group == message.group) (void)after.take(other.key, std::nullopt);
  }
  return after.group_has_room(message);
}

// A message of a group was left. So no other group has had more turns than its own, except one.
void Oracle::check_turns(const Message& left, const std::vector<Message>& taken) {
  const std::size_t own = count_of(taken, left.group);
  for (const Message& other : taken) {
    if (count_of(taken, other.group) <= own + 1) continue;
    return fail(8, "group " + left.group + " was starved by group " + other.group);
  }
}

// `max` is 0 if the claim had room for more messages.
void Oracle::check_order(const Queue& queue, const std::vector<Message>& taken, std::uint32_t max) {
  if (!caught_up() || queue.model.paused()) return;
  const auto place = [](const Message& message) {
    return std::tuple(message.priority, message.due, message.uid);
  };
  for (const auto& [key, message] : queue.model.messages()) {
    if (!must_deliver(message)) continue;
    const bool is_taken =
        std::ranges::any_of(taken, [&](const Message& other) { return other.uid == message.uid; });
    if (is_taken) continue;
    const std::string who = "message " + std::to_string(queue.refs.at(message.uid).id);
    if (max == 0 && queue.model.room() <= taken.size()) continue;
    if (!group_has_room(queue, message, taken)) continue;
    if (max == 0) return fail(9, who + " is due, and a claim with room for it left it");
    const bool goes_first = std::ranges::any_of(taken, [&](const Message& other) {
      return other.group == message.group && place(message) < place(other);
    });
    if (goes_first) return fail(8, who + " should have gone first");
    check_turns(message, taken);
  }
}

// After the removal's first look at the queue, nothing can be claimed there until the removal has
// ended.
bool Oracle::is_going(const std::string& queue) const {
  return std::ranges::any_of(asked_, [&](const auto& entry) {
    const embedded::Operation& op = *entry.first;
    const auto* remove = std::get_if<core::RemoveRequest>(&op.request);
    return remove != nullptr && remove->queue == queue && op.step != embedded::RemoveStep::thaw;
  });
}

// Waiting claims were served. Which claim got which message is unknown until the answers come.
void Oracle::waiters_served(const OneShard& /*shard*/) {
  std::map<std::string, std::vector<const core::ClaimRequest*>> waiting;
  std::set<std::string> still;
  for (const auto& [op, expected] : asked_) {
    const auto* request = std::get_if<core::ClaimRequest>(&op->request);
    if (request == nullptr || !op->waited) continue;
    const bool waits = op->phase.load() == embedded::ClaimPhase::waiting;
    for (const std::string& name : request->queues) {
      waiting[name].push_back(request);
      if (waits && request->keys.empty()) still.insert(name);
    }
  }
  for (const auto& [name, requests] : waiting) {
    const auto found = truth_.queues.find(name);
    if (found == truth_.queues.end()) continue;
    Queue& queue = found->second;
    const auto messages = queue.model.messages();
    for (const auto& [key, message] : messages) {
      const bool free =
          message.stage == Message::Stage::waiting || message.stage == Message::Stage::dead;
      if (!free || !leased_now(queue, message)) continue;
      if (!may_deliver(queue, message)) return;
      if (is_going(name)) return fail(3, "a message of a queue that is going was delivered");
      const embedded::Message& there = state_->slab[queue.refs.at(message.uid).handle];
      const std::int64_t lease = state_->histories[there.history].stamp_ms;
      const bool asked_for = std::ranges::any_of(requests, [&](const core::ClaimRequest* request) {
        return request->lease.value_or(queue.model.settings().lease).count() == lease;
      });
      if (!asked_for) return fail(5, "a lease of a length that nobody asked for");
      take(name, message, lease, nullptr);
    }
    if (!still.contains(name) || !caught_up() || queue.model.paused() || is_going(name)) continue;
    if (queue.model.room() == 0) continue;
    for (const auto& [key, message] : queue.model.messages()) {
      if (!must_deliver(message) || !queue.model.group_has_room(message)) continue;
      return fail(9, "message " + std::to_string(queue.refs.at(message.uid).id) +
                         " is due, and a claim goes on waiting");
    }
  }
}

// ---- handed over

void Oracle::check_claimed(const Expectation* expected, const core::ClaimReply& reply) {
  if (expected != nullptr && expected->claims.size() != reply.items.size()) {
    return fail(4, "a claim took " + std::to_string(expected->claims.size()) +
                       " messages and hands over " + std::to_string(reply.items.size()));
  }
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    const core::ClaimedItem& item = reply.items[i];
    const ClaimName called{item.id, item.tallies.claims};
    const std::string who = "message " + std::to_string(item.id);
    const auto found = granted_.find(called);
    if (found == granted_.end()) return fail(4, who + " is handed over, and nobody claimed it");
    const Claim claim = std::move(found->second);
    granted_.erase(found);
    ++deliveries_;
    if (expected != nullptr && expected->op->waited == false &&
        std::ranges::find(expected->claims, called) == expected->claims.end()) {
      return fail(4, who + " is handed over by a claim that did not take it");
    }
    const Message& message = claim.message;
    if (core::view(reply.bytes, item.payload) != message.payload) {
      return fail(4, who + " has another payload");
    }
    const auto headers = core::decode_headers(core::view(reply.bytes, item.headers));
    if (!headers || *headers != message.headers) return fail(4, who + " has other headers");
    if (core::view(reply.bytes, item.key) != key_text(claim.queue, message.key) ||
        core::view(reply.bytes, item.queue) != claim.queue) {
      return fail(4, who + " has another key or queue");
    }
    if (item.due_ms != message.due || item.attempt != message.attempt ||
        item.priority != message.priority || item.tallies != message.tallies ||
        item.lease_ms != message.lease || item.claimed_ms != claim.claimed) {
      return fail(8, who + " is handed over with another due, attempt, priority, tally or lease");
    }
    std::string receipt(core::view(reply.bytes, item.receipt));
    const std::int64_t begins = clock_->now().boottime_ms;
    if (begins > claim.decided_boot) starts_.push_back({claim.queue, claim.number, begins});
    receipts_.push_back(receipt);
    claims_.insert_or_assign(std::move(receipt), claim);
  }
}

}  // namespace tarry::simulation
