// Cancel, reschedule, and revive of some: verbs that name messages by their keys.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/engine_parts/partly_done.h"
#include "core/rules/expiry.h"
#include "core/rules/validation.h"
#include "engines/redis/records/body.h"
#include "engines/redis/records/member.h"
#include "engines/redis/records/told_time.h"
#include "engines/redis/verbs/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

class KeyVerb : public ItemVerb {
 public:
  KeyVerb(Context& context, AskedPtr asked) : context_(context), asked_(std::move(asked)) {}

  std::size_t bytes_of(std::uint32_t item) const override { return 48 + key_of(item).size(); }
  void fail(std::uint32_t item, const Error& error) override {
    std::get<core::ItemsReply>(asked_->reply).items[item].error = error;
  }
  bool is_absent(std::uint32_t item) const override {
    return !result(item).error && result(item).outcome == Outcome::unknown;
  }

 protected:
  [[nodiscard]] std::string_view member(std::uint32_t item) {
    return member_of(key_of(item), context_.identity.secret(), scratch_);
  }
  [[nodiscard]] core::ItemResult& result(std::uint32_t item) const {
    return std::get<core::ItemsReply>(asked_->reply).items[item];
  }

  Context& context_;
  AskedPtr asked_;
  std::string scratch_;
};

template <typename Request>
class KeyVerbOf : public KeyVerb {
 public:
  KeyVerbOf(Context& context, const AskedPtr& asked)
      : KeyVerb(context, asked), request_(std::get<Request>(asked->request)) {}

 protected:
  const Request& request_;
};

// {'settled', how, when}
bool read_settled(RedisView given, core::ItemResult& result) {
  if (given.size() != 3 || given[0].text() != "settled") return false;
  const auto ending = ending_of(given[1].integer());
  if (!ending) return false;
  result.outcome = Outcome::settled;
  result.settlement = Settlement{*ending, Time(Millis(given[2].integer()))};
  return true;
}

class CancelVerb final : public KeyVerbOf<core::CancelRequest> {
 public:
  using KeyVerbOf::KeyVerbOf;

  Script script() const override { return Script::cancel; }
  void build(RedisCommand& command, ItemSpan items) override {
    command.add(request_.seen.empty() ? "" : "m");
    for (const std::uint32_t item : items) {
      if (!request_.seen.empty()) command.add(seen_text(request_.seen[item]));
      command.add(member(item));
    }
  }
  bool read(const Place& /*place*/, RedisView given, ItemSpan items) override {
    if (given.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      core::ItemResult& told = result(items[i]);
      const auto* outcome = std::ranges::find(kOutcomes, given[i].text(),
                                              [](Outcome known) { return to_string(known); });
      if (outcome != std::end(kOutcomes)) {
        told.outcome = *outcome;
      } else if (!read_settled(given[i], told)) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr Outcome kOutcomes[] = {Outcome::cancelled, Outcome::stopping,
                                          Outcome::unknown,   Outcome::done,
                                          Outcome::kept,      Outcome::in_flight};

  // The expected state, spelled as scripts/cancel.lua spells the state that it finds.
  static std::string seen_text(const core::Seen& seen) {
    const IdBytes id = id_bytes(std::min(seen.id, kMaxId));
    std::string text(id.data(), id.size());
    text += std::to_string(seen.due_ms) + " " + std::to_string(seen.priority) + " ";
    text += std::to_string(seen.claims) + (seen.dead ? " d" : " w");
    return text;
  }

  std::string_view key_of(std::uint32_t item) const override {
    return core::view(request_.bytes, request_.keys[item]);
  }
};

class RescheduleVerb final : public KeyVerbOf<core::RescheduleRequest> {
 public:
  using KeyVerbOf::KeyVerbOf;

  Script script() const override { return Script::reschedule; }
  void build(RedisCommand& command, ItemSpan items) override {
    for (const std::uint32_t i : items) {
      const core::RescheduleItem& item = request_.items[i];
      std::string due = item.due.is_relative() ? "+" : "";
      due += std::to_string(item.due.millis());
      command.add(member(i)).add(due);
      command.add(item.priority ? std::to_string(*item.priority) : "");
    }
  }
  bool read(const Place& /*place*/, RedisView given, ItemSpan items) override {
    if (given.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!read_one(given[i], items[i])) return false;
    }
    return true;
  }

 private:
  bool read_one(RedisView given, std::uint32_t item) {
    core::ItemResult& told = result(item);
    if (given.text() == "unknown") {
      told.outcome = Outcome::unknown;
      return true;
    }
    if (given.text() == "far") {
      told.error = Error{ErrorCode::invalid_argument,
                         "due time " + std::to_string(request_.items[item].due.millis()) +
                             " ms is more than 100 years from now"};
      return true;
    }
    if (read_settled(given, told)) return true;
    const std::string_view outcome = given[0].text();
    if (outcome == "late" && given.size() == 3) {
      told.error = core::check_reschedule({told_time(given[2]), 0}, told_time(given[1]));
      return told.error.has_value();
    }
    if (given.size() != 2) return false;
    if (outcome == "in_flight") {
      told.outcome = Outcome::in_flight;
    } else if (outcome == "rescheduled") {
      told.outcome = Outcome::rescheduled;
    } else if (outcome == "revived") {
      told.outcome = Outcome::revived;
    } else {
      return false;
    }
    told.due_ms = given[1].integer();
    return true;
  }
  std::string_view key_of(std::uint32_t item) const override {
    return core::view(request_.bytes, request_.items[item].key);
  }
};

class ReviveVerb final : public KeyVerbOf<core::ReviveRequest> {
 public:
  using KeyVerbOf::KeyVerbOf;

  Script script() const override { return Script::revive; }
  void build(RedisCommand& command, ItemSpan items) override {
    command.add("0");
    for (const std::uint32_t item : items) command.add(member(item));
  }
  bool read(const Place& /*place*/, RedisView given, ItemSpan /*items*/) override {
    if (given.size() != 2) return false;
    std::get<core::CountReply>(asked_->reply).count +=
        static_cast<std::uint64_t>(given[0].integer());
    return true;
  }
  void fail(std::uint32_t /*item*/, const Error& error) override {
    if (error_) {
      core::keep_less_certain(*error_, error);
    } else {
      error_ = error;
    }
  }
  // The script tells only how many messages it revived, not which. So the open shards are asked
  // about all items too.
  bool is_absent(std::uint32_t /*item*/) const override { return true; }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

 private:
  std::string_view key_of(std::uint32_t item) const override {
    return core::view(request_.bytes, request_.keys[item]);
  }
  std::optional<Error> error_;
};

void run_keys(Context& context, const AskedPtr& asked, std::shared_ptr<ItemVerb> verb,
              std::string_view queue) {
  Items good;
  const auto& items = std::get<core::ItemsReply>(asked->reply).items;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (!items[i].error) good.push_back(i);
  }
  auto countdown = std::make_shared<Countdown>([asked] { asked->complete(); });
  if (!good.empty()) run_items(context, std::move(verb), queue, std::move(good), countdown);
  countdown->end();
}

}  // namespace

void cancel(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::CancelRequest>(asked->request);
  core::ItemsReply reply;
  reply.items.resize(request.keys.size());
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    reply.items[i].error = core::check_key(core::view(request.bytes, request.keys[i]));
  }
  asked->reply = std::move(reply);
  run_keys(context, asked, std::make_shared<CancelVerb>(context, asked), request.queue);
}

void reschedule(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::RescheduleRequest>(asked->request);
  core::ItemsReply reply;
  reply.items.resize(request.items.size());
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i]);
  }
  asked->reply = std::move(reply);
  run_keys(context, asked, std::make_shared<RescheduleVerb>(context, asked), request.queue);
}

void revive_some(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ReviveRequest>(asked->request);
  Items all(request.keys.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  auto verb = std::make_shared<ReviveVerb>(context, asked);
  auto countdown = std::make_shared<Countdown>([asked, verb, &request] {
    const std::uint64_t revived = std::get<core::CountReply>(asked->reply).count;
    if (!verb->error()) return asked->complete();
    if (revived == 0) return asked->fail(*verb->error());
    asked->fail(
        core::partly_done("revive", request.queue, core::messages_so_far(revived), *verb->error()));
  });
  if (!all.empty()) run_items(context, verb, request.queue, std::move(all), countdown);
  countdown->end();
}

}  // namespace tarry::redis
