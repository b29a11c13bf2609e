#include "core/rules/validation.h"
#include "core/settings/delivery_rate.h"

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "core/header_fields.h"
#include "core/settings/grouping.h"
#include "core/settings/objective.h"
#include "core/settings/settings_table.h"

namespace tarry::core {
namespace {

constexpr std::string_view kMarks = "-+/;.$_():@";

bool is_name_byte(char c) noexcept {
  return base::is_letter(c) || base::is_digit(c) || kMarks.find(c) != std::string_view::npos;
}

MaybeError invalid(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

MaybeError too_large(std::string_view what, std::uint64_t size, std::uint64_t limit,
                     std::string_view unit) {
  return Error{ErrorCode::too_large, std::string(what) + " of " + std::to_string(size) + " " +
                                         std::string(unit) + " is over the limit of " +
                                         std::to_string(limit)};
}

// Any text over our limits is so long that `quoted` cuts it and adds its full length.
MaybeError too_long(std::string_view what, std::string_view value, std::size_t limit) {
  return Error{ErrorCode::too_large, std::string(what) + " " + base::quoted(value) +
                                         " is over the limit of " + std::to_string(limit) +
                                         " bytes"};
}

MaybeError check_text(std::string_view what, std::string_view value, std::size_t limit) {
  if (value.size() > limit) return too_long(what, value, limit);
  if (!value.empty()) return {};
  return invalid(std::string(what) + " \"\" must be from 1 to " + std::to_string(limit) + " bytes");
}

}  // namespace

MaybeError check_span(std::string_view what, Millis value, std::int64_t min_ms,
                      std::int64_t max_ms) {
  if (value.count() >= min_ms && value.count() <= max_ms) return {};
  return invalid(std::string(what) + " " + base::format_duration_ms(value.count()) +
                 " must be from " + base::format_duration_ms(min_ms) + " to " +
                 base::format_duration_ms(max_ms));
}

MaybeError check_number(std::string_view what, std::uint64_t value, std::uint64_t min,
                        std::uint64_t max) {
  if (value >= min && value <= max) return {};
  return invalid(std::string(what) + " " + std::to_string(value) + " must be from " +
                 std::to_string(min) + " to " + std::to_string(max));
}

namespace {

MaybeError check_moment(std::string_view what, std::int64_t ms) {
  if (ms >= 0 && ms <= base::kMaxTimeMs) return {};
  return invalid(std::string(what) + " " + std::to_string(ms) +
                 " ms since 1970 must be from 0 to " + std::to_string(base::kMaxTimeMs) +
                 " (the end of the year 2200)");
}

// An enumerator can be made from any number. A value that no reader knows must not be stored.
template <typename E>
MaybeError check_choice(std::string_view what, E value, E last, std::string_view choices) {
  if (value <= last) return {};
  return invalid(std::string(what) + " " + std::to_string(static_cast<unsigned>(value)) +
                 " must be " + std::string(choices));
}

MaybeError check_if_exists(std::optional<IfExists> rule) {
  if (!rule) return {};
  return check_choice("if_exists", *rule, IfExists::later,
                      "reject, keep, replace, earlier or later");
}

MaybeError check_max_attempts(std::uint32_t attempts) {
  return check_number("max_attempts", attempts, 1, kMaxAttempts);
}

MaybeError check_reason(std::string_view reason) {
  if (reason.size() > kMaxReason) return too_long("reason", reason, kMaxReason);
  if (!base::is_valid_utf8(reason)) {
    return invalid("reason " + base::quoted(reason) + " must be UTF-8");
  }
  return {};
}

MaybeError check_headers(std::string_view encoded) {
  std::size_t total = 0;
  std::size_t count = 0;
  bool is_damaged = false;
  HeaderFields fields(encoded);
  while (!is_damaged && fields.next()) {
    is_damaged = fields.name().empty();
    total += fields.name().size() + fields.value().size();
    ++count;
  }
  if (is_damaged || fields.is_damaged()) {
    return invalid("headers of " + std::to_string(encoded.size()) + " bytes are not well encoded");
  }
  return check_headers_size(count, total);
}

MaybeError check_expiry(const PushItem& item) {
  if (item.expire) {
    if (auto error = check_span("expire", *item.expire, 1, kMaxDelayMs)) return error;
  }
  return item.expire_at ? check_moment("expire_at", item.expire_at->time_since_epoch().count())
                        : MaybeError{};
}

MaybeError check_push(const std::string& bytes, const PushItem& item, const Limits& limits) {
  if (item.key.size > 0) {
    if (auto error = check_key(view(bytes, item.key))) return error;
  }
  if (item.payload.size > limits.max_payload) {
    return too_large("payload", item.payload.size, limits.max_payload, "bytes");
  }
  if (auto error = check_headers(view(bytes, item.headers))) return error;
  if (auto error = check_due(item.due)) return error;
  if (auto error = check_span("spread", item.spread, 0, kMaxSpreadMs)) return error;
  if (auto error = check_if_exists(item.if_exists)) return error;
  if (auto error = check_expiry(item)) return error;
  if (item.max_attempts != 0) return check_max_attempts(item.max_attempts);
  return {};
}

template <typename R>
concept Batch = requires(const R& request) {
  request.items;
  request.bytes;
};
template <typename R>
concept KeyBatch = requires(const R& request) {
  request.keys;
  request.bytes;
};
template <typename R>
concept OfOneQueue = requires(const R& request) {
  { request.queue } -> std::convertible_to<std::string_view>;
};

MaybeError check_claimed_queues(const std::vector<std::string>& queues) {
  if (queues.empty()) return invalid("a claim names 0 queues; it must name from 1 to 1000");
  if (queues.size() > kMaxClaimQueues) {
    return too_large("claim", queues.size(), kMaxClaimQueues, "queues");
  }
  for (const std::string& queue : queues) {
    if (auto error = check_queue_name(queue)) return error;
  }
  if (queues.size() > 1) {
    // Queues are served in turn, so each may be named only once.
    std::vector<std::string_view> sorted(queues.begin(), queues.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) {
      return invalid("a claim names queue " + base::quoted(*twice) + " twice; once is the limit");
    }
  }
  return {};
}

MaybeError check_own(const ClaimRequest& claim) {
  if (auto error = check_claimed_queues(claim.queues)) return error;
  if (!claim.keys.empty() && claim.queues.size() != 1) {
    return invalid("a claim by key names " + std::to_string(claim.queues.size()) +
                   " queues; it must name 1");
  }
  if (claim.keys.size() > kMaxBatch) {
    return too_large("claim", claim.keys.size(), kMaxBatch, "keys");
  }
  for (const std::string& key : claim.keys) {
    if (auto error = check_key(key)) return error;
  }
  if (!claim.shards.empty() &&
      (claim.shards.size() != claim.queues.size() || !claim.keys.empty())) {
    return invalid("a claim names the shards of " + std::to_string(claim.shards.size()) +
                   " queues; it must name those of each of its " +
                   std::to_string(claim.queues.size()) + " queues, and without keys");
  }
  if (claim.any_state && claim.keys.empty()) {
    return invalid("a claim of any state names 0 keys; it must name from 1 to " +
                   std::to_string(kMaxBatch));
  }
  if (auto error = check_number("max", claim.max, 1, kMaxBatch)) return error;
  if (auto error = check_number("max_bytes", claim.max_bytes, 1, kMaxClaimBytes)) return error;
  if (auto error = check_lease(claim.lease)) return error;
  if (auto error = check_span("wait", claim.wait, 0, kMaxWaitMs)) return error;
  return check_batch(claim.settle.items.size(), claim.settle.bytes.size());
}

MaybeError check_own(const PushRequest& push) { return check_new_queue(push.queue); }
MaybeError check_own(const MoveRequest& move) { return check_new_queue(move.queue); }
MaybeError check_own(const ConfigureRequest& configure) { return check_new_queue(configure.queue); }

MaybeError check_own(const ListRequest& list) {
  if (list.state) {
    if (auto error = check_choice("state", *list.state, State::remembered,
                                  "scheduled, ready, leased, dead or remembered")) {
      return error;
    }
  }
  if (list.prefix.size() > kMaxKey) return too_long("prefix", list.prefix, kMaxKey);
  return check_number("limit", list.limit, 1, kMaxListLimit);
}

MaybeError check_own(const ForecastRequest& forecast) {
  if (auto error = check_span("width", forecast.width, 1, kMaxDelayMs)) return error;
  if (auto error = check_number("buckets", forecast.buckets, 1, kMaxForecastBuckets)) return error;
  return forecast.from ? check_moment("from", forecast.from->time_since_epoch().count())
                       : MaybeError();
}

MaybeError check_own(const PauseRequest& pause) {
  if (auto error = check_new_queue(pause.queue)) return error;
  return pause.until ? check_moment("until", pause.until->time_since_epoch().count())
                     : MaybeError{};
}

MaybeError check_own(const CancelRequest& cancel) {
  if (cancel.seen.empty() || cancel.seen.size() == cancel.keys.size()) return {};
  return invalid("a cancel of " + std::to_string(cancel.keys.size()) + " keys says of " +
                 std::to_string(cancel.seen.size()) + " what was seen; it must of all or none");
}

MaybeError check_own(const ReviveRequest& revive) {
  if (revive.all && !revive.keys.empty()) {
    return invalid("a revive of all names " + std::to_string(revive.keys.size()) +
                   " keys; it must name 0");
  }
  // The reply is a single count, so a bad key cannot have a result of its own: it fails the
  // request.
  for (const Slice key : revive.keys) {
    if (auto error = check_key(view(revive.bytes, key))) return error;
  }
  return {};
}

MaybeError check_own(const ReshardRequest& reshard) {
  return check_number("shards", reshard.shards, 1, kMaxShards);
}

template <typename R>
MaybeError check_own(const R&) {
  return {};
}

}  // namespace

// An existing queue with such a name can still be emptied and removed; only a new one is refused.
MaybeError check_new_queue(std::string_view name) {
  if (name != "." && name != "..") return {};
  return invalid(
      "queue name " + base::quoted(name) +
      " is a step within a path, which clients remove from a URL; it must be neither . nor ..");
}

MaybeError check_queue_name(std::string_view name) {
  if (name.size() > kMaxQueueName) return too_long("queue name", name, kMaxQueueName);
  if (name.empty() || name.front() == '-' || !std::ranges::all_of(name, is_name_byte)) {
    return invalid("queue name " + base::quoted(name) + " must be 1 to " +
                   std::to_string(kMaxQueueName) +
                   " of A-Z a-z 0-9 and -+/;.$_():@, not beginning with -");
  }
  return {};
}

MaybeError check_key(std::string_view key) { return check_text("key", key, kMaxKey); }

MaybeError check_due(Due due) {
  if (due.is_relative()) return check_span("delay", Millis(due.millis()), 0, kMaxDelayMs);
  return check_moment("due", due.millis());
}

MaybeError check_lease(std::optional<Millis> lease) {
  return lease ? check_span("lease", *lease, 1, kMaxLeaseMs) : MaybeError{};
}

MaybeError check_receipt(std::string_view receipt) {
  return check_text("receipt", receipt, kMaxReceipt);
}

MaybeError check_action(Action action) {
  return check_choice("action", action, Action::bury, "ack, retry, release or bury");
}

namespace {

MaybeError check_setting(const DurationSetting& row, Millis value) {
  return check_span(row.name, value, row.min.count(), row.max.count());
}
MaybeError check_setting(const CountSetting& row, std::uint32_t value) {
  return check_number(row.name, value, row.min, row.max);
}
MaybeError check_setting(const RuleSetting&, IfExists value) { return check_if_exists(value); }
MaybeError check_setting(const OnExpirySetting&, OnExpiry value) {
  return check_choice("on_expiry", value, OnExpiry::dead, "end or dead");
}
MaybeError check_setting(const LimitSetting& row, std::uint32_t value) {
  return check_number(row.name, value, 0, row.max);
}
MaybeError check_setting(const RateSetting&, DeliveryRate value) {
  if (is_delivery_rate(value)) return {};
  return invalid("rate " + delivery_rate_text(value) +
                 ": the count and the burst must be from 1 to " + std::to_string(kMaxRateCount) +
                 ", the time from 1ms to 7d");
}
MaybeError check_setting(const GroupSetting&, const Grouping& value) {
  if (is_grouping(value)) return {};
  return invalid("group " + base::quoted(grouping_text(value)) +
                 " must be key, none, or header: and a name of 1 to " +
                 std::to_string(kMaxGroupHeader) + " bytes of text");
}
MaybeError check_setting(const GroupOrderSetting&, GroupOrder value) {
  return check_choice("group_order", value, GroupOrder::push, "due or push");
}
MaybeError check_setting(const ObjectiveSetting&, Objective value) {
  if (is_objective(value)) return {};
  return invalid("objective " + objective_text(value) +
                 ": the percentage must be from 1 to 99.999, the time from 1ms to 7d");
}

}  // namespace

MaybeError check_patch(const SettingsPatch& patch, const QueueSettings& onto) {
  MaybeError error;
  each_setting([&](const auto& row) {
    const auto& change = patch.*row.change;
    if (change && !error) error = check_setting(row, *change);
  });
  if (error) return error;
  const QueueSettings after = apply(patch, onto);
  if (after.backoff_min > after.backoff_max) {
    return invalid("backoff_min " + base::format_duration_ms(after.backoff_min.count()) +
                   " must not be over backoff_max, which is " +
                   base::format_duration_ms(after.backoff_max.count()));
  }
  if (after.group_order == GroupOrder::push && after.group.by == Grouping::By::none) {
    return invalid("group_order push needs the setting group: key or header:NAME");
  }
  return {};
}

MaybeError check_headers_size(std::size_t count, std::size_t bytes) {
  if (bytes > kMaxHeaders) return too_large("headers", bytes, kMaxHeaders, "bytes");
  if (count > kMaxHeaderCount) return too_large("message", count, kMaxHeaderCount, "headers");
  return {};
}

MaybeError check_batch(std::size_t items, std::uint64_t bytes) {
  if (items > kMaxBatch) return too_large("batch", items, kMaxBatch, "items");
  if (bytes > kMaxBatchBytes) return too_large("batch", bytes, kMaxBatchBytes, "bytes");
  return {};
}

MaybeError check_item(const PushRequest& request, const PushItem& item, const Limits& limits) {
  if (item.expire && item.expire_at) {
    return invalid("expire " + base::format_duration_ms(item.expire->count()) +
                   " and expire_at are given; a push may name one of them");
  }
  return check_push(request.bytes, item, limits);
}

MaybeError check_item(const MoveRequest& request, const MoveItem& item, const Limits& limits) {
  if (auto error = check_push(request.bytes, item.push, limits)) return error;
  // With another rule the existing message would be replaced or moved, and the history of this one
  // would be lost.
  const IfExists rule = item.push.if_exists.value_or(IfExists::reject);
  if (rule != IfExists::reject && rule != IfExists::keep) {
    return invalid(
        "if_exists " + base::quoted(to_string(rule)) +
        " cannot be used for an import, which never overwrites; use reject, the default, or keep");
  }
  if (auto error = check_number("attempt", item.attempt, 0, kMaxAttempts)) return error;
  if (!item.dead && item.reason.size > 0) {
    return invalid("reason " + base::quoted(view(request.bytes, item.reason)) +
                   " goes with a dead message only");
  }
  if (item.pushed_ms) {
    if (auto error = check_moment("push time", *item.pushed_ms)) return error;
  }
  return check_reason(view(request.bytes, item.reason));
}

MaybeError check_item(const RescheduleRequest& request, const RescheduleItem& item) {
  if (auto error = check_key(view(request.bytes, item.key))) return error;
  return check_due(item.due);
}

MaybeError check_item(const SettleRequest& request, const SettleItem& item) {
  if (auto error = check_receipt(view(request.bytes, item.receipt))) return error;
  const SettleAction action = item.action;
  // An option without an effect is refused, so that nobody believes that it had one.
  if (item.delay) {
    if (action != SettleAction::retry) {
      return invalid("delay " + base::format_duration_ms(item.delay->count()) +
                     " goes with retry only, not with " + std::string(to_string(action)));
    }
    if (auto error = check_span("delay", *item.delay, 0, kMaxDelayMs)) return error;
  }
  if (item.reason.size > 0) {
    const std::string_view reason = view(request.bytes, item.reason);
    if (action != SettleAction::bury && action != SettleAction::retry) {
      return invalid("reason " + base::quoted(reason) + " goes with bury and retry, not with " +
                     std::string(to_string(action)));
    }
    if (auto error = check_reason(reason)) return error;
  }
  if (item.priority && (action == SettleAction::ack || action == SettleAction::move_away)) {
    return invalid("priority " + std::to_string(*item.priority) +
                   " goes with retry, release and bury, not with " +
                   std::string(to_string(action)));
  }
  return {};
}

MaybeError check_item(const ExtendRequest& request, const ExtendItem& item) {
  if (auto error = check_receipt(view(request.bytes, item.receipt))) return error;
  return check_lease(item.lease);
}

MaybeError check_request(const Request& request) {
  return std::visit(
      [](const auto& r) -> MaybeError {
        using R = std::decay_t<decltype(r)>;
        if constexpr (OfOneQueue<R>) {
          constexpr bool may_mean_all = std::same_as<R, StatsRequest>;
          if (!(may_mean_all && r.queue.empty())) {
            if (auto error = check_queue_name(r.queue)) return error;
          }
        }
        if constexpr (Batch<R>) {
          if (auto error = check_batch(r.items.size(), r.bytes.size())) return error;
        } else if constexpr (KeyBatch<R>) {
          if (auto error = check_batch(r.keys.size(), r.bytes.size())) return error;
        }
        return check_own(r);
      },
      request);
}

}  // namespace tarry::core
