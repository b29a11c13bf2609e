#include "model_bench.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "timing/clock.h"
#include "timing/manual_clock.h"

namespace tarry::contract {
namespace {

template <typename T>
std::string text(const T& value) {
  if constexpr (std::is_same_v<T, Time>) {
    return std::to_string(ms(value));
  } else {
    return testing::PrintToString(value);
  }
}

template <typename T>
void same(std::string_view what, const T& got, const T& want) {
  if (got == want) return;
  throw std::runtime_error(std::string(what) + ": the engine says " + text(got) +
                           ", the model says " + text(want));
}

Time moment(std::int64_t value) { return Time(Millis(value)); }

template <typename T>
std::optional<T> maybe(const std::optional<std::int64_t>& value) {
  return value ? std::optional(T(Millis(*value))) : std::nullopt;
}

// The order of docs/formats/redis.md: messages with a history go after those without one, then the
// members of the ZSET decide. Generated keys go in the order in which they were generated, other
// keys by their bytes; a key that begins with a control character has an 0x1F in front.
std::string redis_tie(const ModelMessage& message) {
  const bool has_past = message.tallies.claims > 0 || message.tallies.revives > 0;
  std::string tie(1, has_past ? '1' : '0');
  if (message.key >= kFirstGeneratedKey) {
    tie += '\x1e';
    const std::string number = std::to_string(message.key);
    return tie + std::string(10 - number.size(), '0') + number;
  }
  const std::string& key = key_pool().at(static_cast<std::size_t>(message.key));
  if (static_cast<unsigned char>(key.front()) < 0x20) tie += '\x1f';
  return tie + key;
}

}  // namespace

const std::vector<std::string>& key_pool() {
  static const std::vector<std::string> keys = {
      "a",  "b",        std::string("\0", 1), "{a}b",
      "{}", "\xff\xfe", "\"\\\n/../%2F?#",    std::string(512, 'k')};
  return keys;
}

// The smallest segments, so that a sequence of commands fills several and the store cleans them.
ModelBench::ModelBench(const EngineSpec& spec) : rig_(spec, {}, "&sync=os&segment=64KiB") {}

Model ModelBench::initial_model(const SettingsPatch& settings) {
  (void)must(queue().configure(settings));
  const timing::Instant now = rig_.clock().implementation()->now();
  Model model(now.realtime_ms, now.boottime_ms);
  if (rig_.spec().kind == Kind::redis) model.go_by_one_clock(redis_tie);
  any_order_ = rig_.spec().shards > 1 || settings.group.has_value();
  if (any_order_) model.claim_all();
  if (rig_.spec().shards > 1) model.keep_order();
  model.configure(settings);
  if (!rig_.engine().capabilities().expiry) model.never_expire();
  if (!rig_.engine().capabilities().limits) model.never_limit();
  if (!rig_.engine().capabilities().groups) model.never_group();
  return model;
}

std::string ModelBench::key(KeyId id) const {
  if (id >= kFirstGeneratedKey) return generated_keys_.at(id);
  const std::string& pooled = key_pool().at(static_cast<std::size_t>(id));
  // An argument of a command ends at its first zero byte.
  if (rig_.spec().by == By::command_line && pooled.front() == '\0') return "\x01";
  return pooled;
}

void ModelBench::push(const std::vector<ModelPush>& messages,
                      const std::vector<ModelPushed>& want) {
  std::vector<std::string> keys;
  for (const ModelPush& message : messages) keys.push_back(message.key ? key(*message.key) : "");
  std::vector<Push> pushes;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ModelPush& message = messages[i];
    pushes.push_back({.key = keys[i],
                      .payload = message.payload,
                      .due = message.due,
                      .headers = message.headers,
                      .priority = message.priority,
                      .if_exists = message.if_exists,
                      .max_attempts = message.max_attempts,
                      .expire = maybe<Millis>(message.expire),
                      .expire_at = maybe<Time>(message.expire_at)});
  }
  const std::vector<Result<Pushed>> got = must(queue().push(pushes));
  same("push: answers", got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Pushed pushed = must(got[i]);
    same("push: outcome", pushed.outcome, want[i].outcome);
    same("push: due", ms(pushed.due), want[i].due);
    if (messages[i].key) {
      same("push: key", pushed.key, keys[i]);
    } else {
      for (const auto& [id, made] : generated_keys_) {
        if (made == pushed.key) throw std::runtime_error("push: a generated key was made twice");
      }
      generated_keys_[want[i].key] = pushed.key;
    }
    const auto known = ids_.find(want[i].uid);
    if (known != ids_.end()) {
      same("push: id", pushed.id, known->second);
      continue;
    }
    for (const auto& [uid, id] : ids_) {
      if (id == pushed.id) throw std::runtime_error("push: an id was given twice");
    }
    ids_[want[i].uid] = pushed.id;
  }
}

void ModelBench::check_answer(const char* verb, const Answer& got, const ModelAnswer& want) const {
  same(std::string(verb) + ": outcome", got.outcome, want.outcome);
  if (want.due) {
    if (!got.due) throw std::runtime_error(std::string(verb) + ": the engine names no due time");
    same(std::string(verb) + ": due", ms(*got.due), *want.due);
  }
  if (got.settlement.has_value() != want.settlement.has_value()) {
    throw std::runtime_error(std::string(verb) + ": settlement told, or not told, wrongly");
  }
  if (want.settlement) same(std::string(verb) + ": settlement", *got.settlement, *want.settlement);
}

void ModelBench::cancel(const std::vector<KeyId>& ids, const std::vector<ModelAnswer>& want) {
  std::vector<std::string> keys;
  for (const KeyId id : ids) keys.push_back(key(id));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const std::vector<Result<Answer>> got = must(queue().cancel(views));
  same("cancel: answers", got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) check_answer("cancel", must(got[i]), want[i]);
}

void ModelBench::reschedule(KeyId id, Due due, std::optional<std::uint32_t> priority,
                            const ModelAnswer& want) {
  const std::string name = key(id);
  const Reschedule item{.key = name, .due = due, .priority = priority};
  check_answer("reschedule", must(must(queue().reschedule(std::span(&item, 1))).at(0)), want);
}

void ModelBench::claim(const ClaimOptions& options, const std::vector<ModelMessage>& want) {
  std::vector<Delivery> got = must(queue().claim(options));
  if (any_order_) {  // the order is defined within a shard, or a group, only
    const auto place = [&](const Delivery& delivery) {
      return std::ranges::find(want, delivery.key(),
                               [this](const ModelMessage& message) { return key(message.key); }) -
             want.begin();
    };
    std::ranges::sort(got, {}, place);
  }
  for (const Delivery& delivery : got) receipts_.emplace_back(delivery.receipt());
  same("claim: messages", got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const ModelMessage& message = want[i];
    same("claim: key", got[i].key(), std::string_view(key(message.key)));
    same("claim: id", got[i].id(), ids_.at(message.uid));
    same("claim: payload", got[i].payload(), std::string_view(message.payload));
    same("claim: headers", got[i].headers() == message.headers, true);
    same("claim: due", ms(got[i].due()), message.due);
    same("claim: claimed at", ms(got[i].claimed_at()), rig_.now_ms());
    same("claim: attempt", got[i].attempt(), message.attempt);
    same("claim: priority", got[i].priority(), message.priority);
    same("claim: tallies", got[i].tallies(), message.tallies);
  }
}

void ModelBench::settle(std::size_t claim, Action action, std::optional<Millis> delay,
                        std::optional<std::uint32_t> priority, const std::string& reason,
                        const ModelAnswer& want) {
  check_answer("settle",
               must(queue().settle(Settle{.receipt = receipts_.at(claim),
                                          .action = action,
                                          .delay = delay,
                                          .reason = reason,
                                          .priority = priority})),
               want);
}

void ModelBench::extend(std::size_t claim, std::optional<Millis> lease, const ModelAnswer& want) {
  check_answer("extend", must(queue().extend(receipts_.at(claim), lease)), want);
}

void ModelBench::purge(std::uint64_t want) { same("purge", must(queue().purge()), want); }

void ModelBench::revive(const std::vector<KeyId>& ids, std::uint64_t want) {
  std::vector<std::string> keys;
  for (const KeyId id : ids) keys.push_back(key(id));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  same("revive", must(queue().revive(views)), want);
}

void ModelBench::remove(bool force, std::optional<std::uint64_t> want) {
  const Result<std::uint64_t> got = queue().remove(force);
  if (!want) {
    if (got) throw std::runtime_error("remove: done where messages are leased");
    same("remove: refusal", got.error().code, ErrorCode::conflict);
    return;
  }
  same("remove", must(got), *want);
  same("remove: stats", queue().stats().error().code, ErrorCode::not_found);
}

void ModelBench::pause(std::optional<Time> until) { must(queue().pause(until)); }
void ModelBench::resume() { must(queue().resume()); }

void ModelBench::configure(const SettingsPatch& patch, const QueueSettings& want) {
  same("configure", must(queue().configure(patch)) == want, true);
}

// Each move of the clock is followed by a request, so that the engine sees every time that the
// model sees: for the engine a lease runs out when its shard notices.
void ModelBench::advance(Millis by) {
  rig_.clock().advance(by);
  (void)must(queue().stats());
}

void ModelBench::step(Millis by) {
  rig_.clock().step(by);
  (void)must(queue().stats());
}

void ModelBench::check_info(const Model& model, const ModelMessage& want, const MessageInfo& got,
                            bool with_payload) const {
  const std::string name = "message " + text(key(want.key)) + ": ";
  const State state = model.state_of(want);
  same(name + "id", got.id, ids_.at(want.uid));
  same(name + "queue", got.queue, std::string("q"));
  same(name + "key", got.key, key(want.key));
  same(name + "state", got.state, state);
  same(name + "stopping", got.stopping, want.stopping);
  same(name + "due", ms(got.due), want.due);
  const auto pushed = state == State::remembered ? std::nullopt : want.pushed;
  same(name + "pushed", got.pushed, rig_.kept_push_time(pushed));
  same(name + "priority", got.priority, want.priority);
  same(name + "attempt", got.attempt, want.attempt);
  same(name + "expire", got.expire, maybe<Millis>(want.expire));
  same(name + "expire_at", got.expire_at, maybe<Time>(want.expire_at));
  same(name + "tallies", got.tallies, want.tallies);
  same(name + "lease left told", got.lease_left.has_value(), state == State::leased);
  if (got.lease_left) {
    same(name + "lease left", got.lease_left->count(), want.lease_end - model.boottime());
  }
  const bool kept = state == State::dead || state == State::remembered;
  same(name + "kept until told", got.kept_until.has_value(), kept);
  if (kept) same(name + "kept until", *got.kept_until, moment(want.kept_until));
  same(name + "settlement told", got.settlement.has_value(), state == State::remembered);
  if (got.settlement) same(name + "settlement", *got.settlement, want.settlement);
  if (state != State::dead) {
    same(name + "reason", got.reason, std::string());
  } else if (want.reason) {
    same(name + "reason", got.reason, *want.reason);
  } else {
    same(name + "reason given", got.reason.empty(), false);
  }
  if (state == State::remembered) return;  // a remembered message need not have its payload
  same(name + "headers", got.headers == want.headers, true);
  same(name + "payload", got.payload, with_payload ? want.payload : std::string());
}

void ModelBench::check_key(const Model& model, KeyId id) {
  const std::string name = key(id);
  const std::optional<MessageInfo> got = contract::find(queue(), name);
  const ModelMessage* want = model.find(id);
  same("get " + text(name) + ": there", got.has_value(), want != nullptr);
  if (!got) return;
  check_info(model, *want, *got, true);
  same("get " + text(name) + ": paused", got->paused, model.paused());
  if (!model.keeps_history()) return;
  const MessageHistory history = must(queue().history(name));
  const std::string what = "history of " + text(name);
  same(what + ": limit", history.limit, model.settings().history);
  same(what + ": events", history.events.size(), want->events.size());
  for (std::size_t i = 0; i < std::min(history.events.size(), want->events.size()); ++i) {
    same(what + ": event " + std::to_string(i), to_string(history.events[i].kind),
         to_string(want->events[i].kind));
    same(what + ": attempt of event " + std::to_string(i), history.events[i].attempt,
         want->events[i].attempt);
  }
}

void ModelBench::forecast(const ForecastOptions& options, const Forecast& want) {
  const Forecast got = must(queue().forecast(options));
  same("forecast: width", got.width.count(), want.width.count());
  same("forecast: due now", got.due_now, want.due_now);
  same("forecast: buckets", got.buckets.size(), want.buckets.size());
  const auto [ours, theirs] = std::ranges::mismatch(got.buckets, want.buckets);
  if (ours != got.buckets.end()) {
    same("forecast: bucket " + std::to_string(ours - got.buckets.begin()), *ours, *theirs);
  }
  same("forecast: later", got.later, want.later);
}

void ModelBench::check_stats(const Model& model) {
  const QueueStats got = must(queue().stats());
  const ModelStats want = model.stats();
  same("stats: scheduled", got.scheduled, want.scheduled);
  same("stats: ready", got.ready, want.ready);
  same("stats: leased", got.leased, want.leased);
  same("stats: dead", got.dead, want.dead);
  same("stats: remembered", got.remembered, want.remembered);
  same("stats: paused", got.paused, model.paused());
  same("stats: settings", got.settings == model.settings(), true);

  const QueueCounters& counted = got.counters;
  const QueueCounters& counters = model.counters();
  same("counters: accepted", counted.accepted, counters.accepted);
  same("counters: acked", counted.acked, counters.acked);
  same("counters: cancelled", counted.cancelled, counters.cancelled);
  same("counters: replaced", counted.replaced, counters.replaced);
  same("counters: expired", counted.expired, counters.expired);
  same("counters: purged", counted.purged, counters.purged);
  same("counters: moved away", counted.moved_away, counters.moved_away);
  same("counters: claims", counted.claims, counters.claims);
  same("counters: retries", counted.retries, counters.retries);
  same("counters: releases", counted.releases, counters.releases);
  same("counters: run-outs", counted.run_outs, counters.run_outs);
  same("counters: buries", counted.buries, counters.buries);
  same("counters: revives", counted.revives, counters.revives);
  same("counters: reschedules", counted.reschedules, counters.reschedules);
  same("conservation",
       got.scheduled + got.ready + got.leased + got.dead + counted.acked + counted.cancelled +
           counted.replaced + counted.expired + counted.purged + counted.moved_away,
       counted.accepted);
}

void ModelBench::check_all(const Model& model, std::uint32_t limit) {
  std::map<std::string, KeyId> names;
  for (const auto& [id, message] : model.messages()) names[key(id)] = id;
  std::set<std::string> listed;
  ListOptions options;
  options.limit = limit;
  for (const MessageInfo& info : list_all(queue(), options)) {
    const auto known = names.find(info.key);
    if (known == names.end()) {
      throw std::runtime_error("list: " + text(info.key) + " is not in the model");
    }
    if (!listed.insert(info.key).second) {
      throw std::runtime_error("list: " + text(info.key) + " twice");
    }
    check_info(model, *model.find(known->second), info, false);
  }
  same("list: messages", listed.size(), names.size());
  for (const auto& [id, message] : model.messages()) check_key(model, id);
  check_stats(model);
}

}  // namespace tarry::contract
