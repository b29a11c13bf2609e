#include "model.h"

#include <algorithm>

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
  if (patch.rate.value_or(before) == before) return;
  refill();
  settings_.rate = *patch.rate;
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
