// Push.
#include <random>
#include <utility>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "core/rules/expiry.h"
#include "core/rules/validation.h"
#include "engines/redis/layouts/keys/layout_find.h"
#include "engines/redis/layouts/keys/layout_seen.h"
#include "engines/redis/layouts/redisson/redisson_value.h"
#include "engines/redis/layouts/verbs/layout_verbs.h"
#include "engines/redis/records/if_exists_letter.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

struct Named {
  std::string_view name;
  Outcome outcome;
};
constexpr Named kPushOutcomes[] = {
    {"pushed", Outcome::pushed},     {"exists", Outcome::exists}, {"kept", Outcome::kept},
    {"replaced", Outcome::replaced}, {"moved", Outcome::moved},   {"in_flight", Outcome::in_flight},
    {"revived", Outcome::revived},
};

class LayoutPush final : public LayoutVerb {
 public:
  LayoutPush(const LayoutContext& context, LayoutKeysPtr keys, AskedPtr asked)
      : context_(context),
        keys_(std::move(keys)),
        asked_(std::move(asked)),
        request_(std::get<core::PushRequest>(asked_->request)),
        names_(request_.items.size()),
        values_(request_.items.size()) {}

  /// The forms that the queue is known to have. For a Redisson queue, call it before `prepare`.
  void know(const Seen& seen) { seen_ = seen; }
  /// After `prepare`: the forms in which the messages will be written.
  [[nodiscard]] Seen wrote() const {
    return names_.empty() || values_.back().empty() ? Seen()
                                                    : Seen{form_, written_as(values_.back())};
  }

  /// Returns the items that can be pushed. The others get their errors.
  Items prepare() {
    Items items;
    for (std::uint32_t i = 0; i < request_.items.size(); ++i) {
      auto error = core::check_item(request_, request_.items[i], context_.limits);
      if (!error) error = refusal(request_.items[i]);
      if (!error) error = name(i);
      if (error) {
        reply().items[i].error = std::move(error);
      } else {
        items.push_back(i);
      }
    }
    return items;
  }

  Script script() const override { return Script::layout_push; }
  std::size_t bytes_of(std::uint32_t item) const override {
    return 64 + names_[item].size() + values_[item].size() + request_.items[item].payload.size;
  }
  void begin(RedisCommand& command) const override { command.add(to_string(form_)); }
  void add(RedisCommand& command, std::uint32_t item) const override {
    const core::PushItem& push = request_.items[item];
    const std::string_view name = is_plain() ? payload_of(item) : std::string_view(names_[item]);
    command.add(static_cast<std::int64_t>(home_of(name, *keys_) + 1)).add(name);
    const char rule = letter_of(push.if_exists.value_or(IfExists::reject));
    command.add({&rule, 1}).add(due_text(push.due));
    command.add(is_plain() ? "" : is_redisson() ? values_[item] : payload_of(item));
  }

  bool read(RedisView told, ItemSpan items) override {
    if (told.size() != 3 * items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!take(items[i], told[3 * i].text(), told[3 * i + 1].integer(), told[3 * i + 2].text())) {
        return false;
      }
    }
    return true;
  }
  void fail(std::uint32_t item, const Error& error) override { reply().items[item].error = error; }

 private:
  [[nodiscard]] bool is_plain() const { return context_.spec.layout == Layout::plain; }
  [[nodiscard]] bool is_redisson() const { return context_.spec.layout == Layout::redisson; }
  [[nodiscard]] core::PushReply& reply() const { return std::get<core::PushReply>(asked_->reply); }
  [[nodiscard]] std::string_view payload_of(std::uint32_t item) const {
    return core::view(request_.bytes, request_.items[item].payload);
  }

  [[nodiscard]] core::MaybeError refusal(const core::PushItem& push) const {
    const Layout layout = context_.spec.layout;
    if (push.headers.size > 0) return unsupported_by(layout, "keep headers");
    if (push.priority != kDefaultPriority) {
      return unsupported_by(layout, "keep priority " + std::to_string(push.priority) +
                                        "; all of its messages have 1024");
    }
    if (push.max_attempts != 0) {
      return unsupported_by(layout, "keep max_attempts " + std::to_string(push.max_attempts));
    }
    if (auto error = core::refuse_expiry("layout " + std::string(to_string(layout)), push)) {
      return error;
    }
    if (is_redisson() && push.if_exists && *push.if_exists != IfExists::reject) {
      return unsupported_by(layout,
                            "push with if_exists=" + std::string(to_string(*push.if_exists)) +
                                ": each of its entries is a new one");
    }
    return {};
  }

  // Sets the item's key, and its value if that is not the payload itself.
  core::MaybeError name(std::uint32_t item) {
    const std::string_view key = core::view(request_.bytes, request_.items[item].key);
    const Layout layout = context_.spec.layout;
    if (is_plain()) {
      if (!key.empty() && key != payload_of(item)) {
        return unsupported_by(layout,
                              "keep key " + base::quoted(key) +
                                  " with another payload: the member is both key and payload");
      }
      if (payload_of(item).empty()) {
        return Error{ErrorCode::invalid_argument,
                     "payload \"\" must not be empty: in layout plain it is the key too"};
      }
      return {};
    }
    if (is_redisson()) {
      if (!key.empty()) {
        return unsupported_by(layout, "push with key " + base::quoted(key) +
                                          ": the key of an entry is the id that it gets");
      }
      auto value = encode_value(payload_of(item), context_.spec.decode, seen_, keys_->queue);
      if (!value) return std::move(value).error();
      values_[item] = *std::move(value);
      form_ = form_of(context_.spec.entry, seen_, values_[item]);
    }
    names_[item] = key.empty() ? fresh(is_redisson()) : std::string(key);
    return {};
  }

  // Eight random bytes; if not `raw`, as hex digits.
  std::string fresh(bool raw) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) {
      const auto two = random_();
      bytes += static_cast<char>(two & 0xFFu);
      bytes += static_cast<char>((two >> 8u) & 0xFFu);
    }
    return raw ? bytes : base::hex_digits(bytes);
  }

  bool take(std::uint32_t item, std::string_view told, std::int64_t due, std::string_view key) {
    core::PushResult& result = reply().items[item];
    if (told == "far") {
      result.error = too_far_away(request_.items[item].due);
      return true;
    }
    for (const Named& named : kPushOutcomes) {
      if (named.name != told) continue;
      result.outcome = named.outcome;
      result.due_ms = due;
      result.key = core::append(reply().bytes, key);
      result.id = id_of(key, context_.spec.layout);
      return true;
    }
    return false;
  }

  const LayoutContext& context_;
  const LayoutKeysPtr keys_;
  const AskedPtr asked_;
  const core::PushRequest& request_;
  std::vector<std::string> names_;   // hash: the key; redisson: the id
  std::vector<std::string> values_;  // redisson
  Seen seen_;                        // redisson
  EntryForm form_ = EntryForm::newer;
  std::random_device random_;
};

void run(const LayoutContext& context, const LayoutKeysPtr& keys,
         const std::shared_ptr<LayoutPush>& verb, const AskedPtr& asked) {
  const auto countdown = std::make_shared<Countdown>([asked] { asked->complete(); });
  const Items items = verb->prepare();
  // The URL's options decide the form for an empty queue. The form is remembered, because the queue
  // may become empty again.
  if (const Seen wrote = verb->wrote(); wrote != Seen() && !items.empty()) {
    countdown->begin();
    remember_seen(context, keys, wrote, [countdown](const Seen&) { countdown->end(); });
  }
  run_layout_verb(context, keys, verb, items, countdown);
  countdown->end();
}

}  // namespace

void layout_push(const LayoutContext& context, const AskedPtr& asked) {
  const auto& request = std::get<core::PushRequest>(asked->request);
  auto keys = context.names.keys_of(request.queue);
  if (!keys) return asked->fail(std::move(keys).error());
  asked->reply = core::PushReply();
  std::get<core::PushReply>(asked->reply).items.resize(request.items.size());
  const auto verb = std::make_shared<LayoutPush>(context, *keys, asked);
  if (context.spec.layout != Layout::redisson) return run(context, *keys, verb, asked);
  look_at_seen(context, *keys, [&context, keys = *keys, verb, asked](Result<Seen> seen) {
    if (!seen) {
      for (auto& item : std::get<core::PushReply>(asked->reply).items) item.error = seen.error();
      return asked->complete();
    }
    verb->know(*seen);
    run(context, keys, verb, asked);
  });
}

}  // namespace tarry::redis
