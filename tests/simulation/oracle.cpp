#include "oracle.h"

#include <algorithm>

#include "engines/embedded/records/tokens.h"

namespace tarry::simulation {

using embedded::Stage;

namespace {

// Whether the reply acknowledges anything: not all of its items are errors.
bool acknowledges(const core::Reply& reply) {
  const auto good = [](const auto& item) { return !item.error; };
  if (const auto* push = std::get_if<core::PushReply>(&reply)) {
    return std::ranges::any_of(push->items, good);
  }
  if (const auto* items = std::get_if<core::ItemsReply>(&reply)) {
    return std::ranges::any_of(items->items, good);
  }
  return true;
}

}  // namespace

Oracle::Oracle(const Options& options, const timing::ManualClock& clock)
    : options_(options), clock_(&clock) {
  tolerance_.slices = options.wheel_slice < 1000;
  // docs/semantics.md says how much too early a delay may end if the wall clock is set by a small
  // step.
  constexpr std::int64_t kPromisedMs = 40;
  tolerance_.clock = options.small_steps ? kPromisedMs : 0;
}

void Oracle::fail(int invariant, std::string what) {
  if (!failure_) failure_ = Failure{invariant, std::move(what)};
}

// ---- names

Oracle::Queue& Oracle::queue(const std::string& name) {
  return truth_.queues.try_emplace(name, clock_->now()).first->second;
}

std::optional<contract::KeyId> Oracle::key_id(const Queue& queue, const std::string& name,
                                              std::string_view key) const {
  // A user may use a key that the store has generated.
  if (const auto made = made_.find(name); made != made_.end()) {
    for (const auto& [id, text] : made->second) {
      if (text == key && queue.model.find(id) != nullptr) return id;
    }
  }
  for (std::uint32_t number = 0; number < options_.keys; ++number) {
    if (key_of(number) == key) return static_cast<KeyId>(number);
  }
  return std::nullopt;
}

std::string Oracle::key_text(const std::string& queue, KeyId key) const {
  if (key < contract::kFirstGeneratedKey) return key_of(static_cast<std::uint32_t>(key));
  const auto made = made_.find(queue);
  if (made == made_.end()) return {};
  const auto found = made->second.find(key);
  return found == made->second.end() ? std::string() : found->second;
}

std::string Oracle::generated_key(const std::string& queue, std::uint32_t number) const {
  const auto made = made_.find(queue);
  if (made == made_.end() || made->second.empty()) return {};
  auto it = made->second.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(number % made->second.size()));
  return it->second;
}

bool Oracle::pending() const {
  return std::any_of(truth_.queues.begin(), truth_.queues.end(), [](const auto& entry) {
    const contract::ModelStats stats = entry.second.model.stats();
    return stats.scheduled + stats.ready + stats.leased != 0;
  });
}

// ---- a turn, step by step

void Oracle::snapshot() { turn_.states.push_back(truth_); }

void Oracle::watch(const OneShard& shard, OneShard::Moment moment, const embedded::Part* part) {
  if (failure_) return;
  state_ = &shard.state();
  now_ = clock_->now();
  switch (moment) {
    case OneShard::Moment::time: time_passed(shard); break;
    case OneShard::Moment::part:
      if (part->kind != embedded::Part::Kind::request) return;
      note_expired(*part);
      decide(shard, *part);
      break;
    case OneShard::Moment::waiters: waiters_served(shard); break;
    case OneShard::Moment::work: swept(shard); break;
  }
  snapshot();
}

void Oracle::time_passed(const OneShard& /*shard*/) {
  highest_realtime_ = std::max(highest_realtime_, now_.realtime_ms);
  for (const Start& start : starts_) queue(start.queue).model.begin_lease(start.claim, start.boot);
  starts_.clear();
  for (const auto& [name, claim] : granted_) {
    const auto found = truth_.queues.find(claim.queue);
    if (found != truth_.queues.end())
      found->second.model.hold_lease(claim.number, now_.boottime_ms);
  }
  if (!full_ && !may_fail_) {
    for (auto& [name, queue] : truth_.queues) queue.model.note_renewed();
  }
  // Right after a start, the store waits until the clock has made up for a small step back. Until
  // then, leases and messages that had ended before the step may still be there.
  const bool sits_out = tolerance_.clock != 0 && now_.realtime_ms < highest_realtime_;
  const bool loose = tolerance_.slices || was_full_ || may_fail_ || sits_out;
  const auto is_done = [&](const Queue& queue, const Message& message) {
    const embedded::Ref ref = queue.refs.at(message.uid);
    if (!state_->slab.holds(ref.handle, ref.id)) return true;
    if (message.stage == Message::Stage::waiting) {
      const Stage stage = state_->slab[ref.handle].stage();
      return stage == Stage::dead || stage == Stage::remembered;
    }
    if (message.stage != Message::Stage::leased) return false;
    return !leased_now(queue, message);
  };
  if (options_.expiry) {  // leases end before messages expire, and a crash may come in between
    for (auto& [name, queue] : truth_.queues) {
      queue.model.set_time(
          now_.realtime_ms, now_.boottime_ms, [&, &queue = queue](const Message& message) {
            return message.stage == Message::Stage::leased && (!loose || is_done(queue, message));
          });
    }
    snapshot();
  }
  for (auto& [name, queue] : truth_.queues) {
    if (loose) {
      queue.model.set_time(
          now_.realtime_ms, now_.boottime_ms,
          [&, &queue = queue](const Message& message) { return is_done(queue, message); });
    } else {
      queue.model.set_time(now_.realtime_ms, now_.boottime_ms);
    }
  }
}

void Oracle::note_expired(const embedded::Part& part) {
  for (auto& [name, queue] : truth_.queues) {
    queue.model.expire([&, &name = name, &queue = queue](const Message& message) {
      return has_expired(name, queue, message, *part.op);
    });
  }
}

// Whether the message, whose expiry has come, expired before the request was carried out. It did
// not if a full disk had no room for that.
bool Oracle::has_expired(const std::string& name, const Queue& queue, const Message& message,
                         const embedded::Operation& op) const {
  const embedded::Ref ref = queue.refs.at(message.uid);
  if (state_->slab.holds(ref.handle, ref.id)) {
    const embedded::Message& there = state_->slab[ref.handle];
    if (there.stage() == Stage::dead) return true;
    if (there.history == embedded::kNoHistory) return false;
    const embedded::History& history = state_->histories[there.history];
    if (there.stage() == Stage::remembered && history.ending == Ending::expired) return true;
    if (there.stage() != Stage::remembered) {  // the request may have revived or claimed it dead
      const bool was_dead =
          there.stage() == Stage::leased && queue.model.settings().on_expiry == OnExpiry::dead;
      return was_dead || history.tallies.revives > message.tallies.revives;
    }
  }
  // It is gone. If the request names it, the answer says what it was before.
  const std::string key = key_text(name, message.key);
  if (const auto* cancel = std::get_if<core::CancelRequest>(&op.request)) {
    const auto& items = std::get<core::ItemsReply>(op.reply).items;
    for (std::size_t i = 0; cancel->queue == name && i < items.size(); ++i) {
      if (core::view(cancel->bytes, cancel->keys[i]) != key) continue;
      return items[i].outcome != Outcome::cancelled;
    }
  }
  const auto* reply = std::get_if<core::PushReply>(&op.reply);
  const auto* push = std::get_if<core::PushRequest>(&op.request);
  for (std::size_t i = 0; push != nullptr && push->queue == name && i < push->items.size(); ++i) {
    if (core::view(push->bytes, push->items[i].key) != key) continue;
    const Outcome outcome = reply->items[i].outcome;
    return outcome == Outcome::pushed || outcome == Outcome::settled || outcome == Outcome::revived;
  }
  return true;
}

// Applies the progress of a sweep to the model: messages are removed or revived.
void Oracle::swept(const OneShard& /*shard*/) {
  for (const auto& [name, sweep] : sweeps_) {
    if (!sweep.active) continue;
    Queue& queue = this->queue(name);
    std::uint64_t count = sweep.removes ? swept_away(queue) : 0;
    const auto messages = queue.model.messages();
    QueueCounters counters = queue.model.counters();
    for (const auto& [key, message] : messages) {
      const bool dead = message.stage == Message::Stage::dead;
      if (sweep.removes) break;
      if (!dead && (message.stage != Message::Stage::waiting || !sweep.purge)) continue;
      const embedded::Ref ref = queue.refs.at(message.uid);
      const bool there = state_->slab.holds(ref.handle, ref.id);
      if (sweep.purge && !there) {
        queue.model.take_out(key);
        ++counters.purged;
        ++count;
      }
    }
    if (sweep.purge) queue.model.put_back(counters);
    if (!sweep.purge && !sweep.removes) {
      std::vector<KeyId> revived;
      for (const auto& [key, message] : messages) {
        if (message.stage != Message::Stage::dead) continue;
        const embedded::Ref ref = queue.refs.at(message.uid);
        if (!state_->slab.holds(ref.handle, ref.id)) continue;
        if (state_->slab[ref.handle].stage() != Stage::dead) revived.push_back(key);
      }
      if (!revived.empty()) count += queue.model.revive(revived);
    }
    if (const auto found = asked_.find(sweep.op); found != asked_.end()) {
      found->second.count += count;
    }
  }
}

// A removal takes messages in any state. Returns how many of them were not only remembered.
std::uint64_t Oracle::swept_away(Queue& queue) const {
  std::uint64_t count = 0;
  const auto messages = queue.model.messages();
  for (const auto& [key, message] : messages) {
    const embedded::Ref ref = queue.refs.at(message.uid);
    if (state_->slab.holds(ref.handle, ref.id)) continue;
    queue.model.take_out(key);
    if (message.stage != Message::Stage::remembered) ++count;
  }
  QueueCounters counters = queue.model.counters();
  counters.purged += count;
  queue.model.put_back(counters);
  return count;
}

void Oracle::turn_ended(const OneShard& shard) {
  if (failure_) return;
  turn_.last_batch = shard.last_taken();
  for (auto& [name, queue] : truth_.queues) {
    std::set<Uid> live;
    for (const auto& [key, message] : queue.model.messages()) live.insert(message.uid);
    std::erase_if(queue.refs, [&](const auto& ref) { return !live.contains(ref.first); });
  }
  snapshot();
  // A turn without a batch leaves nothing on disk. What can survive is the last written turn, with
  // the changes that time has made to it since.
  if (!turns_.empty() && turns_.back().last_batch == turn_.last_batch) {
    Turn& written = turns_.back();
    if (written.went_on) written.states.pop_back();
    written.states.push_back(std::move(turn_.states.back()));
    written.went_on = true;
  } else {
    turns_.push_back(std::move(turn_));
  }
  turn_ = Turn();
  ++turn_number_;
  // Drops the turns to which no crash can lead back any more.
  const std::uint64_t floor = options_.policy == embedded::SyncPolicy::os ? 0 : shard.answered();
  const bool synced = options_.policy == embedded::SyncPolicy::always;
  while (synced && turns_.size() > 1 && turns_[1].last_batch <= floor) turns_.pop_front();
  if (may_fail_) return;
  if (const std::string what = difference(shard.state()); !what.empty()) {
    fail(13, "the shard is not as its answers say: " + what);
  }
}

// ---- answers

void Oracle::asked(const embedded::OperationPtr& op) {
  Expectation expected;
  expected.op = op;
  expected.began_turn = turn_number_;
  asked_.emplace(op.get(), std::move(expected));
  if (const auto* purge = std::get_if<core::PurgeRequest>(&op->request)) {
    sweeps_[purge->queue] = {op.get(), true, false};
  }
  const auto* revive = std::get_if<core::ReviveRequest>(&op->request);
  if (revive != nullptr && revive->all) sweeps_[revive->queue] = {op.get(), false, false};
}

void Oracle::answered(const embedded::Operation* op, const Result<core::Reply>& reply) {
  const auto found = asked_.find(op);
  if (found == asked_.end()) return fail(4, "an operation was answered twice, or never asked");
  const Expectation expected = std::move(found->second);
  asked_.erase(found);
  std::erase_if(sweeps_, [op](const auto& entry) { return entry.second.op == op; });
  if (failure_) return;
  ++answers_;
  if (!reply) {
    if (std::holds_alternative<core::RemoveRequest>(expected.op->request)) {
      return check_not_removed(expected, reply.error());
    }
    const bool configures = std::holds_alternative<core::ConfigureRequest>(expected.op->request);
    // What a configure is refused for was judged when it was decided.
    if (configures && expected.decided && reply.error().code == ErrorCode::conflict) return;
    (void)refused(reply.error(), false);
    return;
  }
  if (sync_failed_ && acknowledges(*reply))
    return fail(10, "an operation was acknowledged after a sync had failed");
  if (!expected.decided) return fail(4, "an operation was answered before it was decided");
  std::visit([&](const auto& answer) { check(expected, answer); }, *reply);
}

bool Oracle::refused(const std::optional<Error>& error, bool ends) {
  if (!error) return false;
  if (may_fail_) return true;
  // The store's reserve between two rounds of cleaning (shard.cpp) is meant for at least this much
  // work.
  const bool keeps_enough = options_.work_base >= embedded::ShardConfig::kWorkBase;
  if (error->code != ErrorCode::no_space) {
    fail(1, "refused without a cause: " + error->message);
  } else if (!full_) {
    fail(12, "no space on a disk that has room: " + error->message);
  } else if (ends && !opened_full_ && pending() && keeps_enough) {
    fail(12, "what ends messages was refused on a full disk: " + error->message);
  }
  return true;
}

}  // namespace tarry::simulation
