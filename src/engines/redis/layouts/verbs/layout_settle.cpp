// The verbs by receipt: settle and extend.
#include <algorithm>
#include <map>
#include <utility>

#include "base/text/text.h"
#include "core/rules/queue_pattern.h"
#include "core/rules/validation.h"
#include "core/settings/retry_policy.h"
#include "engines/redis/layouts/verbs/layout_verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

constexpr std::string_view kReceiptBegins = "L1.";

core::ItemsReply& items_of(Asked& asked) { return std::get<core::ItemsReply>(asked.reply); }

// A verb whose answer has an ItemResult for each receipt.
template <typename Request>
class ByReceipt : public LayoutVerb {
 public:
  explicit ByReceipt(AskedPtr asked)
      : asked_(std::move(asked)), request_(std::get<Request>(asked_->request)) {}

  std::size_t bytes_of(std::uint32_t) const override { return 96; }
  void fail(std::uint32_t item, const Error& error) override {
    items_of(*asked_).items[item].error = error;
  }

 protected:
  const AskedPtr asked_;
  const Request& request_;
};

class LayoutSettle final : public ByReceipt<core::SettleRequest> {
 public:
  using ByReceipt::ByReceipt;

  [[nodiscard]] static core::MaybeError refusal(Layout layout, const core::SettleItem& item) {
    if (item.action == core::SettleAction::bury) {
      return unsupported_by(layout, "bury: it has no place for the dead");
    }
    if (item.priority && *item.priority != kDefaultPriority) {
      return unsupported_by(layout, "keep priority " + std::to_string(*item.priority) +
                                        "; all of its messages have 1024");
    }
    return {};
  }

  Script script() const override { return Script::layout_settle; }
  void begin(RedisCommand& command) const override {
    const QueueSettings defaults;
    command.add(defaults.backoff_max / defaults.backoff_min);
  }
  void add(RedisCommand& command, std::uint32_t item) const override {
    const core::SettleItem& wanted = request_.items[item];
    const std::string_view text = core::view(request_.bytes, wanted.receipt);
    const auto receipt = *parse_layout_receipt(text);
    command.add(receipt.digest).add(receipt.nonce);
    if (wanted.action == core::SettleAction::release) {
      command.add("l").add("");
    } else if (wanted.action == core::SettleAction::retry) {
      // This is the backoff of the first attempt. The script knows the attempt, and lengthens the
      // backoff.
      const std::int64_t first = core::backoff_ms(QueueSettings(), 1, id_of(text, Layout::plain));
      command.add(wanted.delay ? "r" : "b").add(wanted.delay ? wanted.delay->count() : first);
    } else {
      command.add("a").add("");
    }
  }
  bool read(RedisView told, ItemSpan items) override {
    if (told.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      core::ItemResult& result = items_of(*asked_).items[items[i]];
      const std::int64_t answer = told[i].integer();
      result.outcome = answer == 0 ? Outcome::stale : Outcome::done;
      if (answer > 1) result.due_ms = answer;
    }
    return true;
  }
};

class LayoutExtend final : public ByReceipt<core::ExtendRequest> {
 public:
  using ByReceipt::ByReceipt;

  [[nodiscard]] static core::MaybeError refusal(Layout, const core::ExtendItem&) { return {}; }

  Script script() const override { return Script::layout_extend; }
  void add(RedisCommand& command, std::uint32_t item) const override {
    const core::ExtendItem& wanted = request_.items[item];
    const auto receipt = *parse_layout_receipt(core::view(request_.bytes, wanted.receipt));
    command.add(receipt.digest).add(receipt.nonce);
    command.add(wanted.lease.value_or(QueueSettings().lease).count());
  }
  bool read(RedisView told, ItemSpan items) override {
    if (told.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      items_of(*asked_).items[items[i]].outcome =
          told[i].integer() == 1 ? Outcome::done : Outcome::stale;
    }
    return true;
  }
};

// One call for each queue that the receipts name. A receipt for another store's queue, or for one
// that the request may not touch, is stale.
template <typename Verb, typename Request>
void run_by_receipt(const LayoutContext& context, const AskedPtr& asked) {
  const auto& request = std::get<Request>(asked->request);
  core::ItemsReply reply;
  reply.items.resize(request.items.size());
  std::map<std::string_view, Items> queues;
  for (std::uint32_t i = 0; i < request.items.size(); ++i) {
    auto error = core::check_item(request, request.items[i]);
    if (!error) error = Verb::refusal(context.spec.layout, request.items[i]);
    if (error) {
      reply.items[i].error = std::move(error);
      continue;
    }
    reply.items[i].outcome = Outcome::stale;
    const std::string_view text = core::view(request.bytes, request.items[i].receipt);
    if (const auto receipt = parse_layout_receipt(text)) {
      if (core::allows(request.only_queues, receipt->queue)) queues[receipt->queue].push_back(i);
    } else {
      reply.items[i].error =
          Error{ErrorCode::invalid_argument,
                "receipt " + base::quoted(text) + " is not one that a claim gave"};
    }
  }
  asked->reply = std::move(reply);
  const auto countdown = std::make_shared<Countdown>([asked] { asked->complete(); });
  const auto verb = std::make_shared<Verb>(asked);
  for (const auto& [queue, items] : queues) {
    const auto keys = context.names.keys_of(queue);
    if (keys) run_layout_verb(context, *keys, verb, items, countdown);
  }
  countdown->end();
}

bool is_hex(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string spell_layout_receipt(const LayoutReceipt& receipt) {
  std::string text(kReceiptBegins);
  text += receipt.digest;
  text += receipt.nonce;
  text += '.';
  return text += receipt.queue;
}

std::optional<LayoutReceipt> parse_layout_receipt(std::string_view text) noexcept {
  if (!text.starts_with(kReceiptBegins)) return std::nullopt;
  text.remove_prefix(kReceiptBegins.size());
  constexpr std::size_t kDigits = kDigestDigits + kNonceDigits;
  if (text.size() < kDigits + 2 || text[kDigits] != '.') return std::nullopt;
  if (!is_hex(text.substr(0, kDigits))) return std::nullopt;
  LayoutReceipt receipt;
  receipt.digest = text.substr(0, kDigestDigits);
  receipt.nonce = text.substr(kDigestDigits, kNonceDigits);
  receipt.queue = text.substr(kDigits + 1);
  if (core::check_queue_name(receipt.queue)) return std::nullopt;
  return receipt;
}

void layout_settle(const LayoutContext& context, const AskedPtr& asked) {
  run_by_receipt<LayoutSettle, core::SettleRequest>(context, asked);
}

void layout_extend(const LayoutContext& context, const AskedPtr& asked) {
  run_by_receipt<LayoutExtend, core::ExtendRequest>(context, asked);
}

}  // namespace tarry::redis
