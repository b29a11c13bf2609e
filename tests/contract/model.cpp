#include "model.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tarry::contract {

using Stage = ModelMessage::Stage;

// ---- time

void Model::advance(std::int64_t by) { set_time(realtime_ + by, boottime_ + by); }

void Model::step(std::int64_t by) { set_time(realtime_ + by, boottime_ + (one_clock_ ? by : 0)); }

void Model::go_by_one_clock(Tie tie) {
  one_clock_ = true;
  boottime_ = realtime_;
  tie_ = std::move(tie);
}

void Model::set_time(std::int64_t realtime, std::int64_t boottime, const Done& done) {
  realtime_ = realtime;
  boottime_ = boottime;
  apply_time(done);
}

void Model::new_boot(std::int64_t realtime, std::int64_t boottime) {
  realtime_ = realtime;
  boottime_ = boottime;
  for (auto& [key, message] : messages_) {
    message.boot_due.reset();
    if (message.stage != Stage::leased) continue;
    message.lease_end = boottime + message.lease;
    message.renewed = true;
  }
}

void Model::note_renewed() {
  for (auto& [key, message] : messages_) message.renewed = false;
}

void Model::apply_time(const Done& done) {
  std::vector<KeyId> keys;
  for (const auto& [key, message] : messages_) keys.push_back(key);
  for (const KeyId key : keys) {
    ModelMessage& message = messages_.at(key);
    if (message.stage != Stage::leased || message.lease_end > boottime_) continue;
    if (done && !done(message)) continue;
    if (message.stopping) {
      end(message, Ending::cancelled);
      continue;
    }
    ++counters_.run_outs;
    ++message.tallies.run_outs;
    if (message.attempt >= max_attempts(message)) {
      die(message, std::nullopt);
      note(message, EventKind::died);
    } else {
      message.stage = Stage::waiting;
      note(message, EventKind::run_out);
    }
  }
  expire(done);
  std::erase_if(messages_, [&](const auto& entry) {
    const ModelMessage& message = entry.second;
    const bool kept = message.stage == Stage::dead || message.stage == Stage::remembered;
    if (!kept || message.kept_until > realtime_) return false;
    if (done && !done(message)) return false;
    if (message.stage == Stage::dead) ++counters_.expired;
    return true;
  });
}

void Model::expire(const Done& done) {
  std::vector<KeyId> keys;
  for (const auto& [key, message] : messages_) {
    if (message.stage != Stage::waiting || !message.expire_at) continue;
    if (*message.expire_at <= realtime_ && (!done || done(message))) keys.push_back(key);
  }
  for (const KeyId key : keys) {
    ModelMessage& message = messages_.at(key);
    if (settings_.on_expiry == OnExpiry::dead) {
      die(message, "expired");
      note(message, EventKind::died);
    } else {
      end(message, Ending::expired);
    }
  }
}

std::int64_t Model::moment(Due due) const noexcept {
  return due.is_relative() ? realtime_ + due.millis() : due.millis();
}

bool Model::may_expire(const ModelPush& push) const {
  return !push.expire_at || *push.expire_at > moment(push.due);
}

bool Model::may_reschedule(KeyId key, Due due) const {
  const ModelMessage* const message = find(key);
  return message == nullptr || message->stage != Stage::waiting || message->expire ||
         !message->expire_at || moment(due) < *message->expire_at;
}

// As a reschedule or a revive does it: an expiry after the due time moves, a fixed one is dropped
// if the due time is not before it.
void Model::move_due(ModelMessage& message, Due due) const {
  set_due(message, due);
  if (message.expire) {
    message.expire_at = message.due + *message.expire;
  } else if (message.expire_at && message.due >= *message.expire_at) {
    message.expire_at.reset();
  }
}

void Model::set_due(ModelMessage& message, Due due) const {
  message.due = moment(due);
  message.boot_due.reset();
  if (due.is_relative()) message.boot_due = boottime_ + due.millis();
}

bool Model::is_due(const ModelMessage& message) const noexcept {
  return message.due <= realtime_ && (!message.boot_due || *message.boot_due <= boottime_);
}

// ---- endings and beginnings

namespace {

EventKind kind_of(Ending ending) {
  switch (ending) {
    case Ending::acked: return EventKind::acked;
    case Ending::cancelled: return EventKind::cancelled;
    case Ending::expired: break;
  }
  return EventKind::expired;
}

bool begins_anew(EventKind kind) {
  return kind == EventKind::pushed || kind == EventKind::rescheduled || kind == EventKind::revived;
}

void cut(std::vector<ModelEvent>& events, std::size_t most) {
  if (events.size() > most) {
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(most));
  }
}

}  // namespace

void Model::note(ModelMessage& message, EventKind kind) const {
  message.events.push_back({kind, begins_anew(kind) ? 0 : message.attempt});
  cut(message.events, settings_.history);
}

std::uint32_t Model::max_attempts(const ModelMessage& message) const noexcept {
  return message.max_attempts != 0 ? message.max_attempts : settings_.max_attempts;
}

void Model::end(ModelMessage& message, Ending ending) {
  switch (ending) {
    case Ending::acked: ++counters_.acked; break;
    case Ending::cancelled: ++counters_.cancelled; break;
    case Ending::expired: ++counters_.expired; break;
  }
  if (settings_.remember.count() == 0) {
    messages_.erase(message.key);
    return;
  }
  message.stage = Stage::remembered;
  message.stopping = false;
  message.expire.reset();
  message.expire_at.reset();
  message.reason.reset();
  message.settlement = {ending, Time(Millis(realtime_))};
  message.kept_until = realtime_ + settings_.remember.count();
  note(message, kind_of(ending));
}

void Model::die(ModelMessage& message, std::optional<std::string> reason) {
  message.stage = Stage::dead;
  message.reason = std::move(reason);
  message.kept_until = realtime_ + settings_.dead_keep.count();
}

void Model::revive(ModelMessage& message, Due due) {
  message.stage = Stage::waiting;
  message.attempt = 0;
  ++message.tallies.revives;
  ++counters_.revives;
  move_due(message, due);
  note(message, EventKind::revived);
}

ModelPushed Model::put(KeyId key, const ModelPush& push, Outcome outcome) {
  ModelMessage message;
  message.uid = ++last_uid_;
  message.key = key;
  message.payload = push.payload;
  message.headers = push.headers;
  message.group = group_of(push.headers);
  message.priority = push.priority;
  message.max_attempts = push.max_attempts;
  message.pushed = realtime_;
  set_due(message, push.due);
  message.expire = push.expire;
  if (!push.expire && !push.expire_at && settings_.expire.count() != 0) {
    message.expire = settings_.expire.count();
  }
  message.expire_at = push.expire_at;
  if (message.expire) message.expire_at = message.due + *message.expire;
  note(message, EventKind::pushed);
  ++counters_.accepted;
  const ModelPushed pushed{outcome, message.uid, key, message.due};
  messages_.insert_or_assign(key, std::move(message));
  return pushed;
}

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
  if (rate == DeliveryRate() || boottime_ <= tokens_at_) return;
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

// ---- the queue as a whole

std::uint64_t Model::purge() {
  const std::uint64_t count = std::erase_if(messages_, [](const auto& entry) {
    return entry.second.stage == Stage::waiting || entry.second.stage == Stage::dead;
  });
  counters_.purged += count;
  return count;
}

std::uint64_t Model::revive(const std::vector<KeyId>& keys) {
  std::uint64_t count = 0;
  for (auto& [key, message] : messages_) {
    if (message.stage != Stage::dead) continue;
    if (!keys.empty() && std::ranges::find(keys, key) == keys.end()) continue;
    revive(message, Due());
    ++count;
  }
  return count;
}

std::optional<std::uint64_t> Model::remove(bool force) {
  const ModelStats gone = stats();
  if (gone.leased > 0 && !force) return std::nullopt;
  messages_.clear();
  settings_ = {};
  counters_ = {};
  opened();
  paused_ = false;
  return gone.scheduled + gone.ready + gone.leased + gone.dead;
}

void Model::pause(std::optional<std::int64_t> until) {
  paused_ = true;
  paused_until_ = until;
}

bool Model::paused() const noexcept {
  return paused_ && (!paused_until_ || realtime_ < *paused_until_);
}

void Model::configure(const SettingsPatch& patch) {
  settings_.lease = patch.lease.value_or(settings_.lease);
  settings_.max_attempts = patch.max_attempts.value_or(settings_.max_attempts);
  settings_.backoff_min = patch.backoff_min.value_or(settings_.backoff_min);
  settings_.backoff_max = patch.backoff_max.value_or(settings_.backoff_max);
  settings_.remember = patch.remember.value_or(settings_.remember);
  settings_.dead_keep = patch.dead_keep.value_or(settings_.dead_keep);
  settings_.if_exists = patch.if_exists.value_or(settings_.if_exists);
  settings_.objective = patch.objective.value_or(settings_.objective);
  settings_.expire = patch.expire.value_or(settings_.expire);
  settings_.on_expiry = patch.on_expiry.value_or(settings_.on_expiry);
  settings_.max_leased = patch.max_leased.value_or(settings_.max_leased);
  settings_.group = patch.group.value_or(settings_.group);
  settings_.group_max_leased = patch.group_max_leased.value_or(settings_.group_max_leased);
  settings_.history = patch.history.value_or(settings_.history);
  for (auto& [key, message] : messages_) cut(message.events, settings_.history);
  settings_.group_order = patch.group_order.value_or(settings_.group_order);
  const DeliveryRate before = settings_.rate;
  settings_.rate = patch.rate.value_or(before);
  if (settings_.rate == before) return;
  if (before == DeliveryRate()) return opened();
  tokens_ = std::min<std::int64_t>(tokens_, settings_.rate.burst);
  token_parts_ = 0;
}

// ---- questions

const ModelMessage* Model::find(KeyId key) const {
  const auto found = messages_.find(key);
  return found == messages_.end() ? nullptr : &found->second;
}

State Model::state_of(const ModelMessage& message) const noexcept {
  switch (message.stage) {
    case Stage::leased: return State::leased;
    case Stage::dead: return State::dead;
    case Stage::remembered: return State::remembered;
    case Stage::waiting: break;
  }
  return is_due(message) ? State::ready : State::scheduled;
}

ModelStats Model::stats() const {
  ModelStats stats;
  for (const auto& [key, message] : messages_) {
    switch (state_of(message)) {
      case State::scheduled: ++stats.scheduled; break;
      case State::ready: ++stats.ready; break;
      case State::leased: ++stats.leased; break;
      case State::dead: ++stats.dead; break;
      case State::remembered: ++stats.remembered; break;
    }
  }
  return stats;
}

Forecast Model::forecast(const ForecastOptions& options) const {
  Forecast forecast{.width = options.width, .buckets = {}};
  forecast.buckets.resize(options.buckets);
  for (const auto& [key, message] : messages_) {
    const State state = state_of(message);
    if (state == State::ready) ++forecast.due_now;
    if (state != State::scheduled) continue;
    const auto begin = options.from ? options.from->time_since_epoch().count() : realtime_;
    // A message that a step of the clock would make due is scheduled until its delay has passed.
    const auto due = std::max(message.due, realtime_ + 1);
    if (due <= begin) {
      ++forecast.due_now;
      continue;
    }
    std::size_t bucket = 0;
    auto end = begin + options.width.count();
    for (; bucket < options.buckets && due > end; ++bucket) end += options.width.count();
    ++(bucket < options.buckets ? forecast.buckets[bucket] : forecast.later);
  }
  return forecast;
}

}  // namespace tarry::contract
