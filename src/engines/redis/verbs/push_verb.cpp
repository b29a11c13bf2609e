// Push and move.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/engine_parts/carried.h"
#include "core/rules/expiry.h"
#include "core/rules/validation.h"
#include "engines/redis/records/body.h"
#include "engines/redis/records/if_exists_letter.h"
#include "engines/redis/records/member.h"
#include "engines/redis/records/told_time.h"
#include "engines/redis/verbs/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

// Times up to 2100-01-01 cannot be more than 100 years away, whatever Redis's clock says.
constexpr std::int64_t kPlainUntilMs = 4'102'444'800'000;

// Below both limits, sending the script's text costs more than it saves.
constexpr std::size_t kPlainItems = 8;
constexpr std::size_t kPlainBytes = 16 << 10;

std::optional<Outcome> pushed_outcome(std::string_view text) noexcept {
  for (const Outcome outcome : {Outcome::exists, Outcome::kept, Outcome::replaced, Outcome::moved,
                                Outcome::in_flight, Outcome::settled, Outcome::revived}) {
    if (text == to_string(outcome)) return outcome;
  }
  return std::nullopt;
}

Error too_far(Due due) {
  return {ErrorCode::invalid_argument,
          "due time " + std::to_string(due.millis()) + " ms is more than 100 years from now"};
}

void add_due(RedisCommand& command, Due due) {
  std::string text = due.is_relative() ? "+" : "";
  command.add(text + std::to_string(due.millis()));
}

// The expiry as a push names it: a relative one has no moment yet, unless it had one elsewhere.
core::Expiry expiry_of(const core::PushItem& item) noexcept {
  core::Expiry expiry;
  if (item.expire_at) expiry.at_ms = item.expire_at->time_since_epoch().count();
  if (item.expire && (!item.expire_at || expiry.at_ms != 0)) expiry.after_ms = item.expire->count();
  return expiry;
}

// The common part of the two requests that add messages: push and move.
class PutVerb : public ItemVerb {
 public:
  PutVerb(Context& context, AskedPtr asked, std::string_view queue, const std::string& bytes)
      : context_(context),
        asked_(std::move(asked)),
        queue_(queue),
        bytes_(bytes),
        now_ms_(context.server.clock().now_ms()) {}

  void set_first_id(std::uint64_t id) noexcept { first_id_ = id; }

  bool makes_queue() const override { return true; }
  std::string_view key_of(std::uint32_t item) const override {
    return core::view(reply().bytes, reply().items[item].key);
  }
  std::size_t bytes_of(std::uint32_t item) const override {
    const core::PushItem& push = item_at(item);
    return 128 + push.key.size + push.payload.size + push.headers.size;
  }
  void fail(std::uint32_t item, const Error& error) override { reply().items[item].error = error; }

  bool is_new(std::uint32_t item) const override { return item_at(item).key.size == 0; }
  Script script_closed() const override { return Script::push_closed; }
  void build_closed(RedisCommand& command, ItemSpan items) override {
    command.add(static_cast<std::int64_t>(items.size())).add(rules(items));
    for (const std::uint32_t item : items) {
      add_message(command, item);
      add_due(command, item_at(item).due);
    }
    command.add(longest(items));
  }
  bool is_absent(std::uint32_t item) const override { return absent_.contains(item); }

  bool read(const Place& /*place*/, RedisView given, ItemSpan items) override {
    // The answer is empty if all messages were simply pushed and no due time is relative.
    const bool plain = given.kind() == RedisView::Kind::array && given.size() == 0;
    if (!plain && (given.size() < 2 || (given.size() - 2) % 4 != 0)) return false;
    const std::int64_t now = plain ? 0 : told_time(given[0]);
    const std::int64_t later = plain ? 0 : told_time(given[1]);
    for (const std::uint32_t item : items) {
      const Due due = item_at(item).due;
      core::PushResult& result = reply().items[item];
      result.outcome = Outcome::pushed;
      result.id = first_id_ + item;
      result.due_ms = due.millis();
      if (due.is_relative()) result.due_ms += due.millis() > 0 ? later : now;
    }
    for (std::size_t at = 2; at < given.size(); at += 4) {
      const std::int64_t index = given[at].integer() - 1;
      if (index < 0 || static_cast<std::size_t>(index) >= items.size()) return false;
      const std::uint32_t item = items[static_cast<std::size_t>(index)];
      core::PushResult& result = reply().items[item];
      if (given[at + 1].text() == "absent") {
        absent_.insert(item);
        continue;
      }
      if (given[at + 1].text() == "far") {
        result.error = too_far(item_at(item).due);
        continue;
      }
      if (given[at + 1].text() == "expires") {
        const auto refused = core::expiry_of(item_at(item), told_time(given[at + 3]), Millis(0));
        if (refused) return false;
        result.error = refused.error();
        continue;
      }
      if (given[at + 1].text() == "late") {
        const core::Expiry there{told_time(given[at + 2]), 0};
        result.error = core::check_reschedule(there, told_time(given[at + 3]));
        if (!result.error) return false;
        continue;
      }
      const auto outcome = pushed_outcome(given[at + 1].text());
      if (!outcome) return false;
      result.outcome = *outcome;
      result.id = id_from(given[at + 2].text());
      result.due_ms = told_time(given[at + 3]);
    }
    return true;
  }

 protected:
  [[nodiscard]] virtual const core::PushItem& item_at(std::uint32_t item) const = 0;
  [[nodiscard]] core::PushReply& reply() const { return std::get<core::PushReply>(asked_->reply); }

  [[nodiscard]] virtual std::optional<std::int64_t> pushed_at(std::uint32_t /*item*/) const {
    return now_ms_;
  }

  /// An upper bound for the length of the longest body.
  [[nodiscard]] std::int64_t longest(ItemSpan items) const {
    constexpr std::size_t kHead = 36;
    std::size_t most = 0;
    for (const std::uint32_t item : items) {
      const core::PushItem& push = item_at(item);
      most = std::max(most, kHead + push.headers.size + push.payload.size);
    }
    return static_cast<std::int64_t>(most);
  }

  /// The letter of the rule for a taken key, for items without a rule; d is the queue's rule.
  [[nodiscard]] virtual char rule_unless_told() const { return 'd'; }

  // The letters of the items' rules for a taken key.
  [[nodiscard]] std::string rules(ItemSpan items) const {
    std::string letters;
    for (const std::uint32_t item : items) {
      const auto rule = item_at(item).if_exists;
      letters += rule ? letter_of(*rule) : rule_unless_told();
    }
    return letters;
  }

  // Adds the message's member and body.
  void add_message(RedisCommand& command, std::uint32_t item) {
    const core::PushItem& push = item_at(item);
    const IdBytes id = id_bytes(first_id_ + item);
    std::string_view member(id.data(), id.size());
    if (push.key.size > 0) {
      member = member_of(core::view(bytes_, push.key), context_.identity.secret(), scratch_);
    }
    Body body;
    body.id = push.key.size == 0 ? 0 : first_id_ + item;
    body.priority = push.priority;
    body.max_attempts = static_cast<std::uint16_t>(push.max_attempts);
    body.expiry = expiry_of(push);
    if (context_.identity.keeps_push_times()) body.pushed_ms = pushed_at(item);
    body.headers = core::view(bytes_, push.headers);
    body.payload = core::view(bytes_, push.payload);
    head_.clear();
    append_head(head_, body, member);
    command.add(member).add(head_, body.payload);
  }

  Context& context_;
  AskedPtr asked_;
  std::string_view queue_;
  const std::string& bytes_;
  const std::int64_t now_ms_;  // one time for all items, however often they are built
  std::uint64_t first_id_ = 0;
  std::unordered_set<std::uint32_t> absent_;  // items whose keys the closed shards do not have
  std::string scratch_;
  std::string head_;
};

template <typename Request>
class PutVerbOf : public PutVerb {
 public:
  PutVerbOf(Context& context, const AskedPtr& asked)
      : PutVerb(context, asked, request_of(asked).queue, request_of(asked).bytes),
        request_(request_of(asked)) {}

 protected:
  const Request& request_;

 private:
  static const Request& request_of(const AskedPtr& asked) {
    return std::get<Request>(asked->request);
  }
};

class PushVerb final : public PutVerbOf<core::PushRequest> {
 public:
  using PutVerbOf::PutVerbOf;

  Script script() const override { return Script::push; }

  void build(RedisCommand& command, ItemSpan items) override {
    command.add(static_cast<std::int64_t>(items.size())).add(mode_of(items)).add(rules(items));
    for (const std::uint32_t item : items) add_message(command, item);
    for (const std::uint32_t item : items) add_due(command, request_.items[item].due);
    command.add(longest(items));
  }

  // Nobody else knows newly generated keys yet, and the due times are absolute. So no script needs
  // to look at anything before the messages are written, and a script would copy each message three
  // times.
  bool is_plain(ItemSpan items) const override {
    std::size_t bytes = 0;
    for (const std::uint32_t item : items) {
      const core::PushItem& push = request_.items[item];
      if (push.key.size > 0 || push.priority != kDefaultPriority || push.due.is_relative() ||
          push.due.millis() > kPlainUntilMs || expiry_of(push) != core::Expiry()) {
        return false;
      }
      bytes += push.payload.size;
    }
    return items.size() >= kPlainItems || bytes >= kPlainBytes;
  }
  std::vector<RedisCommand> before(const Place& place, ItemSpan items) override {
    std::size_t bytes = 0;
    for (const std::uint32_t item : items) bytes += bytes_of(item);
    std::vector<RedisCommand> commands;
    RedisCommand& bodies = commands.emplace_back("HSET", bytes);
    bodies.key(place.keys[Place::kMsgs]);
    for (const std::uint32_t item : items) add_message(bodies, item);
    RedisCommand& dues = commands.emplace_back("ZADD", 32 * items.size());
    dues.key(place.keys[Place::kDue]);
    for (const std::uint32_t item : items) {
      const IdBytes id = id_bytes(first_id_ + item);
      dues.add(request_.items[item].due.millis());
      dues.add(std::string_view(id.data(), id.size()));
    }
    return commands;
  }
  Script script_after() const override { return Script::pushed; }
  void build_after(RedisCommand& command, ItemSpan items) override {
    std::int64_t soonest = INT64_MAX;
    std::string members;
    for (const std::uint32_t item : items) {
      soonest = std::min(soonest, request_.items[item].due.millis());
      const IdBytes id = id_bytes(first_id_ + item);
      members.append(id.data(), id.size());
    }
    command.add(static_cast<std::int64_t>(items.size())).add(soonest);
    command.add(longest(items)).add(members);
  }

 private:
  const core::PushItem& item_at(std::uint32_t item) const override { return request_.items[item]; }

  // Argument 6 of scripts/push_fast.lua: may keys be taken?
  std::string_view mode_of(ItemSpan items) {
    std::unordered_set<std::string_view> keys;
    bool keyed = false;
    const auto expires = [this](std::uint32_t item) {
      return expiry_of(request_.items[item]) != core::Expiry();
    };
    if (std::ranges::any_of(items, expires)) return "3";
    for (const std::uint32_t item : items) {
      const core::PushItem& push = request_.items[item];
      if (push.priority != kDefaultPriority) return "2";
      if (push.key.size == 0) continue;
      keyed = true;
      if (items.size() > 1 && !keys.insert(core::view(request_.bytes, push.key)).second) return "2";
    }
    return keyed ? "1" : "0";
  }
};

class MoveVerb final : public PutVerbOf<core::MoveRequest> {
 public:
  using PutVerbOf::PutVerbOf;

  Script script() const override { return Script::move; }

  void build(RedisCommand& command, ItemSpan items) override {
    command.add(static_cast<std::int64_t>(items.size()));
    for (const std::uint32_t item : items) {
      const core::MoveItem& move = request_.items[item];
      add_message(command, item);
      add_due(command, move.push.due);
      std::string carried;
      if (move.dead || move.attempt != 0 || move.tallies != Tallies()) {
        append_past(carried, {move.attempt, core::carried(move.tallies)});
        carried += move.dead ? 'D' : 'L';
        carried += core::view(request_.bytes, move.reason);
      }
      command.add(carried);
    }
    command.add(longest(items)).add(rules(items));
  }

 private:
  const core::PushItem& item_at(std::uint32_t item) const override {
    return request_.items[item].push;
  }
  std::optional<std::int64_t> pushed_at(std::uint32_t item) const override {
    return request_.items[item].pushed_ms;
  }
  char rule_unless_told() const override { return letter_of(IfExists::reject); }
};

// Takes ids. If the store no longer exists, makes it again and tries once more.
void take_ids(Context& context, std::uint64_t count, Ids::Taken done) {
  context.ids.take(count, [&context, count,
                           done = std::move(done)](Result<std::uint64_t> id) mutable {
    if (id || !is_moved(id.error())) return done(std::move(id));
    context.identity.doubt();
    context.identity.check([&context, count, done = std::move(done)](Result<void> checked) mutable {
      if (!checked) return done(std::move(checked).error());
      context.ids.take(count, std::move(done));
    });
  });
}

// In a body, the moment 0 means that there is none; so it does in a move.
std::optional<Error> refuse_zero(const Context& context, const core::PushRequest& /*request*/,
                                 const core::PushItem& item) {
  if (item.expire_at != Time()) return std::nullopt;
  const std::int64_t now = context.server.clock().now_ms();
  return core::expiry_of(item, item.due.millis() + (item.due.is_relative() ? now : 0), Millis(0))
      .error();
}
std::optional<Error> refuse_zero(const Context& /*context*/, const core::MoveRequest& /*request*/,
                                 const core::PushItem& /*item*/) {
  return std::nullopt;
}

const core::PushItem& push_of(const core::PushItem& item) { return item; }
const core::PushItem& push_of(const core::MoveItem& item) { return item.push; }

template <typename Verb, typename Request, typename Pick>
void put(Context& context, const AskedPtr& asked, const core::Limits& limits, Pick pick) {
  const auto& request = std::get<Request>(asked->request);
  core::PushReply reply;
  reply.items.resize(request.items.size());
  Items good;
  for (std::uint32_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i], limits);
    if (!reply.items[i].error) {
      const core::PushItem& push = push_of(request.items[i]);
      if (push.expire || push.expire_at) reply.items[i].error = context.identity.refuse_expiry();
      if (!reply.items[i].error) reply.items[i].error = refuse_zero(context, request, push);
    }
    if (!reply.items[i].error) good.push_back(i);
  }
  asked->reply = std::move(reply);
  if (good.empty()) return asked->complete();
  // One id for each item, bad ones included: ids are assigned by the items' places.
  take_ids(
      context, request.items.size(),
      [&context, &request, asked, pick, good = std::move(good)](Result<std::uint64_t> id) mutable {
        if (!id) return asked->fail(std::move(id).error());
        auto& made = std::get<core::PushReply>(asked->reply);
        std::string spelled;
        for (const std::uint32_t i : good) {
          const core::PushItem& push = pick(request.items[i]);
          if (push.key.size > 0) {
            made.items[i].key = core::append(made.bytes, core::view(request.bytes, push.key));
            continue;
          }
          const IdBytes bytes = id_bytes(*id + i);
          spelled.clear();
          append_key(spelled, std::string_view(bytes.data(), bytes.size()),
                     context.identity.secret());
          made.items[i].key = core::append(made.bytes, spelled);
        }
        auto verb = std::make_shared<Verb>(context, asked);
        verb->set_first_id(*id);
        auto countdown = std::make_shared<Countdown>([asked] { asked->complete(); });
        run_items(context, std::move(verb), request.queue, std::move(good), countdown);
        countdown->end();
      });
}

}  // namespace

void push(Context& context, const AskedPtr& asked, const core::Limits& limits) {
  put<PushVerb, core::PushRequest>(
      context, asked, limits,
      [](const core::PushItem& item) -> const core::PushItem& { return item; });
}

void move(Context& context, const AskedPtr& asked, const core::Limits& limits) {
  put<MoveVerb, core::MoveRequest>(
      context, asked, limits,
      [](const core::MoveItem& item) -> const core::PushItem& { return item.push; });
}

}  // namespace tarry::redis
