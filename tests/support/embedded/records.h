// For tests: random records of every type. They own the bytes of their views.
#pragma once

#include <rapidcheck.h>

#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "base/crc32c.h"
#include "core/limits.h"
#include "engines/embedded/records/records.h"

namespace tarry::embedded::test {

struct AnyRecord {
  Record record = ClosedRecord{};
  std::shared_ptr<std::deque<std::string>> texts = std::make_shared<std::deque<std::string>>();

  std::string_view text(std::size_t most) {
    texts->push_back(*rc::gen::resize(static_cast<int>(most),
                                      rc::gen::container<std::string>(rc::gen::arbitrary<char>())));
    return texts->back();
  }
};

inline Ref any_ref() {
  return {*rc::gen::inRange<Handle>(0, kMaxHandle), *rc::gen::arbitrary<std::uint64_t>()};
}
inline std::int64_t any_due() { return *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 48); }
template <typename T>
T any() {
  return *rc::gen::arbitrary<T>();
}
template <typename T>
T any_up_to(T last) {
  return static_cast<T>(*rc::gen::inRange<int>(0, static_cast<int>(last) + 1));
}
inline std::optional<std::int64_t> maybe_time() {
  return any<bool>() ? std::optional<std::int64_t>(any<std::int64_t>()) : std::nullopt;
}
inline std::vector<Ref> any_refs() {
  std::vector<Ref> refs(*rc::gen::inRange<std::size_t>(1, 20));
  for (Ref& ref : refs) ref = any_ref();
  return refs;
}
inline Tallies any_tallies() {
  return {any<std::uint32_t>(), any<std::uint32_t>(), any<std::uint32_t>(), any<std::uint32_t>(),
          any<std::uint32_t>()};
}

inline std::optional<Noted> any_noted(AnyRecord& owner) {
  if (any<bool>()) return std::nullopt;
  return Noted{any<std::int64_t>(), event_text(owner.text(core::kMaxEventText))};
}
// The bytes of some events, and how many they are.
inline std::pair<std::string_view, std::uint8_t> any_events(AnyRecord& owner) {
  std::string bytes;
  const auto count = *rc::gen::inRange<std::uint8_t>(0, 5);
  for (std::uint8_t i = 0; i < count; ++i) {
    append_event(bytes, {any_up_to(EventKind::expired), any<std::uint16_t>(), any_due(), any_due(),
                         event_text(owner.text(200))});
  }
  owner.texts->push_back(std::move(bytes));
  return {owner.texts->back(), count};
}

inline QueueRecord any_queue(AnyRecord& owner) {
  QueueRecord r;
  r.queue = any<std::uint32_t>();
  r.name = owner.text(100);
  r.settings.lease = Millis(any<std::int32_t>());
  r.settings.backoff_min = Millis(any<std::int32_t>());
  r.settings.backoff_max = Millis(any<std::int32_t>());
  r.settings.remember = Millis(any<std::int32_t>());
  r.settings.dead_keep = Millis(any<std::int32_t>());
  r.settings.max_attempts = any<std::uint32_t>();
  if (any<bool>()) r.settings.objective = {99'000, Millis(1'000)};
  r.settings.if_exists = any_up_to(IfExists::later);
  if (any<bool>()) r.settings.expire = Millis(any<std::int32_t>());
  if (any<bool>()) r.settings.on_expiry = any_up_to(OnExpiry::dead);
  if (any<bool>()) r.settings.max_leased = any<std::uint32_t>();
  if (any<bool>()) r.settings.rate = {100, Millis(1'000), 20};
  if (any<bool>()) r.settings.history = *rc::gen::inRange<std::uint32_t>(0, 101);
  if (any<bool>()) r.settings.group_max_leased = any<std::uint32_t>();
  if (any<bool>()) r.settings.group_order = GroupOrder::push;
  if (any<bool>()) {
    r.settings.group =
        *rc::gen::element(Grouping{Grouping::By::key, {}}, Grouping{Grouping::By::header, "tenant"},
                          Grouping{Grouping::By::header, std::string(core::kMaxGroupHeader, 'x')});
  }
  r.paused = any<bool>();
  r.paused_until_ms = maybe_time();
  if (any<bool>()) {
    QueueCounters c;
    c.accepted = any<std::uint64_t>();
    c.acked = any<std::uint64_t>();
    c.cancelled = any<std::uint64_t>();
    c.replaced = any<std::uint64_t>();
    c.expired = any<std::uint64_t>();
    c.purged = any<std::uint64_t>();
    c.moved_away = any<std::uint64_t>();
    c.claims = any<std::uint64_t>();
    c.retries = any<std::uint64_t>();
    c.releases = any<std::uint64_t>();
    c.run_outs = any<std::uint64_t>();
    c.buries = any<std::uint64_t>();
    c.revives = any<std::uint64_t>();
    c.reschedules = any<std::uint64_t>();
    c.damaged = any<std::uint64_t>();
    r.counters = c;
  }
  return r;
}

inline PutRecord any_put(AnyRecord& owner) {
  PutRecord r;
  r.ref = any_ref();
  r.queue = any<std::uint32_t>();
  r.due_ms = any_due();
  r.priority = any<std::uint32_t>();
  r.max_attempts = any<std::uint16_t>();
  r.generated_key = any<bool>();
  r.copy = any<bool>();
  r.damaged = any<bool>();
  r.boot_due_ms = maybe_time();
  r.pushed_ms = maybe_time();
  if (any<bool>()) {
    r.expiry = {*rc::gen::nonZero<std::int64_t>(), *rc::gen::nonNegative<std::int64_t>()};
  }
  if (any<bool>()) {
    Carried c;
    c.stage = static_cast<Stage>(*rc::gen::inRange<int>(1, 6));
    c.stopping = any<bool>();
    c.ending = any_up_to(Ending::expired);
    c.attempt = any<std::uint32_t>();
    c.tallies = any_tallies();
    c.until_ms = any<std::int64_t>();
    c.stamp_ms = any<std::int64_t>();
    c.reason = owner.text(50);
    std::tie(c.events, c.event_count) = any_events(owner);
    r.carried = c;
  }
  r.key = r.generated_key ? std::string_view() : owner.text(60);
  r.headers = owner.text(80);
  if (any<bool>() && !r.headers.empty()) {
    const auto at = *rc::gen::inRange<std::size_t>(0, r.headers.size());
    r.group = {
        static_cast<std::uint32_t>(r.key.size() + at),
        static_cast<std::uint32_t>(*rc::gen::inRange<std::size_t>(1, r.headers.size() - at + 1))};
  }
  r.payload = owner.text(200);
  r.payload_crc = base::crc32c(r.payload);
  return r;
}

inline AnyRecord any_record(RecordType type) {
  AnyRecord owner;
  switch (type) {
    case RecordType::queue: owner.record = any_queue(owner); break;
    case RecordType::put: owner.record = any_put(owner); break;
    case RecordType::due:
      owner.record =
          DueRecord{any_ref(),   any<std::uint32_t>(), any_due(),       any<std::uint32_t>(),
                    any<bool>(), maybe_time(),         any_noted(owner)};
      break;
    case RecordType::claimed: {
      ClaimedRecord r{any<std::uint32_t>(), any<std::int64_t>(), any<std::int64_t>(), {}};
      for (const Ref ref : any_refs()) {
        r.items.push_back({ref, any<std::uint32_t>(), any<std::uint32_t>()});
      }
      r.noted = any_noted(owner);
      owner.record = r;
      break;
    }
    case RecordType::back:
      owner.record = BackRecord{any_up_to(BackWhy::run_out),
                                any_ref(),
                                any<std::uint32_t>(),
                                any_due(),
                                any<std::uint32_t>(),
                                any<std::uint32_t>(),
                                maybe_time(),
                                any_noted(owner)};
      break;
    case RecordType::gone:
      owner.record = GoneRecord{any_up_to(GoneWhy::forgotten), any<std::uint32_t>(), any_refs()};
      break;
    case RecordType::remembered:
      owner.record =
          RememberedRecord{any_up_to(Ending::expired), any<std::uint32_t>(), any<std::int64_t>(),
                           any<std::int64_t>(),        any_refs(),           any<bool>()};
      break;
    case RecordType::dead:
      owner.record = DeadRecord{any_up_to(DeadWhy::expired),
                                any_ref(),
                                any<std::uint32_t>(),
                                any<std::int64_t>(),
                                any<std::int64_t>(),
                                any<std::uint32_t>(),
                                owner.text(100),
                                any<bool>()};
      break;
    case RecordType::stopping:
      owner.record = StoppingRecord{any<std::uint32_t>(), any_ref(), any_noted(owner)};
      break;
    case RecordType::lease:
      owner.record =
          LeaseRecord{any<std::uint32_t>(), any_ref(), any<std::int64_t>(), any<std::int64_t>()};
      break;
    case RecordType::clock:
      owner.record = ClockRecord{any<std::int64_t>(), any<std::int64_t>(), any<std::uint64_t>()};
      break;
    case RecordType::marks:
      owner.record = MarksRecord{any<std::uint64_t>(), any<std::uint64_t>()};
      break;
    case RecordType::closed: owner.record = ClosedRecord{}; break;
  }
  return owner;
}

inline AnyRecord any_record() {
  return any_record(static_cast<RecordType>(*rc::gen::inRange<int>(1, 14)));
}

inline std::string encoded(const Record& record) {
  std::string bytes;
  append_record(bytes, record);
  return bytes;
}

}  // namespace tarry::embedded::test
