// Settle and extend: verbs that name claims by their receipts.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text/text.h"
#include "core/rules/queue_pattern.h"
#include "core/rules/validation.h"
#include "engines/redis/records/receipt.h"
#include "engines/redis/verbs/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

class ReceiptVerb : public ItemVerb {
 public:
  ReceiptVerb(AskedPtr asked, std::vector<Receipt> receipts)
      : asked_(std::move(asked)), receipts_(std::move(receipts)) {}

  bool is_by_key() const override { return false; }
  std::uint32_t shard_of(std::uint32_t item) const override { return receipts_[item].shard; }
  std::size_t bytes_of(std::uint32_t item) const override {
    return 64 + receipts_[item].member.size();
  }
  void fail(std::uint32_t item, const Error& error) override { result(item).error = error; }
  void absent(std::uint32_t item) override { result(item).outcome = Outcome::stale; }

 protected:
  [[nodiscard]] core::ItemResult& result(std::uint32_t item) const {
    return std::get<core::ItemsReply>(asked_->reply).items[item];
  }

  [[nodiscard]] bool same_claim(std::uint32_t a, std::uint32_t b) const noexcept {
    return receipts_[a].claim == receipts_[b].claim &&
           receipts_[a].claimed_ms == receipts_[b].claimed_ms;
  }

  AskedPtr asked_;
  std::vector<Receipt> receipts_;
};

template <typename Request>
class ReceiptVerbOf : public ReceiptVerb {
 public:
  ReceiptVerbOf(const AskedPtr& asked, std::vector<Receipt> receipts)
      : ReceiptVerb(asked, std::move(receipts)), request_(std::get<Request>(asked->request)) {}

 protected:
  const Request& request_;
};

class AckVerb final : public ReceiptVerb {
 public:
  using ReceiptVerb::ReceiptVerb;

  Script script() const override { return Script::ack; }

  void build(RedisCommand& command, ItemSpan items) override {
    const Items sorted = order(items);
    for (std::size_t from = 0; from < sorted.size();) {
      std::size_t to = from;
      std::int64_t with_past = 0;
      for (; to < sorted.size() && same_claim(sorted[from], sorted[to]); ++to) {
        with_past += receipts_[sorted[to]].has_past ? 1 : 0;
      }
      command.add(claim_name(receipts_[sorted[from]])).add(static_cast<std::int64_t>(to - from));
      command.add(with_past);
      command.add(to - from == receipts_[sorted[from]].taken ? "1" : "0");
      for (; from < to; ++from) command.add(receipts_[sorted[from]].member);
    }
  }

  bool read(const Place& /*place*/, RedisView given, ItemSpan items) override {
    const bool all = given.kind() == RedisView::Kind::integer;
    if (!all && given.size() != items.size()) return false;
    const Items sorted = order(items);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      result(sorted[i]).outcome = all || given[i].integer() == 1 ? Outcome::done : Outcome::stale;
    }
    return true;
  }

 private:
  // Sorts the items by claim. Members that have a past come after the others.
  [[nodiscard]] Items order(ItemSpan items) const {
    Items sorted(items.begin(), items.end());
    const auto place = [this](std::uint32_t item) {
      const Receipt& receipt = receipts_[item];
      return std::tuple(receipt.claimed_ms, receipt.claim, receipt.has_past, item);
    };
    if (!std::ranges::is_sorted(sorted, {}, place)) std::ranges::sort(sorted, {}, place);
    return sorted;
  }
};

class SettleVerb final : public ReceiptVerbOf<core::SettleRequest> {
 public:
  using ReceiptVerbOf::ReceiptVerbOf;

  Script script() const override { return Script::settle; }

  void build(RedisCommand& command, ItemSpan items) override {
    for (const std::uint32_t i : items) {
      const core::SettleItem& item = request_.items[i];
      command.add(claim_name(receipts_[i])).add(receipts_[i].member);
      command.add(letter(item.action));
      command.add(item.delay ? std::to_string(item.delay->count()) : "");
      command.add(item.priority ? std::to_string(*item.priority) : "");
      command.add(core::view(request_.bytes, item.reason));
    }
  }

  bool read(const Place& /*place*/, RedisView given, ItemSpan items) override {
    if (given.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      core::ItemResult& told = result(items[i]);
      if (given[i].kind() == RedisView::Kind::text) {
        told.outcome = Outcome::done;
        told.due_ms = given[i].integer();
      } else {
        told.outcome = given[i].integer() == 1 ? Outcome::done : Outcome::stale;
      }
    }
    return true;
  }

 private:
  static std::string_view letter(core::SettleAction action) noexcept {
    switch (action) {
      case core::SettleAction::ack: return "a";
      case core::SettleAction::retry: return "t";
      case core::SettleAction::release: return "r";
      case core::SettleAction::bury: return "b";
      case core::SettleAction::move_away: return "m";
    }
    return "";
  }
};

class ExtendVerb final : public ReceiptVerbOf<core::ExtendRequest> {
 public:
  using ReceiptVerbOf::ReceiptVerbOf;

  Script script() const override { return Script::extend; }

  void build(RedisCommand& command, ItemSpan items) override {
    for (std::size_t from = 0; from < items.size();) {
      std::size_t to = from;
      while (to < items.size() && same_run(items[from], items[to])) ++to;
      const auto lease = request_.items[items[from]].lease;
      command.add(claim_name(receipts_[items[from]]));
      command.add(lease ? std::to_string(lease->count()) : "");
      command.add(static_cast<std::int64_t>(to - from));
      for (; from < to; ++from) command.add(receipts_[items[from]].member);
    }
  }

  bool read(const Place& /*place*/, RedisView given, ItemSpan items) override {
    if (given.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      result(items[i]).outcome = given[i].integer() == 1 ? Outcome::done : Outcome::stale;
    }
    return true;
  }

 private:
  [[nodiscard]] bool same_run(std::uint32_t a, std::uint32_t b) const {
    return same_claim(a, b) && request_.items[a].lease == request_.items[b].lease;
  }
};

// One script can ack many messages together if no message is named twice.
bool can_ack_together(const core::SettleRequest& request, const std::vector<Receipt>& receipts) {
  if (!std::ranges::all_of(request.items, [](const core::SettleItem& item) {
        return item.action == core::SettleAction::ack;
      })) {
    return false;
  }
  std::vector<std::tuple<std::uint32_t, std::string_view>> named;
  for (const Receipt& receipt : receipts) named.emplace_back(receipt.queue, receipt.member);
  std::ranges::sort(named);
  return std::ranges::adjacent_find(named) == named.end();
}

template <typename Request>
std::vector<Receipt> read_receipts(Context& context, const AskedPtr& asked, const Request& request,
                                   std::map<std::uint32_t, Items>& by_queue) {
  core::ItemsReply reply;
  reply.items.resize(request.items.size());
  std::vector<Receipt> receipts(request.items.size());
  for (std::uint32_t i = 0; i < request.items.size(); ++i) {
    core::ItemResult& told = reply.items[i];
    told.error = core::check_item(request, request.items[i]);
    if (told.error) continue;
    const std::string_view text = core::view(request.bytes, request.items[i].receipt);
    auto receipt = parse_receipt(text, context.identity.secret());
    if (!receipt) {
      told.error = Error{ErrorCode::invalid_argument,
                         "receipt " + base::quoted(text) + " is not one that a claim gave"};
    } else if (!receipt->is_ours) {
      told.outcome = Outcome::stale;
    } else {
      by_queue[receipt->queue].push_back(i);
      receipts[i] = std::move(*receipt);
    }
  }
  asked->reply = std::move(reply);
  return receipts;
}

void run_receipts(Context& context, const AskedPtr& asked, const core::OnlyQueues& only,
                  const std::shared_ptr<ItemVerb>& verb, std::map<std::uint32_t, Items> by_queue) {
  auto countdown = std::make_shared<Countdown>([asked] { asked->complete(); });
  for (auto& [number, items] : by_queue) {
    countdown->begin();
    context.directory.find_number(
        number, [&context, only, verb, countdown, number,
                 items = std::move(items)](Result<QueuePtr> queue) mutable {
          if (!queue) {
            for (const std::uint32_t item : items) verb->fail(item, queue.error());
          } else if (*queue == nullptr || !core::allows(only, (*queue)->name)) {
            for (const std::uint32_t item : items) verb->absent(item);
          } else {
            run_items(context, verb, (*queue)->name, std::move(items), countdown, number);
          }
          countdown->end();
        });
  }
  countdown->end();
}

}  // namespace

void settle(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::SettleRequest>(asked->request);
  std::map<std::uint32_t, Items> by_queue;
  std::vector<Receipt> receipts = read_receipts(context, asked, request, by_queue);
  std::shared_ptr<ItemVerb> verb;
  if (can_ack_together(request, receipts)) {
    verb = std::make_shared<AckVerb>(asked, std::move(receipts));
  } else {
    verb = std::make_shared<SettleVerb>(asked, std::move(receipts));
  }
  run_receipts(context, asked, request.only_queues, verb, std::move(by_queue));
}

void extend(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ExtendRequest>(asked->request);
  std::map<std::uint32_t, Items> by_queue;
  std::vector<Receipt> receipts = read_receipts(context, asked, request, by_queue);
  run_receipts(context, asked, request.only_queues,
               std::make_shared<ExtendVerb>(asked, std::move(receipts)), std::move(by_queue));
}

}  // namespace tarry::redis
