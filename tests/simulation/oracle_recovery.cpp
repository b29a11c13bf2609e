// Oracle: compares the state after a crash with the truth at the batch that survived.
#include <algorithm>
#include <set>
#include <sstream>

#include "oracle.h"

namespace tarry::simulation {

using embedded::Stage;

namespace {

Stage stage_of(contract::ModelMessage::Stage stage) {
  using contract::ModelMessage;
  switch (stage) {
    case ModelMessage::Stage::leased: return Stage::leased;
    case ModelMessage::Stage::dead: return Stage::dead;
    case ModelMessage::Stage::remembered: return Stage::remembered;
    case ModelMessage::Stage::waiting: break;
  }
  return Stage::scheduled;
}

}  // namespace

std::string Oracle::difference(const embedded::ShardState& state, embedded::Handle handle,
                               const std::string& name, const Message& message) const {
  const embedded::Message& there = state.slab[handle];
  const std::string who = "message " + std::to_string(there.id) + " of " + name + ": ";
  const auto differs = [&](std::string_view what, auto is, auto should) {
    std::ostringstream out;
    out << who << what << " is " << is << ", not " << should;
    return out.str();
  };
  const embedded::Carried is = state.carried(handle);
  if (is.stage != stage_of(message.stage)) {
    return differs("stage", static_cast<int>(is.stage), static_cast<int>(stage_of(message.stage)));
  }
  if (is.attempt != message.attempt) return differs("attempt", is.attempt, message.attempt);
  if (is.tallies != message.tallies) return who + "its tallies differ";
  if (is.stage == Stage::remembered) {
    if (is.ending != message.settlement.how) return who + "it ended otherwise";
    if (is.stamp_ms != message.settlement.when.time_since_epoch().count()) {
      return who + "it ended at another time";
    }
  } else {
    if (there.due_ms() != message.due) return differs("due", there.due_ms(), message.due);
    if (there.priority != message.priority) {
      return differs("priority", there.priority, message.priority);
    }
    const embedded::Group* const group = state.queue(there.queue).lanes.group_of(handle);
    const std::string called = group != nullptr ? *group->name : "";
    if (called != message.group) return differs("group", called, message.group);
    const std::uint32_t most = state.own.max_attempts(handle);
    if (most != message.max_attempts) return differs("max_attempts", most, message.max_attempts);
    const core::Expiry expiry = state.own.expiry(handle);
    if (expiry.at_ms != message.expire_at.value_or(0)) {
      return differs("expiry", expiry.at_ms, message.expire_at.value_or(0));
    }
    if (expiry.after_ms != message.expire.value_or(0)) {
      return differs("expiry after due", expiry.after_ms, message.expire.value_or(0));
    }
    const auto boot_due = state.boot_due_ms(there);
    if (tolerance_.clock == 0 && is.stage == Stage::scheduled) {
      if (boot_due && message.boot_due && *boot_due != *message.boot_due) {
        return differs("BOOTTIME due", *boot_due, *message.boot_due);
      }
      if (!boot_due && message.boot_due && *message.boot_due > clock_->now().boottime_ms) {
        return who + "its delay is not bound to BOOTTIME any more";
      }
    }
  }
  if (is.stage == Stage::leased) {
    if (is.stopping != message.stopping) return differs("stopping", is.stopping, message.stopping);
    if (is.stamp_ms != message.lease) return differs("lease", is.stamp_ms, message.lease);
    // A lease that began again after another boot begins once more if that was not recorded yet.
    const bool again = message.renewed && is.until_ms == clock_->now().boottime_ms + message.lease;
    if (is.until_ms > message.lease_end && !again && !tolerance_.slices && !was_full_) {
      return differs("lease's end", is.until_ms, message.lease_end);
    }
  }
  if (!was_full_) {  // otherwise some events are left out
    std::vector<contract::ModelEvent> events;
    std::string_view bytes = is.events;
    while (const auto event = embedded::take_event(bytes)) {
      events.push_back({event->kind, event->attempt});
    }
    if (events != message.events) {
      const auto kind = [](const auto& all) {
        return all.empty() ? std::string("none") : std::string(to_string(all.back().kind));
      };
      return differs("history's end", kind(events) + " of " + std::to_string(events.size()),
                     kind(message.events) + " of " + std::to_string(message.events.size()));
    }
  }
  if (is.stage == Stage::dead) {
    // On a full disk the reason is left out, or the store's own text replaces it.
    const bool left_out =
        was_full_ && (is.reason.empty() || is.reason.starts_with("retried after attempt "));
    if (message.reason && is.reason != *message.reason && !left_out)
      return who + "it is dead for another reason";
  }
  if ((is.stage == Stage::dead || is.stage == Stage::remembered) &&
      is.until_ms != message.kept_until && !was_full_ && !tolerance_.slices) {
    return differs("kept until", is.until_ms, message.kept_until);
  }
  return "";
}

std::string Oracle::difference(const embedded::ShardState& state, const Truth& truth) const {
  std::size_t count = 0;
  for (const auto& [name, queue] : truth.queues) {
    const embedded::QueueId id = state.queues.find(name);
    if (id == embedded::kNoQueue) return "queue " + name + " is lost";
    const embedded::QueueState& there = state.queue(id);
    if (there.removed != truth.going.contains(name)) {
      return "queue " + name + (there.removed ? " is to go" : " is not to go any more");
    }
    if (there.settings != queue.model.settings()) return "queue " + name + " has other settings";
    const bool paused =
        there.paused && (!there.paused_until_ms || *there.paused_until_ms > queue.model.realtime());
    if (paused != queue.model.paused()) return "queue " + name + " is paused, or not any more";
    if (paused && there.paused_until_ms != queue.model.paused_until()) {
      return "queue " + name + " is paused until another time";
    }
    if (there.counters != queue.model.counters()) {
      std::ostringstream out;
      out << "queue " << name << ": counters are ";
      embedded::test::tell(out, there.counters);
      out << ", not ";
      embedded::test::tell(out, queue.model.counters());
      return out.str();
    }
    for (const auto& [key, message] : queue.model.messages()) {
      const embedded::Ref ref = queue.refs.at(message.uid);
      if (!state.slab.holds(ref.handle, ref.id) || state.slab[ref.handle].queue != id) {
        return "message " + std::to_string(ref.id) + " of " + name + " is lost";
      }
      ++count;
      std::string what = difference(state, ref.handle, name, message);
      if (!what.empty()) return what;
    }
  }
  std::size_t there = 0;
  for (embedded::Handle handle = 0; handle < state.slab.end(); ++handle) {
    if (state.slab.is_live(handle)) ++there;
  }
  std::size_t queues = 0;  // the number of a removed queue may be unused
  for (embedded::QueueId id = 0; id < state.queues.size(); ++id) {
    if (state.queue(id).is_there()) ++queues;
  }
  if (queues != truth.queues.size()) {
    return std::to_string(queues) + " queues are there, and should be " +
           std::to_string(truth.queues.size());
  }
  if (there != count) {
    return std::to_string(there) + " messages are there, and should be " + std::to_string(count);
  }
  return "";
}

std::string Oracle::difference(const embedded::ShardState& state) const {
  return difference(state, truth_);
}

// The journal ends within the records of a part. Then each message must be either as before the
// part, or as after it.
bool Oracle::adopt_mixture(const embedded::ShardState& state, const Truth& before,
                           const Truth& after) {
  Truth mixed = after;
  for (auto& [name, queue] : mixed.queues) {
    const embedded::QueueId id = state.queues.find(name);
    const auto found = before.queues.find(name);
    if (id == embedded::kNoQueue) {
      if (found != before.queues.end()) return false;
      continue;
    }
    // Messages are compared by id: a message that replaced another one under the same key is a
    // different message.
    std::map<std::uint64_t, std::pair<const Message*, const Message*>> known;
    if (found != before.queues.end()) {
      for (const auto& [key, message] : found->second.model.messages()) {
        known[found->second.refs.at(message.uid).id].first = &message;
      }
    }
    const Queue after_queue = queue;
    for (const auto& [key, message] : after_queue.model.messages()) {
      known[after_queue.refs.at(message.uid).id].second = &message;
    }
    std::map<KeyId, const Message*> there;
    std::map<Uid, embedded::Ref> places;
    for (embedded::Handle handle = 0; handle < state.slab.end(); ++handle) {
      if (!state.slab.is_live(handle) || state.slab[handle].queue != id) continue;
      const auto which = known.find(state.slab[handle].id);
      if (which == known.end()) return false;
      const auto [old, fresh] = which->second;
      const Message* is = nullptr;
      if (fresh != nullptr && difference(state, handle, name, *fresh).empty()) {
        is = fresh;
      } else if (old != nullptr && difference(state, handle, name, *old).empty()) {
        is = old;
      }
      if (is == nullptr || there.contains(is->key)) return false;
      there[is->key] = is;
      // A later item of the batch replaced this message before anybody had seen its place.
      places[is->uid] = {handle, state.slab[handle].id};
    }
    // A message that is missing must be gone after the part, or must not have existed before it.
    for (const auto& [known_id, which] : known) {
      const auto [old, fresh] = which;
      const Message* any = old != nullptr ? old : fresh;
      const auto at = there.find(any->key);
      const bool here = at != there.end() && (at->second == old || at->second == fresh);
      if (!here && old != nullptr && fresh != nullptr) return false;
    }
    for (const auto& [key, message] : after_queue.model.messages()) queue.model.take_out(key);
    if (found != before.queues.end()) {
      for (const auto& [uid, ref] : found->second.refs) queue.refs.emplace(uid, ref);
    }
    for (const auto& [uid, ref] : places) queue.refs[uid] = ref;
    for (const auto& [key, message] : there) queue.model.put_back(*message);
    queue.model.put_back(state.queue(id).counters);
  }
  std::erase_if(mixed.queues, [&](const auto& entry) {
    return state.queues.find(entry.first) == embedded::kNoQueue;
  });
  truth_ = std::move(mixed);
  return difference(state, truth_).empty();
}

// A queue is recorded before the first message in it. If the journal ends there, the queue is
// empty.
Oracle::Truth Oracle::with_new_queues(const embedded::ShardState& state, const Truth& before,
                                      const Truth& after) const {
  Truth truth = before;
  for (const auto& [name, queue] : after.queues) {
    if (state.queues.find(name) != embedded::kNoQueue)
      truth.queues.try_emplace(name, clock_->now());
  }
  return truth;
}

void Oracle::adopt(const OneShard& shard, std::uint64_t last_batch) {
  const embedded::ShardState& state = shard.state();
  const auto at = std::find_if(turns_.rbegin(), turns_.rend(),
                               [&](const Turn& turn) { return turn.last_batch <= last_batch; });
  if (at == turns_.rend()) return fail(1, "the journal ends before what was durable");
  const Truth& whole = at->states.back();
  if (at->last_batch == last_batch) {
    const std::string what = difference(state, whole);
    if (!what.empty()) fail(1, "after batch " + std::to_string(last_batch) + ": " + what);
    truth_ = whole;
    return;
  }
  if (at == turns_.rbegin()) return fail(4, "the journal goes on beyond what was written");
  // The journal ends within a turn.
  const std::vector<Truth>& states = (at - 1)->states;
  const Truth* before = &whole;
  for (const Truth& state_after : states) {
    const Truth after = with_new_queues(state, state_after, states.back());
    if (difference(state, after).empty()) {
      truth_ = after;
      return;
    }
    if (adopt_mixture(state, *before, after)) return;
    before = &state_after;
  }
  fail(1, "after batch " + std::to_string(last_batch) +
              ", amid a turn, nothing is there that the turn went through: " +
              difference(state, states.back()));
}

// A lease begins when its claim is durable, but no record says so. After recovery it may be
// shorter.
void Oracle::settle_leases(const embedded::ShardState& state) {
  for (auto& [name, queue] : truth_.queues) {
    const auto messages = queue.model.messages();
    for (const auto& [key, message] : messages) {
      if (message.stage != Message::Stage::leased) continue;
      const embedded::Ref ref = queue.refs.at(message.uid);
      Message settled = message;
      settled.lease_end = state.histories[state.slab[ref.handle].history].until_ms;
      queue.model.put_back(settled);
    }
  }
}

void Oracle::opened(const OneShard& shard, std::uint64_t last_batch, std::uint64_t least,
                    bool new_boot) {
  asked_.clear();
  granted_.clear();
  starts_.clear();
  sweeps_.clear();
  may_fail_ = sync_failed_ = false;
  opened_full_ = full_;
  highest_realtime_ = clock_->now().realtime_ms;
  if (failure_) return;
  if (last_batch < least) {
    return fail(1, "the journal ends at batch " + std::to_string(last_batch) + "; batch " +
                       std::to_string(least) + " was acknowledged");
  }
  if (new_boot) {
    const timing::Instant now = clock_->now();
    for (Turn& turn : turns_) {
      for (Truth& truth : turn.states) {
        for (auto& [name, queue] : truth.queues) {
          queue.model.new_boot(now.realtime_ms, now.boottime_ms);
        }
      }
    }
  }
  if (!turns_.empty()) adopt(shard, last_batch);
  if (failure_) return;
  settle_leases(shard.state());
  for (auto& [name, queue] : truth_.queues) queue.model.opened();
  // If a claim is lost, its receipt names nothing, and the next claim may get the same receipt.
  std::erase_if(claims_, [&](const auto& entry) {
    const Claim& claim = entry.second;
    const auto found = truth_.queues.find(claim.queue);
    if (found == truth_.queues.end() || claim.number >= found->second.model.claims()) return true;
    const Message* message = found->second.model.find(claim.message.key);
    return message != nullptr && message->uid == claim.message.uid &&
           message->tallies.claims < claim.message.tallies.claims;
  });
  std::erase_if(receipts_, [&](const std::string& receipt) { return !claims_.contains(receipt); });
  turns_.clear();
  turns_.push_back({last_batch, {truth_}});
  turn_ = Turn();
}

}  // namespace tarry::simulation
