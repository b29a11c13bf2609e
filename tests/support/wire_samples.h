// For rapidcheck: any request and any reply that the wire can carry, with keys and payloads of any
// bytes, and numbers from the whole range. Call these functions within a property.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "base/text/text.h"
#include "core/reply.h"
#include "core/request.h"
#include "core/rules/headers.h"

namespace tarry::testing {

template <typename T>
T any_number() {
  return *rc::gen::oneOf(
      rc::gen::arbitrary<T>(),
      rc::gen::element<T>(0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()));
}

inline bool any_flag() { return *rc::gen::arbitrary<bool>(); }

template <typename T>
T one_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

inline std::string any_bytes() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0: return *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    case 1: return *rc::gen::container<std::string>(rc::gen::cast<char>(rc::gen::inRange(0, 256)));
    case 2:
      return *rc::gen::container<std::string>(rc::gen::elementOf(std::string("a\"\\\n\0\x7f/", 7)));
    default: break;
  }
  return *rc::gen::element(std::string("order:42"), std::string("\u00e4\u20ac\U0001F600"),
                           std::string("\u2028"), std::string("\xED\xA0\x80"), std::string("\xC3"),
                           std::string());
}

inline std::string some_bytes() {
  std::string bytes = any_bytes();
  if (bytes.empty()) bytes = "k";
  return bytes;
}

inline std::string any_queue() {
  return *rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("abzAZ09-+/;.$_():@"))));
}

inline Headers any_headers() {
  Headers headers;
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    headers.push_back({*rc::gen::nonEmpty(rc::gen::container<std::string>(
                           rc::gen::elementOf(std::string("aX-!#'`|~9")))),
                       any_bytes()});
  }
  return headers;
}

inline std::string encoded_headers() { return core::encode_headers(any_headers()).value(); }

template <typename T, typename Make>
std::optional<T> maybe(Make make) {
  if (any_flag()) return std::nullopt;
  return make();
}

inline Millis any_millis() { return Millis(any_number<std::int64_t>()); }
/// A moment that people may name: from 1970 to the end of 2200.
inline Time any_time() {
  const auto ms = any_number<std::int64_t>();
  return Time(Millis(ms < 0 || ms > base::kMaxTimeMs ? ms & ((1ll << 42) - 1) : ms));
}
inline Due any_due() {
  const auto ms = any_number<std::int64_t>();
  return any_flag() ? Due::after(Millis(ms)) : Due::at(any_time());
}
inline std::uint32_t any_u32() { return any_number<std::uint32_t>(); }
inline std::uint64_t any_u64() { return any_number<std::uint64_t>(); }
inline std::optional<Millis> maybe_millis() { return maybe<Millis>(any_millis); }
inline std::optional<Time> maybe_time() { return maybe<Time>(any_time); }
inline IfExists any_rule() {
  return one_of(
      {IfExists::reject, IfExists::keep, IfExists::replace, IfExists::earlier, IfExists::later});
}

inline std::vector<core::Slice> any_keys(std::string& bytes) {
  std::vector<core::Slice> keys;
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) keys.push_back(core::append(bytes, any_bytes()));
  return keys;
}

inline Tallies any_tallies() { return {any_u32(), any_u32(), any_u32(), any_u32(), any_u32()}; }
inline core::PushItem any_push_item(std::string& bytes) {
  core::PushItem item;
  item.key = core::append(bytes, any_bytes());
  item.payload = core::append(bytes, any_bytes());
  item.headers = core::append(bytes, encoded_headers());
  item.due = any_due();
  item.priority = any_u32();
  item.max_attempts = any_u32();
  item.if_exists = maybe<IfExists>(any_rule);
  item.expire = maybe_millis();
  item.expire_at = maybe<Time>(any_time);
  return item;
}

inline core::SettleRequest any_settle_request(int items) {
  core::SettleRequest r;
  for (int i = 0; i < items; ++i) {
    core::SettleItem item;
    item.receipt = core::append(r.bytes, any_bytes());
    item.action =
        one_of({core::SettleAction::ack, core::SettleAction::retry, core::SettleAction::release,
                core::SettleAction::bury, core::SettleAction::move_away});
    item.delay = maybe_millis();
    item.priority = maybe<std::uint32_t>(any_u32);
    item.reason = core::append(r.bytes, any_bytes());
    r.items.push_back(item);
  }
  return r;
}

inline Objective any_objective() {
  return *rc::gen::element(Objective(), Objective{99'000, Millis(1'000)},
                           Objective{1'000, Millis(1)}, Objective{99'999, Millis(604'800'000)});
}

/// A request of any kind.
inline core::Request any_request() {
  const int items = *rc::gen::inRange(0, 4);
  switch (*rc::gen::inRange(0, 19)) {
    case 0: {
      core::PushRequest r{any_queue(), {}, {}};
      for (int i = 0; i < items; ++i) {
        r.items.push_back(any_push_item(r.bytes));
        r.items.back().spread = maybe_millis().value_or(Millis(0));
      }
      return r;
    }
    case 1: {
      core::CancelRequest r{any_queue(), {}, {}};
      r.keys = any_keys(r.bytes);
      return r;
    }
    case 2: {
      core::RescheduleRequest r{any_queue(), {}, {}};
      for (int i = 0; i < items; ++i) {
        r.items.push_back(
            {core::append(r.bytes, any_bytes()), any_due(), maybe<std::uint32_t>(any_u32)});
      }
      return r;
    }
    case 3: {
      core::ClaimRequest r;
      for (int i = 0; i < items; ++i) r.queues.push_back(any_queue());
      for (int i = *rc::gen::inRange(0, 3); i > 0; --i) r.keys.push_back(any_bytes());
      r.any_state = any_flag();
      r.max = any_u32();
      r.max_bytes = any_u64();
      r.lease = maybe_millis();
      r.wait = any_millis();
      r.settle = any_settle_request(*rc::gen::inRange(0, 3));
      return r;
    }
    case 4: {
      return any_settle_request(items);
    }
    case 5: {
      core::ExtendRequest r;
      for (int i = 0; i < items; ++i) {
        r.items.push_back({core::append(r.bytes, any_bytes()), maybe_millis()});
      }
      return r;
    }
    case 6: {
      core::GetRequest r{any_queue(), {}, {}, any_flag(), any_flag()};
      r.keys = any_keys(r.bytes);
      return r;
    }
    case 7: {
      core::ListRequest r;
      r.queue = any_queue();
      r.state = maybe<State>([] {
        return one_of(
            {State::scheduled, State::ready, State::leased, State::dead, State::remembered});
      });
      r.after = any_bytes();
      r.prefix = any_bytes();
      r.limit = any_u32();
      return r;
    }
    case 8: return core::StatsRequest{any_flag() ? any_queue() : "", any_flag()};
    case 9: {
      core::ConfigureRequest r{any_queue(), {}};
      r.patch.lease = maybe_millis();
      r.patch.max_attempts = maybe<std::uint32_t>(any_u32);
      r.patch.backoff_min = maybe_millis();
      r.patch.backoff_max = maybe_millis();
      r.patch.remember = maybe_millis();
      r.patch.dead_keep = maybe_millis();
      r.patch.if_exists = maybe<IfExists>(any_rule);
      r.patch.objective = maybe<Objective>(any_objective);
      r.patch.expire = maybe_millis();
      r.patch.max_leased = maybe<std::uint32_t>(any_u32);
      r.patch.rate = maybe<DeliveryRate>(
          [] { return one_of({DeliveryRate(), DeliveryRate{100, Millis(1'000), 20}}); });
      r.patch.group = maybe<Grouping>([] {
        return one_of({Grouping(), Grouping{Grouping::By::key, {}},
                       Grouping{Grouping::By::header, "tenant"}});
      });
      r.patch.group_max_leased = maybe<std::uint32_t>(any_u32);
      r.patch.history = maybe<std::uint32_t>(any_u32);
      r.patch.group_order =
          maybe<GroupOrder>([] { return one_of({GroupOrder::due, GroupOrder::push}); });
      r.patch.on_expiry = maybe<OnExpiry>([] { return one_of({OnExpiry::end, OnExpiry::dead}); });
      return r;
    }
    case 10: return core::PauseRequest{any_queue(), maybe_time()};
    case 11: return core::ResumeRequest{any_queue()};
    case 12: return core::PurgeRequest{any_queue()};
    case 13:
      return core::ForecastRequest{any_queue(), Millis(*rc::gen::nonNegative<std::int64_t>()),
                                   any_u32()};
    case 14: return core::RemoveRequest{any_queue(), any_flag()};
    case 15: return core::ReshardRequest{any_queue(), any_u32(), any_u64()};
    case 16: {
      core::MoveRequest r{any_queue(), {}, {}};
      for (int i = 0; i < items; ++i) {
        core::MoveItem item;
        item.push = any_push_item(r.bytes);
        item.attempt = any_u32();
        item.tallies = any_tallies();
        item.dead = any_flag();
        if (any_flag()) item.pushed_ms = any_time().time_since_epoch().count();
        item.reason = core::append(r.bytes, any_bytes());
        r.items.push_back(item);
      }
      return r;
    }
    case 17: {
      core::CancelRequest r{any_queue(), {}, {}};
      r.keys = any_keys(r.bytes);
      for (std::size_t i = 0; i < r.keys.size(); ++i) {
        r.seen.push_back(
            {any_u64(), any_time().time_since_epoch().count(), any_u32(), any_u32(), any_flag()});
      }
      return r;
    }
    default: break;
  }
  core::ReviveRequest r{any_queue(), any_flag(), {}, {}};
  if (!r.all) r.keys = any_keys(r.bytes);
  return r;
}

inline Error any_error() {
  return {one_of({ErrorCode::invalid_argument, ErrorCode::too_large, ErrorCode::not_found,
                  ErrorCode::no_space, ErrorCode::misuse, ErrorCode::unknown_outcome}),
          *rc::gen::element(std::string("key \"\\\n\" is bad"), std::string("\u00e4"))};
}

inline Settlement any_settlement() {
  return {one_of({Ending::acked, Ending::cancelled}), any_time()};
}

inline core::PushReply any_push_reply(std::size_t items) {
  core::PushReply reply;
  for (; items > 0; --items) {
    core::PushResult result;
    if (any_flag()) {
      result.error = any_error();
    } else {
      result.outcome =
          one_of({Outcome::pushed, Outcome::exists, Outcome::kept, Outcome::replaced,
                  Outcome::moved, Outcome::in_flight, Outcome::settled, Outcome::revived});
      result.id = any_u64();
      result.due_ms = any_number<std::int64_t>();
      result.key = core::append(reply.bytes, any_bytes());
    }
    reply.items.push_back(std::move(result));
  }
  return reply;
}

inline core::PushReply any_push_reply() {
  return any_push_reply(*rc::gen::inRange<std::size_t>(0, 4));
}

inline core::ItemsReply any_items_reply() {
  core::ItemsReply reply;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    core::ItemResult result;
    if (any_flag()) {
      result.error = any_error();
    } else {
      result.outcome = one_of({Outcome::cancelled, Outcome::stopping, Outcome::unknown,
                               Outcome::rescheduled, Outcome::revived, Outcome::in_flight,
                               Outcome::settled, Outcome::done, Outcome::stale, Outcome::kept});
      result.due_ms = maybe<std::int64_t>([] { return any_number<std::int64_t>(); });
      result.settlement = maybe<Settlement>(any_settlement);
    }
    reply.items.push_back(std::move(result));
  }
  return reply;
}

inline core::ClaimReply any_claim_reply() {
  core::ClaimReply reply;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    core::ClaimedItem item;
    item.queue = core::append(reply.bytes, any_queue());
    item.key = core::append(reply.bytes, any_bytes());
    item.payload = core::append(reply.bytes, any_bytes());
    item.headers = core::append(reply.bytes, encoded_headers());
    item.receipt = core::append(reply.bytes, some_bytes());
    item.id = any_u64();
    item.due_ms = any_number<std::int64_t>();
    item.claimed_ms = any_number<std::int64_t>();
    item.lease_ms = any_number<std::int64_t>();
    item.attempt = any_u32();
    item.priority = any_u32();
    item.tallies = any_tallies();
    reply.items.push_back(item);
  }
  reply.settled = any_items_reply().items;
  if (any_flag()) reply.claim_error = any_error();
  return reply;
}

inline MessageHistory any_history() {
  MessageHistory history;
  history.limit = any_u32();
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    const auto kind = static_cast<EventKind>(*rc::gen::inRange<int>(0, kEventKinds));
    history.events.push_back({kind, any_time(), any_u32(), maybe_time(), any_queue(), any_queue()});
  }
  return history;
}

inline MessageInfo any_info(bool payload) {
  MessageInfo info;
  info.id = any_u64();
  info.queue = any_queue();
  info.key = any_bytes();
  info.state =
      one_of({State::scheduled, State::ready, State::leased, State::dead, State::remembered});
  info.stopping = any_flag();
  info.due = any_time();
  info.priority = any_u32();
  info.attempt = any_u32();
  info.max_attempts = any_u32();
  info.expire = maybe_millis();
  info.expire_at = maybe_time();
  info.tallies = any_tallies();
  info.lease_left = maybe_millis();
  info.settlement = maybe<Settlement>(any_settlement);
  info.kept_until = maybe_time();
  info.pushed = maybe_time();
  info.reason = any_bytes();
  info.group = any_bytes();
  info.group_leased = any_u64();
  info.history = any_history();
  info.group_waits = any_flag();
  info.paused = any_flag();
  info.paused_until = maybe_time();
  info.holder = any_queue();
  info.headers = any_headers();
  if (payload) info.payload = any_bytes();
  return info;
}

inline core::GetReply any_get_reply(bool payload) {
  core::GetReply reply;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    if (any_flag()) {
      reply.items.emplace_back(any_error());
    } else {
      reply.items.emplace_back(any_info(payload));
    }
  }
  return reply;
}

inline core::ListReply any_list_reply() {
  core::ListReply reply;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) reply.messages.push_back(any_info(false));
  reply.next = any_bytes();
  return reply;
}

inline ReshardStep any_reshard_step() {
  return {any_u64(), any_u32(), any_u32(), any_flag(), any_flag(),
          any_u64(), any_u64(), any_u64(), any_queue()};
}

inline QueueSettings any_settings() {
  QueueSettings settings{any_millis(), any_u32(),    any_millis(), any_millis(),
                         any_millis(), any_millis(), any_rule(),   any_objective()};
  settings.max_leased = any_u32();
  if (any_flag()) settings.group = {Grouping::By::header, "tenant"};
  settings.group_max_leased = any_u32();
  settings.history = any_u32();
  settings.group_order = one_of({GroupOrder::due, GroupOrder::push});
  return settings;
}

inline StoreStats any_stats() {
  StoreStats stats;
  stats.engine = any_queue();
  if (any_flag()) stats.served = any_queue();
  stats.durable = any_flag();
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    QueueStats q;
    q.queue = any_queue();
    q.settings = any_settings();
    if (any_flag()) {
      q.objective = {any_flag(), any_flag(), any_u64(), any_u64(),
                     any_u64(),  any_u64(),  any_u64(), any_u64()};
    }
    for (std::uint64_t* n : {&q.scheduled,
                             &q.ready,
                             &q.leased,
                             &q.dead,
                             &q.remembered,
                             &q.waiting_claims,
                             &q.groups_ready,
                             &q.groups_held,
                             &q.counters.accepted,
                             &q.counters.acked,
                             &q.counters.cancelled,
                             &q.counters.replaced,
                             &q.counters.expired,
                             &q.counters.purged,
                             &q.counters.moved_away,
                             &q.counters.claims,
                             &q.counters.retries,
                             &q.counters.releases,
                             &q.counters.run_outs,
                             &q.counters.buries,
                             &q.counters.revives,
                             &q.counters.reschedules,
                             &q.counters.damaged}) {
      *n = any_u64();
    }
    q.paused = any_flag();
    q.paused_until = maybe_time();
    q.oldest_ready = maybe_time();
    stats.queues.push_back(std::move(q));
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    stats.unreadable.push_back({any_queue(), any_error()});
  }
  stats.lateness = {any_u64(), any_u32() / 1000.0, any_u32() / 1000.0, any_u32() / 1000.0,
                    any_u32() / 1000.0};
  stats.disk_bytes = any_u64();
  stats.live_bytes = any_u64();
  stats.syncs = any_u64();
  return stats;
}

}  // namespace tarry::testing
