#include "model_commands.h"

#include <algorithm>
#include <iterator>
#include <ostream>

namespace tarry::contract {
namespace {

// ---- random parts of commands

std::int64_t millis(std::int64_t from, std::int64_t to) { return *rc::gen::inRange(from, to + 1); }
bool chance(int one_in) { return *rc::gen::inRange(0, one_in) == one_in - 1; }

// Half of the time the key of an existing message.
KeyId any_key(const Model& model) {
  if (!model.messages().empty() && chance(2)) {
    const auto nth = *rc::gen::inRange<std::size_t>(0, model.messages().size());
    return std::next(model.messages().begin(), static_cast<std::ptrdiff_t>(nth))->first;
  }
  const auto pool = static_cast<KeyId>(key_pool().size());
  const KeyId index = *rc::gen::inRange(0, pool + model.generated_keys());
  return index < pool ? index : kFirstGeneratedKey + index - pool;
}

bool key_exists(const Model& model, KeyId key) {
  return key < kFirstGeneratedKey + model.generated_keys();
}

Due any_due(const Model& model) {
  if (!model.messages().empty() && chance(4)) {  // close to the due time of an existing message
    const auto nth = *rc::gen::inRange<std::size_t>(0, model.messages().size());
    const auto at = std::next(model.messages().begin(), static_cast<std::ptrdiff_t>(nth));
    return Due::at(Time(Millis(at->second.due + millis(-1, 1))));
  }
  if (chance(4)) return Due::at(Time(Millis(model.realtime() + millis(-5'000, 20'000))));
  if (chance(2)) return Due();
  if (chance(2)) return Due::after(Millis(*rc::gen::element(0, 1'000, 5'000)));  // ties
  return Due::after(Millis(millis(0, 20'000)));
}

std::optional<std::uint32_t> any_priority() {
  if (!chance(4)) return std::nullopt;
  return *rc::gen::inRange<std::uint32_t>(0, 3);
}

std::optional<std::int64_t> any_lease() {
  if (chance(4)) return std::nullopt;
  return millis(1, 20'000);
}

std::optional<Millis> to_millis(std::optional<std::int64_t> value) {
  if (!value) return std::nullopt;
  return Millis(*value);
}

// Mostly a live claim, often an old claim of a message that is leased again, otherwise one of the
// latest claims.
std::size_t any_claim(const Model& model) {
  std::vector<std::size_t> live;
  std::vector<std::size_t> old;
  for (const auto& [key, message] : model.messages()) {
    if (message.stage != ModelMessage::Stage::leased) continue;
    live.push_back(message.claim);
    if (message.claim_before) old.push_back(*message.claim_before);
  }
  if (!old.empty() && chance(3)) return *rc::gen::elementOf(old);
  if (!live.empty() && !chance(4)) return *rc::gen::elementOf(live);
  const std::size_t back = *rc::gen::inRange<std::size_t>(1, 9);
  return back <= model.claims() ? model.claims() - back : model.claims();
}

void show_due(std::ostream& os, Due due) {
  os << (due.is_relative() ? " in " : " at ") << due.millis();
}

template <typename T>
void show_optional(std::ostream& os, const char* name, const std::optional<T>& value) {
  if (value) os << ' ' << name << ' ' << *value;
}

// The header by which model_test.cpp groups messages.
Headers any_group() { return {{"h", *rc::gen::element<std::string>("a", "b", "c")}}; }

// ---- the verbs

class PushAct final : public Act {
 public:
  explicit PushAct(const Model& model) {
    if (chance(16)) {
      push_many(model);
      return;
    }
    const int count = chance(4) ? *rc::gen::inRange(2, 5) : 1;
    for (int i = 0; i < count; ++i) {
      ModelPush message;
      if (!chance(5)) message.key = any_key(model);
      message.payload = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
      if (chance(4)) message.payload.append(static_cast<std::size_t>(millis(0, 9'000)), 'p');
      if (model.has_groups()) {
        message.headers = any_group();
      } else if (chance(3)) {
        message.headers = {{"h", *rc::gen::element<std::string>("", "v", "\x01\xff")}};
      }
      message.due = any_due(model);
      message.priority = any_priority().value_or(kDefaultPriority);
      if (!chance(4)) {
        message.if_exists = *rc::gen::element(IfExists::reject, IfExists::keep, IfExists::replace,
                                              IfExists::earlier, IfExists::later);
      }
      if (chance(3)) message.max_attempts = *rc::gen::inRange<std::uint32_t>(1, 3);
      if (model.expires()) set_expiry(model, message);
      messages_.push_back(std::move(message));
    }
  }

  void checkPreconditions(const Model& model) const override {
    for (const ModelPush& message : messages_) {
      RC_PRE(!message.key || key_exists(model, *message.key));
      RC_PRE(model.may_expire(message));
    }
    RC_PRE(messages_.size() == 1 || moves_nothing() || !has_fixed_expiry(model));
    if (messages_.size() == 1 && messages_[0].key) {
      RC_PRE(model.may_reschedule(*messages_[0].key, messages_[0].due));
    }
  }
  void play(Model& model, ModelBench* bench) const override {
    std::vector<ModelPushed> want;
    for (const ModelPush& message : messages_) want.push_back(model.push(message));
    if (bench != nullptr) bench->push(messages_, want);
  }
  void show(std::ostream& os) const override {
    os << "push";
    for (const ModelPush& message : messages_) {
      os << " [";
      show_optional(os, "key", message.key);
      show_due(os, message.due);
      os << " priority " << message.priority << " of " << message.payload.size() << " bytes";
      if (message.if_exists) os << " if_exists " << to_string(*message.if_exists);
      if (message.max_attempts != 0) os << " max_attempts " << message.max_attempts;
      show_optional(os, "expire", message.expire);
      show_optional(os, "expire_at", message.expire_at);
      os << "]";
    }
  }

 private:
  static void set_expiry(const Model& model, ModelPush& message) {
    if (chance(4)) message.expire = millis(1, 20'000);
    if (!message.expire && chance(4)) {
      message.expire_at = model.realtime() + millis(-1'000, 30'000);
      if (!model.may_expire(message)) message.expire_at.reset();
    }
  }
  // Whether a message of the batch may be refused depends on those before it, unless none is moved.
  [[nodiscard]] bool moves_nothing() const {
    return std::ranges::none_of(messages_, [](const ModelPush& message) {
      return message.if_exists == IfExists::earlier || message.if_exists == IfExists::later;
    });
  }

  [[nodiscard]] bool has_fixed_expiry(const Model& model) const {
    return std::ranges::any_of(messages_, [](const auto& m) { return m.expire_at.has_value(); }) ||
           std::ranges::any_of(model.messages(), [](const auto& entry) {
             return entry.second.expire_at && !entry.second.expire;
           });
  }

  // So many messages that engines claim them in a special way (redis: scripts/bulk.lua).
  void push_many(const Model& model) {
    messages_.resize(40);
    for (ModelPush& message : messages_) {
      message.due = Due::after(Millis(1'000));
      if (model.has_groups()) message.headers = any_group();
    }
  }

  std::vector<ModelPush> messages_;
};

class CancelAct final : public Act {
 public:
  explicit CancelAct(const Model& model) {
    const int count = chance(4) ? 3 : 1;
    for (int i = 0; i < count; ++i) keys_.push_back(any_key(model));
  }
  void checkPreconditions(const Model& model) const override {
    for (const KeyId key : keys_) RC_PRE(key_exists(model, key));
  }
  void play(Model& model, ModelBench* bench) const override {
    std::vector<ModelAnswer> want;
    for (const KeyId key : keys_) want.push_back(model.cancel(key));
    if (bench != nullptr) bench->cancel(keys_, want);
  }
  void show(std::ostream& os) const override {
    os << "cancel";
    for (const KeyId key : keys_) os << ' ' << key;
  }

 private:
  std::vector<KeyId> keys_;
};

class RescheduleAct final : public Act {
 public:
  explicit RescheduleAct(const Model& model)
      : key_(any_key(model)), due_(any_due(model)), priority_(any_priority()) {}
  void checkPreconditions(const Model& model) const override {
    RC_PRE(key_exists(model, key_));
    RC_PRE(model.may_reschedule(key_, due_));
  }
  void play(Model& model, ModelBench* bench) const override {
    const ModelAnswer want = model.reschedule(key_, due_, priority_);
    if (bench != nullptr) bench->reschedule(key_, due_, priority_, want);
  }
  void show(std::ostream& os) const override {
    os << "reschedule " << key_;
    show_due(os, due_);
    show_optional(os, "priority", priority_);
  }

 private:
  KeyId key_;
  Due due_;
  std::optional<std::uint32_t> priority_;
};

class ClaimAct final : public Act {
 public:
  explicit ClaimAct(const Model&)
      : max_(chance(6) ? 64 : *rc::gen::inRange<std::uint32_t>(1, 7)), lease_(any_lease()) {}
  void play(Model& model, ModelBench* bench) const override {
    const std::vector<ModelMessage> want = model.claim(max_, lease_);
    const std::uint32_t max = model.claims_all() ? 1'000 : max_;
    if (bench != nullptr) bench->claim({.max = max, .lease = to_millis(lease_)}, want);
  }
  void show(std::ostream& os) const override {
    os << "claim " << max_;
    show_optional(os, "lease", lease_);
  }

 private:
  std::uint32_t max_;
  std::optional<std::int64_t> lease_;
};

class SettleAct final : public Act {
 public:
  explicit SettleAct(const Model& model)
      : claim_(any_claim(model)),
        action_(*rc::gen::element(Action::ack, Action::retry, Action::release, Action::bury)) {
    if (action_ == Action::retry && !chance(4)) delay_ = millis(0, 20'000);
    if (action_ != Action::ack) priority_ = any_priority();
    const bool may_die = action_ == Action::bury || action_ == Action::retry;
    if (may_die && chance(2)) reason_ = "because";
  }
  void checkPreconditions(const Model& model) const override { RC_PRE(claim_ < model.claims()); }
  void play(Model& model, ModelBench* bench) const override {
    const ModelAnswer want = model.settle(claim_, action_, delay_, priority_, reason_);
    if (bench == nullptr) return;
    bench->settle(claim_, action_, to_millis(delay_), priority_, reason_, want);
  }
  void show(std::ostream& os) const override {
    os << to_string(action_) << " of claim " << claim_;
    show_optional(os, "delay", delay_);
    show_optional(os, "priority", priority_);
    if (!reason_.empty()) os << " reason " << reason_;
  }

 private:
  std::size_t claim_;
  Action action_;
  std::optional<std::int64_t> delay_;
  std::optional<std::uint32_t> priority_;
  std::string reason_;
};

class ExtendAct final : public Act {
 public:
  explicit ExtendAct(const Model& model) : claim_(any_claim(model)), lease_(any_lease()) {}
  void checkPreconditions(const Model& model) const override { RC_PRE(claim_ < model.claims()); }
  void play(Model& model, ModelBench* bench) const override {
    const ModelAnswer want = model.extend(claim_, lease_);
    if (bench != nullptr) bench->extend(claim_, to_millis(lease_), want);
  }
  void show(std::ostream& os) const override {
    os << "extend claim " << claim_;
    show_optional(os, "lease", lease_);
  }

 private:
  std::size_t claim_;
  std::optional<std::int64_t> lease_;
};

class GetAct final : public Act {
 public:
  explicit GetAct(const Model& model) : key_(any_key(model)) {}
  void checkPreconditions(const Model& model) const override { RC_PRE(key_exists(model, key_)); }
  void play(Model& model, ModelBench* bench) const override {
    if (bench != nullptr) bench->check_key(model, key_);
  }
  void show(std::ostream& os) const override { os << "get " << key_; }

 private:
  KeyId key_;
};

// ---- time

// Moves the clock to the millisecond at which something happens, or to the one before it, because
// mistakes are likely there.
std::int64_t to_the_next_event(const Model& model) {
  std::vector<std::int64_t> events;
  for (const auto& [key, message] : model.messages()) {
    switch (message.stage) {
      case ModelMessage::Stage::waiting:
        events.push_back(message.due - model.realtime());
        if (message.expire_at) events.push_back(*message.expire_at - model.realtime());
        break;
      case ModelMessage::Stage::leased:
        events.push_back(message.lease_end - model.boottime());
        break;
      default: events.push_back(message.kept_until - model.realtime()); break;
    }
  }
  std::erase_if(events, [](std::int64_t event) { return event <= 0; });
  if (events.empty()) return millis(1, 30'000);
  return *rc::gen::elementOf(events);
}

class AdvanceAct final : public Act {
 public:
  explicit AdvanceAct(const Model& model) {
    by_ = chance(3) ? millis(0, 30'000) : to_the_next_event(model) - (chance(3) ? 1 : 0);
  }
  void play(Model& model, ModelBench* bench) const override {
    model.advance(by_);
    if (bench != nullptr) bench->advance(Millis(by_));
  }
  void show(std::ostream& os) const override { os << "advance " << by_; }

 private:
  std::int64_t by_ = 0;
};

// Steps are multiples of ten seconds, because the engine treats clocks within a second of each
// other as equal.
class StepAct final : public Act {
 public:
  explicit StepAct(const Model&) : by_(*rc::gen::inRange(-6, 7) * 10'000) {}
  void play(Model& model, ModelBench* bench) const override {
    model.step(by_);
    if (bench != nullptr) bench->step(Millis(by_));
  }
  void show(std::ostream& os) const override { os << "step " << by_; }

 private:
  std::int64_t by_;
};

// ---- the queue as a whole

class PauseAct final : public Act {
 public:
  explicit PauseAct(const Model& model) {
    if (chance(2)) until_ = model.realtime() + millis(1, 20'000);
  }
  void play(Model& model, ModelBench* bench) const override {
    model.pause(until_);
    if (bench == nullptr) return;
    bench->pause(until_ ? std::optional(Time(Millis(*until_))) : std::nullopt);
  }
  void show(std::ostream& os) const override {
    os << "pause";
    show_optional(os, "until", until_);
  }

 private:
  std::optional<std::int64_t> until_;
};

class ResumeAct final : public Act {
 public:
  explicit ResumeAct(const Model&) {}
  void play(Model& model, ModelBench* bench) const override {
    model.resume();
    if (bench != nullptr) bench->resume();
  }
  void show(std::ostream& os) const override { os << "resume"; }
};

class PurgeAct final : public Act {
 public:
  explicit PurgeAct(const Model&) {}
  void play(Model& model, ModelBench* bench) const override {
    const std::uint64_t want = model.purge();
    if (bench != nullptr) bench->purge(want);
  }
  void show(std::ostream& os) const override { os << "purge"; }
};

// The queue is made again at once, so that the model need not know missing queues.
class RemoveAct final : public Act {
 public:
  explicit RemoveAct(const Model& model) : force_(chance(2)) {
    anew_.lease = Millis(millis(1, 20'000));
    anew_.backoff_min = anew_.backoff_max = model.settings().backoff_min;
    anew_.remember = Millis(*rc::gen::element(0, 15'000));
    if (!model.has_groups()) return;
    anew_.group = model.settings().group;
    anew_.group_order = model.settings().group_order;
  }
  void checkPreconditions(const Model& model) const override {
    RC_PRE(model.may_configure(anew_) || force_ || model.stats().leased == 0);
  }
  void play(Model& model, ModelBench* bench) const override {
    const std::optional<std::uint64_t> want = model.remove(force_);
    if (bench != nullptr) bench->remove(force_, want);
    model.configure(anew_);
    if (bench != nullptr) bench->configure(anew_, model.settings());
  }
  void show(std::ostream& os) const override {
    os << "remove" << (force_ ? " by force" : "") << ", configure lease " << anew_.lease->count()
       << " remember " << anew_.remember->count();
  }

 private:
  bool force_;
  SettingsPatch anew_;
};

class ReviveAct final : public Act {
 public:
  explicit ReviveAct(const Model& model) {
    if (chance(2)) return;
    const int count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i) keys_.push_back(any_key(model));
  }
  void checkPreconditions(const Model& model) const override {
    for (const KeyId key : keys_) RC_PRE(key_exists(model, key));
  }
  void play(Model& model, ModelBench* bench) const override {
    const std::uint64_t want = model.revive(keys_);
    if (bench != nullptr) bench->revive(keys_, want);
  }
  void show(std::ostream& os) const override {
    os << "revive";
    if (keys_.empty()) os << " all";
    for (const KeyId key : keys_) os << ' ' << key;
  }

 private:
  std::vector<KeyId> keys_;
};

class ConfigureAct final : public Act {
 public:
  explicit ConfigureAct(const Model& model) {
    if (chance(2)) patch_.lease = Millis(millis(1, 20'000));
    if (chance(2)) patch_.max_attempts = *rc::gen::inRange<std::uint32_t>(1, 4);
    if (chance(2)) patch_.remember = Millis(*rc::gen::element(0, 1, 15'000));
    if (chance(2)) patch_.dead_keep = Millis(*rc::gen::element(1'000, 30'000));
    if (chance(3)) {
      patch_.objective = *rc::gen::element(Objective(), Objective{99'900, Millis(250)});
    }
    if (chance(3)) patch_.if_exists = *rc::gen::element(IfExists::reject, IfExists::replace);
    if (model.limits() && chance(3)) patch_.max_leased = *rc::gen::element(0u, 1u, 3u);
    if (model.limits() && chance(3)) {
      patch_.rate = *rc::gen::element(DeliveryRate(), DeliveryRate{3, Millis(1'000), 2});
    }
    if (model.keeps_history() && chance(2)) patch_.history = *rc::gen::element(0u, 1u, 4u, 100u);
    if (model.has_groups()) {
      if (chance(2)) patch_.group_max_leased = *rc::gen::element(0u, 1u, 2u);
      if (!model.keeps_order() && chance(2)) {
        patch_.group_order = *rc::gen::element(GroupOrder::due, GroupOrder::push);
        if (!model.may_configure(patch_)) patch_.group_order.reset();
      }
    }
    if (!model.expires()) return;
    if (chance(3)) patch_.expire = Millis(*rc::gen::element(0, 1, 10'000));
    if (chance(3)) patch_.on_expiry = *rc::gen::element(OnExpiry::end, OnExpiry::dead);
  }
  void checkPreconditions(const Model& model) const override {
    RC_PRE(model.may_configure(patch_));
  }
  void play(Model& model, ModelBench* bench) const override {
    model.configure(patch_);
    if (bench != nullptr) bench->configure(patch_, model.settings());
  }
  void show(std::ostream& os) const override {
    os << "configure";
    if (patch_.lease) os << " lease " << patch_.lease->count();
    show_optional(os, "max_attempts", patch_.max_attempts);
    if (patch_.remember) os << " remember " << patch_.remember->count();
    if (patch_.dead_keep) os << " dead_keep " << patch_.dead_keep->count();
    if (patch_.if_exists) os << " if_exists " << to_string(*patch_.if_exists);
    if (patch_.objective) os << " objective " << patch_.objective->share;
    if (patch_.expire) os << " expire " << patch_.expire->count();
    if (patch_.on_expiry) os << " on_expiry " << to_string(*patch_.on_expiry);
    show_optional(os, "max_leased", patch_.max_leased);
    show_optional(os, "group_max_leased", patch_.group_max_leased);
    if (patch_.group_order) os << " group_order " << to_string(*patch_.group_order);
    show_optional(os, "history", patch_.history);
    if (patch_.rate) os << " rate " << patch_.rate->count << " burst " << patch_.rate->burst;
  }

 private:
  SettingsPatch patch_;
};

class CheckAllAct final : public Act {
 public:
  explicit CheckAllAct(const Model&) : limit_(*rc::gen::inRange<std::uint32_t>(1, 9)) {}
  void play(Model& model, ModelBench* bench) const override {
    if (bench != nullptr) bench->check_all(model, limit_);
  }
  void show(std::ostream& os) const override {
    os << "look at everything, " << limit_ << " a page";
  }

 private:
  std::uint32_t limit_;
};

class ForecastAct final : public Act {
 public:
  explicit ForecastAct(const Model& model) {
    options_.width = Millis(chance(2) ? millis(1, 20'000) : std::max(to_the_next_event(model), 1l));
    options_.buckets = *rc::gen::element(1u, 3u, 40u, 600u);
    if (chance(2)) {
      options_.from = Time(Millis(model.realtime() + millis(0, 40'000) - 20'000));
    }
  }
  void play(Model& model, ModelBench* bench) const override {
    if (bench != nullptr) bench->forecast(options_, model.forecast(options_));
  }
  void show(std::ostream& os) const override {
    os << "forecast of " << options_.buckets << " times " << options_.width.count();
    if (options_.from) os << " from " << options_.from->time_since_epoch().count();
  }

 private:
  ForecastOptions options_;
};

class ReopenAct final : public Act {
 public:
  explicit ReopenAct(const Model&) {}
  void play(Model& model, ModelBench* bench) const override {
    model.reopened();
    if (bench == nullptr) return;
    bench->reopen();
    bench->check_all(model, 100);
  }
  void show(std::ostream& os) const override { os << "reopen"; }
};

}  // namespace

// A command that is listed twice is drawn twice as often.
rc::Gen<ActPtr> any_act(const Model& model, bool reopens) {
  namespace gen = rc::state::gen;
  auto often =
      gen::execOneOfWithArgs<PushAct, PushAct, PushAct, PushAct, CancelAct, RescheduleAct, ClaimAct,
                             ClaimAct, ClaimAct, ClaimAct, SettleAct, SettleAct, SettleAct,
                             SettleAct, ExtendAct, AdvanceAct, AdvanceAct, AdvanceAct, GetAct>()(
          model);
  auto seldom = gen::execOneOfWithArgs<StepAct, StepAct, PauseAct, ResumeAct, ResumeAct, PurgeAct,
                                       RemoveAct, ReviveAct, ReviveAct, ConfigureAct, ConfigureAct,
                                       CheckAllAct, ForecastAct>()(model);
  auto acts = rc::gen::weightedOneOf<ActPtr>({{6, std::move(often)}, {1, std::move(seldom)}});
  if (!reopens) return acts;
  return rc::gen::weightedOneOf<ActPtr>(
      {{9, std::move(acts)}, {1, gen::execOneOfWithArgs<ReopenAct>()(model)}});
}

}  // namespace tarry::contract
