// The verbs by key: cancel, reschedule and get.
#include <utility>

#include "base/text/text.h"
#include "core/rules/validation.h"
#include "engines/redis/layouts/keys/layout_find.h"
#include "engines/redis/layouts/keys/layout_info.h"
#include "engines/redis/layouts/verbs/layout_verbs.h"
#include "engines/redis/records/describe.h"
#include "net/sha1.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

// A request by keys. Finds the members that belong to the keys.
class ByKey : public LayoutVerb {
 public:
  ByKey(const LayoutContext& context, LayoutKeysPtr keys, AskedPtr asked)
      : context_(context), keys_(std::move(keys)), asked_(std::move(asked)) {}

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::string_view key_of(std::uint32_t item) const = 0;
  /// The error of this item, if it has one.
  [[nodiscard]] virtual core::MaybeError check(std::uint32_t /*item*/) const { return {}; }

  [[nodiscard]] std::size_t bytes_of(std::uint32_t item) const override {
    return 48 + members_[item]->size();
  }

  /// Looks the members up, and runs the verb for those that were found. The other items keep the
  /// answer for a missing message.
  static void run(const std::shared_ptr<ByKey>& verb) {
    Items items;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < verb->size(); ++i) {
      if (const auto error = verb->check(i)) {
        verb->fail(i, *error);
      } else {
        items.push_back(i);
        names.emplace_back(verb->key_of(i));
      }
    }
    find_members(verb->context_, verb->keys_, std::move(names),
                 [verb, items = std::move(items)](Result<Members> members) {
                   verb->found(verb, items, std::move(members));
                 });
  }

 protected:
  /// Call `tell_unknown` if the script did not find the member either.
  void tell_unknown(std::uint32_t item) {
    if (is_checksum(key_of(item))) {
      fail(item, found_by_member_only(key_of(item), context_.spec.layout));
    }
  }

  const LayoutContext& context_;
  const LayoutKeysPtr keys_;
  const AskedPtr asked_;
  Members members_;

 private:
  void found(const std::shared_ptr<ByKey>& verb, const Items& items, Result<Members> members) {
    if (!members) {
      for (const std::uint32_t item : items) fail(item, members.error());
      return asked_->complete();
    }
    members_.resize(size());
    Items there;
    for (std::size_t i = 0; i < items.size(); ++i) {
      members_[items[i]] = std::move((*members)[i]);
      if (members_[items[i]]) {
        there.push_back(items[i]);
      } else {
        tell_unknown(items[i]);
      }
    }
    const auto countdown = std::make_shared<Countdown>([asked = asked_] { asked->complete(); });
    run_layout_verb(context_, keys_, verb, there, countdown);
    countdown->end();
  }
};

// A verb whose answer has an ItemResult for each key.
template <typename Request>
class ByKeyOf : public ByKey {
 public:
  using ByKey::ByKey;

  void fail(std::uint32_t item, const Error& error) override { result(item).error = error; }

 protected:
  [[nodiscard]] const Request& request() const { return std::get<Request>(asked_->request); }
  [[nodiscard]] core::ItemResult& result(std::uint32_t item) const {
    return std::get<core::ItemsReply>(asked_->reply).items[item];
  }
};

// Cancels messages, or removes messages that live in another store now.
class LayoutCancel final : public ByKeyOf<core::CancelRequest> {
 public:
  using ByKeyOf::ByKeyOf;

  Script script() const override {
    return request().seen.empty() ? Script::layout_cancel : Script::layout_move_away;
  }
  std::size_t size() const override { return request().keys.size(); }
  std::string_view key_of(std::uint32_t item) const override {
    return core::view(request().bytes, request().keys[item]);
  }
  core::MaybeError check(std::uint32_t item) const override {
    return core::check_key(key_of(item));
  }
  void add(RedisCommand& command, std::uint32_t item) const override {
    command.add(*members_[item]);
    if (request().seen.empty()) return;
    const core::Seen& seen = request().seen[item];
    const bool looks = context_.spec.layout == Layout::hash && seen.payload;
    command.add(seen.due_ms);
    command.add(looks ? net::sha1_hex(core::view(request().bytes, *seen.payload)) : std::string());
  }
  bool read(RedisView told, ItemSpan items) override {
    if (told.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string_view outcome = told[i].text();
      result(items[i]).outcome = outcome == "cancelled"   ? Outcome::cancelled
                                 : outcome == "stopping"  ? Outcome::stopping
                                 : outcome == "done"      ? Outcome::done
                                 : outcome == "kept"      ? Outcome::kept
                                 : outcome == "in_flight" ? Outcome::in_flight
                                                          : Outcome::unknown;
      if (outcome == "unknown") tell_unknown(items[i]);
    }
    return true;
  }
};

class LayoutReschedule final : public ByKeyOf<core::RescheduleRequest> {
 public:
  using ByKeyOf::ByKeyOf;

  Script script() const override { return Script::layout_reschedule; }
  std::size_t size() const override { return request().items.size(); }
  std::string_view key_of(std::uint32_t item) const override {
    return core::view(request().bytes, request().items[item].key);
  }
  core::MaybeError check(std::uint32_t item) const override {
    const core::RescheduleItem& wanted = request().items[item];
    if (auto error = core::check_item(request(), wanted)) return error;
    if (!wanted.priority || *wanted.priority == kDefaultPriority) return {};
    return unsupported_by(
        context_.spec.layout,
        "keep priority " + std::to_string(*wanted.priority) + "; all of its messages have 1024");
  }
  void add(RedisCommand& command, std::uint32_t item) const override {
    const std::string& member = *members_[item];
    command.add(static_cast<std::int64_t>(home_of(member, *keys_) + 1)).add(member);
    command.add(due_text(request().items[item].due));
  }
  bool read(RedisView told, ItemSpan items) override {
    if (told.size() != 2 * items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      core::ItemResult& answer = result(items[i]);
      const std::string_view outcome = told[2 * i].text();
      if (outcome == "unknown") {
        tell_unknown(items[i]);
        continue;
      }
      if (outcome == "far") {
        fail(items[i], too_far_away(request().items[items[i]].due));
        continue;
      }
      answer.due_ms = told[2 * i + 1].integer();
      answer.outcome = outcome == "rescheduled" ? Outcome::rescheduled
                       : outcome == "revived"   ? Outcome::revived
                                                : Outcome::in_flight;
    }
    return true;
  }
};

class LayoutGet final : public ByKey {
 public:
  using ByKey::ByKey;

  Script script() const override { return Script::layout_get; }
  bool changes() const override { return false; }
  std::size_t size() const override { return request().keys.size(); }
  std::string_view key_of(std::uint32_t item) const override {
    return core::view(request().bytes, request().keys[item]);
  }
  core::MaybeError check(std::uint32_t item) const override {
    return core::check_key(key_of(item));
  }
  void begin(RedisCommand& command) const override {
    command.add(request().with_payload ? "1" : "0");
    command.add(static_cast<std::int64_t>(context_.limits.max_reply));
  }
  void add(RedisCommand& command, std::uint32_t item) const override {
    const std::string& member = *members_[item];
    command.add(static_cast<std::int64_t>(home_of(member, *keys_) + 1)).add(member);
  }
  bool read(RedisView told, ItemSpan items) override {
    if (told.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const RedisView one = told[i];
      if (one.is_nil()) {
        tell_unknown(items[i]);
      } else if (one.size() == 1) {
        fail(items[i], no_room(items[i], one[0].integer()));
      } else if (one.size() == 2) {
        fail(items[i], wrong_unit(context_.spec, *keys_, one[0].text()));
      } else if (one.size() == 7) {
        take(items[i], one);
      } else {
        return false;
      }
    }
    return true;
  }
  void fail(std::uint32_t item, const Error& error) override { reply().items[item] = error; }

 private:
  [[nodiscard]] const core::GetRequest& request() const {
    return std::get<core::GetRequest>(asked_->request);
  }
  [[nodiscard]] core::GetReply& reply() const { return std::get<core::GetReply>(asked_->reply); }
  [[nodiscard]] Error no_room(std::uint32_t item, std::int64_t bytes) const {
    return {ErrorCode::too_large,
            "message " + base::quoted(key_of(item)) + " of " + std::to_string(bytes) +
                " bytes does not fit into the rest of an answer, whose limit is " +
                std::to_string(context_.limits.max_reply) + " bytes; get it again with fewer keys"};
  }
  void take(std::uint32_t item, RedisView told) {
    MessageInfo info = layout_info(context_.spec, *keys_, told[0].text(), told[1].text(),
                                   told[2].text(), told[3].text(), told[4].integer());
    info.payload = layout_payload(context_.spec, told[5].text());
    if (!told[6].text().empty()) info.reason = stray_reason(context_.spec.layout, info.state);
    const std::uint64_t bytes = redis::bytes_of(info);
    if (reply().bytes > 0 && reply().bytes + bytes > context_.limits.max_reply) {
      return fail(item, no_room(item, static_cast<std::int64_t>(bytes)));
    }
    reply().bytes += bytes;
    reply().items[item] = std::move(info);
  }
};

template <typename Verb, typename Request>
void run_by_key(const LayoutContext& context, const AskedPtr& asked, core::Reply reply) {
  auto keys = context.names.keys_of(std::get<Request>(asked->request).queue);
  if (!keys) return asked->fail(std::move(keys).error());
  asked->reply = std::move(reply);
  ByKey::run(std::make_shared<Verb>(context, *std::move(keys), asked));
}

}  // namespace

void layout_cancel(const LayoutContext& context, const AskedPtr& asked) {
  core::ItemsReply reply;
  reply.items.resize(std::get<core::CancelRequest>(asked->request).keys.size());
  run_by_key<LayoutCancel, core::CancelRequest>(context, asked, std::move(reply));
}

void layout_reschedule(const LayoutContext& context, const AskedPtr& asked) {
  core::ItemsReply reply;
  reply.items.resize(std::get<core::RescheduleRequest>(asked->request).items.size());
  run_by_key<LayoutReschedule, core::RescheduleRequest>(context, asked, std::move(reply));
}

void layout_get(const LayoutContext& context, const AskedPtr& asked) {
  const auto& request = std::get<core::GetRequest>(asked->request);
  core::GetReply reply;
  for (const core::Slice key : request.keys) {
    reply.items.emplace_back(
        Error{ErrorCode::not_found, "there is no message " +
                                        base::quoted(core::view(request.bytes, key)) +
                                        " in queue " + base::quoted(request.queue)});
  }
  run_by_key<LayoutGet, core::GetRequest>(context, asked, std::move(reply));
}

}  // namespace tarry::redis
