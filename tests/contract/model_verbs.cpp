// The model's verbs of single messages, and which of them a claim takes.
#include <algorithm>
#include <limits>
#include <tuple>

#include "model.h"

namespace tarry::contract {

using Stage = ModelMessage::Stage;

// ---- the verb table

ModelPushed Model::push(const ModelPush& push) {
  const KeyId key = push.key ? *push.key : kFirstGeneratedKey + generated_keys_++;
  const auto found = messages_.find(key);
  if (found == messages_.end()) return put(key, push, Outcome::pushed);

  ModelMessage& message = found->second;
  const IfExists rule = push.if_exists.value_or(settings_.if_exists);
  const auto stays = [&](Outcome outcome) {
    return ModelPushed{outcome, message.uid, key, message.due};
  };
  switch (message.stage) {
    case Stage::leased: return stays(Outcome::in_flight);
    case Stage::remembered:
      return rule == IfExists::replace ? put(key, push, Outcome::pushed) : stays(Outcome::settled);
    case Stage::dead:
      if (rule != IfExists::replace) return stays(Outcome::exists);
      ++counters_.replaced;
      return put(key, push, Outcome::revived);
    case Stage::waiting: break;
  }
  if (rule == IfExists::reject) return stays(Outcome::exists);
  if (rule == IfExists::keep) return stays(Outcome::kept);
  if (rule == IfExists::replace) {
    ++counters_.replaced;
    return put(key, push, Outcome::replaced);
  }
  ModelMessage moved = message;
  move_due(moved, push.due);
  const bool moves = rule == IfExists::earlier ? moved.due < message.due : moved.due > message.due;
  if (!moves) return stays(Outcome::kept);
  message = moved;
  note(message, EventKind::rescheduled);
  ++counters_.reschedules;
  return stays(Outcome::moved);
}

ModelAnswer Model::cancel(KeyId key) {
  const auto found = messages_.find(key);
  if (found == messages_.end()) return {Outcome::unknown, {}, {}};
  ModelMessage& message = found->second;
  switch (message.stage) {
    case Stage::remembered: return {Outcome::settled, {}, message.settlement};
    case Stage::leased:
      if (!message.stopping) note(message, EventKind::stopping);
      message.stopping = true;
      return {Outcome::stopping, {}, {}};
    default: break;
  }
  end(message, Ending::cancelled);
  return {Outcome::cancelled, {}, {}};
}

ModelAnswer Model::reschedule(KeyId key, Due due, std::optional<std::uint32_t> priority) {
  const auto found = messages_.find(key);
  if (found == messages_.end()) return {Outcome::unknown, {}, {}};
  ModelMessage& message = found->second;
  Outcome outcome = Outcome::rescheduled;
  switch (message.stage) {
    case Stage::remembered: return {Outcome::settled, {}, message.settlement};
    case Stage::leased: return {Outcome::in_flight, {}, {}};
    case Stage::dead:
      revive(message, due);
      outcome = Outcome::revived;
      break;
    case Stage::waiting:
      move_due(message, due);
      note(message, EventKind::rescheduled);
      ++counters_.reschedules;
      break;
  }
  message.priority = priority.value_or(message.priority);
  return {outcome, message.due, {}};
}

std::vector<ModelMessage> Model::claim(std::uint32_t max, std::optional<std::int64_t> lease) {
  if (paused()) return {};
  refill();
  std::vector<ModelMessage*> due;
  for (auto& [key, message] : messages_) {
    if (message.stage == Stage::waiting && is_due(message)) due.push_back(&message);
  }
  std::ranges::sort(due, {}, [this](const ModelMessage* message) {
    return std::tuple(message->priority, message->due, tie_ ? tie_(*message) : std::string(),
                      message->uid);
  });
  max = std::min(max, room());
  if (due.size() > max && !claims_all_) due.resize(max);
  std::vector<ModelMessage> claimed;
  for (ModelMessage* message : due) {
    if (!group_has_room(*message)) continue;
    lease_out(*message, lease);
    claimed.push_back(*message);
  }
  return claimed;
}

std::uint32_t Model::room() const {
  std::uint32_t room = std::numeric_limits<std::uint32_t>::max();
  if (const std::uint32_t most = settings_.max_leased; most != 0) {
    room = most - std::min(most, static_cast<std::uint32_t>(stats().leased));
  }
  if (settings_.rate == DeliveryRate()) return room;
  Model now = *this;
  now.refill();
  return std::min(room, static_cast<std::uint32_t>(now.tokens_));
}

bool Model::is_next_of_group(const ModelMessage& message) const {
  return std::ranges::none_of(messages_, [&](const auto& entry) {
    const ModelMessage& other = entry.second;
    if (other.group != message.group || other.uid == message.uid) return false;
    return other.stage == Stage::leased ||
           (other.stage == Stage::waiting && other.uid < message.uid);
  });
}

bool Model::group_has_room(const ModelMessage& message) const {
  const bool in_order = settings_.group_order == GroupOrder::push && !message.group.empty();
  if (in_order && !is_next_of_group(message)) return false;
  const std::uint32_t most = settings_.group_max_leased;
  if (most == 0 || message.group.empty()) return true;
  const auto leased = std::ranges::count_if(messages_, [&](const auto& entry) {
    return entry.second.stage == Stage::leased && entry.second.group == message.group;
  });
  return leased < static_cast<std::int64_t>(most);
}

std::string Model::group_of(const Headers& headers) const {
  if (settings_.group.by != Grouping::By::header) return {};
  for (const Header& header : headers) {
    if (header.name == settings_.group.header) return header.value;
  }
  return {};
}

void Model::opened() {
  tokens_ = settings_.rate.burst;
  token_parts_ = 0;
  tokens_at_ = boottime_;
}

void Model::refill() {
  const DeliveryRate& rate = settings_.rate;
  if (rate == DeliveryRate()) return;
  if (one_clock_) tokens_at_ = std::min(tokens_at_, boottime_);
  if (boottime_ <= tokens_at_) return;
  token_parts_ += (boottime_ - tokens_at_) * rate.count;
  tokens_at_ = boottime_;
  tokens_ += token_parts_ / rate.per.count();
  token_parts_ %= rate.per.count();
  if (tokens_ < rate.burst) return;
  tokens_ = rate.burst;
  token_parts_ = 0;
}

void Model::lease_out(ModelMessage& message, std::optional<std::int64_t> lease) {
  refill();
  --tokens_;
  if (message.stage == Stage::dead) message.attempt = 0;
  message.stage = Stage::leased;
  message.stopping = false;
  message.lease = lease.value_or(settings_.lease.count());
  message.lease_end = boottime_ + message.lease;
  message.renewed = false;
  if (message.tallies.claims > 0) message.claim_before = message.claim;
  message.claim = claims_++;
  ++message.attempt;
  ++message.tallies.claims;
  ++counters_.claims;
  note(message, EventKind::claimed);
}

const ModelMessage& Model::take(KeyId key, std::optional<std::int64_t> lease) {
  ModelMessage& message = messages_.at(key);
  lease_out(message, lease);
  return message;
}

void Model::begin_lease(std::size_t claim, std::int64_t boottime) {
  ModelMessage* const message = find_claim(claim);
  if (message == nullptr) return;
  message->lease_end = std::max(message->lease_end, boottime + message->lease);
}

void Model::hold_lease(std::size_t claim, std::int64_t boottime) {
  const ModelMessage* const message = find_claim(claim);
  if (message != nullptr && message->lease_end <= boottime) begin_lease(claim, boottime);
}

ModelPushed Model::move(const ModelPush& move, std::uint32_t attempt, const Tallies& tallies,
                        const std::optional<std::string>& dead,
                        std::optional<std::int64_t> pushed_ms) {
  const bool known = move.key && messages_.contains(*move.key);
  ModelPush push = move;
  if (!push.if_exists) push.if_exists = IfExists::reject;  // a move does not use the queue's rule
  const ModelPushed pushed = this->push(push);
  if (known) return pushed;
  ModelMessage& message = messages_.at(pushed.key);
  message.attempt = attempt;
  message.tallies = tallies;
  message.pushed = pushed_ms;
  message.expire = move.expire;  // not the queue's
  message.expire_at = move.expire_at;
  if (move.expire && !move.expire_at) message.expire_at = message.due + *move.expire;
  if (dead) die(message, *dead);
  message.events.clear();
  note(message, EventKind::imported);
  return pushed;
}

ModelAnswer Model::move_away(std::size_t claim) {
  const ModelMessage* message = find_claim(claim);
  if (message == nullptr) return {Outcome::stale, {}, {}};
  ++counters_.moved_away;
  messages_.erase(message->key);
  return {Outcome::done, {}, {}};
}

ModelMessage* Model::find_claim(std::size_t claim) {
  for (auto& [key, message] : messages_) {
    if (message.stage == Stage::leased && message.claim == claim) return &message;
  }
  return nullptr;
}

bool Model::was_acked_by(std::size_t claim) const {
  return std::ranges::any_of(messages_, [claim](const auto& entry) {
    const ModelMessage& message = entry.second;
    return message.stage == Stage::remembered && message.settlement.how == Ending::acked &&
           message.claim == claim;
  });
}

ModelAnswer Model::settle(std::size_t claim, Action action, std::optional<std::int64_t> delay,
                          std::optional<std::uint32_t> priority, const std::string& reason) {
  ModelMessage* message = find_claim(claim);
  if (message == nullptr) {
    const bool again = action == Action::ack && was_acked_by(claim);
    return {again ? Outcome::done : Outcome::stale, {}, {}};
  }
  if (action == Action::ack || message->stopping) {
    end(*message, action == Action::ack ? Ending::acked : Ending::cancelled);
    return {Outcome::done, {}, {}};
  }
  message->priority = priority.value_or(message->priority);
  switch (action) {
    case Action::bury:
      ++message->tallies.buries;
      ++counters_.buries;
      die(*message, reason);
      note(*message, EventKind::buried);
      return {Outcome::done, {}, {}};
    case Action::release:
      message->stage = Stage::waiting;
      note(*message, EventKind::released);
      --message->attempt;
      ++message->tallies.releases;
      ++counters_.releases;
      return {Outcome::done, {}, {}};
    default: break;
  }
  if (message->attempt >= max_attempts(*message)) {
    die(*message, reason.empty() ? std::nullopt : std::optional(reason));
    note(*message, EventKind::died);
    return {Outcome::done, {}, {}};
  }
  message->stage = Stage::waiting;
  set_due(*message, Due::after(Millis(delay.value_or(0))));
  note(*message, EventKind::retried);
  ++counters_.retries;
  return {Outcome::done, message->due, {}};
}

ModelAnswer Model::extend(std::size_t claim, std::optional<std::int64_t> lease) {
  ModelMessage* message = find_claim(claim);
  if (message == nullptr) return {Outcome::stale, {}, {}};
  message->lease = lease.value_or(settings_.lease.count());
  message->lease_end = boottime_ + message->lease;
  message->renewed = false;
  return {Outcome::done, {}, {}};
}

}  // namespace tarry::contract
