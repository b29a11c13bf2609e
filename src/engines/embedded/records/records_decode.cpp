#include <cstring>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "core/limits.h"
#include "engines/embedded/records/record_layout.h"
#include "engines/embedded/records/records.h"

namespace tarry::embedded {
namespace {

using namespace record_layout;

struct Head {
  std::uint32_t length;
  RecordType type;
  std::uint8_t detail;
  std::uint16_t small;
};

bool take_ref(base::ByteReader& in, Ref& ref) { return in.u32(ref.handle) && in.u64(ref.id); }

bool take_i64(base::ByteReader& in, std::optional<std::int64_t>& value, bool present) {
  if (!present) return true;
  std::int64_t raw = 0;
  if (!in.i64(raw)) return false;
  value = raw;
  return true;
}

bool take_expiry(base::ByteReader& in, core::Expiry& expiry, bool present) {
  if (!present) return true;
  return in.i64(expiry.at_ms) && in.i64(expiry.after_ms) && expiry.any() && expiry.after_ms >= 0;
}

bool take_group(base::ByteReader& in, core::GroupSpan& group, bool present) {
  return !present || (in.u32(group.at) && in.u32(group.size));
}

bool take_noted(base::ByteReader& in, std::optional<Noted>& noted, bool present) {
  if (!present) return true;
  Noted read;
  std::uint8_t text = 0;
  if (!in.i64(read.at_ms) || !in.u8(text) || text > core::kMaxEventText ||
      !in.bytes(text, read.text)) {
    return false;
  }
  noted = read;
  return true;
}

// Message::set_due_ms keeps 48 bits.
bool is_due(std::int64_t due_ms) { return due_ms >= 0 && due_ms < (std::int64_t{1} << 48); }

std::optional<Record> decode_queue(Head head, base::ByteReader in) {
  QueueRecord r;
  std::int64_t paused_until = 0;
  const std::size_t others = kQueueFixed - kHead - kSettingsBytes + head.small +
                             ((head.detail & kCounters) != 0 ? kCountersBytes : 0);
  if (in.remaining() < others) return std::nullopt;
  const std::size_t settings = in.remaining() - others;
  if (!in.u32(r.queue) || !read_settings(in, settings, r.settings) || !in.i64(paused_until)) {
    return std::nullopt;
  }
  r.paused = (head.detail & kPaused) != 0;
  r.removed = (head.detail & kRemoved) != 0;
  if ((head.detail & kPausedUntil) != 0) r.paused_until_ms = paused_until;
  if ((head.detail & kCounters) != 0) {
    QueueCounters counters;
    bool enough = true;
    each_counter(counters, [&](std::uint64_t& field) { enough = enough && in.u64(field); });
    if (!enough) return std::nullopt;
    r.counters = counters;
  }
  if (!in.bytes(head.small, r.name) || in.remaining() != 0) return std::nullopt;
  return r;
}

bool take_events(base::ByteReader& in, Carried& c) {
  std::string_view rest = in.rest();
  for (std::uint8_t i = 0; i < c.event_count; ++i) {
    if (!take_event(rest)) return false;
  }
  return in.bytes(in.remaining() - rest.size(), c.events);
}

bool take_carried(base::ByteReader& in, Carried& c) {
  std::uint8_t stage = 0;
  std::uint8_t stopping = 0;
  std::uint8_t ending = 0;
  std::uint32_t reason = 0;
  if (!in.u8(stage) || !in.u8(stopping) || !in.u8(ending) || !in.u8(c.event_count) ||
      !in.u32(c.attempt)) {
    return false;
  }
  bool enough = true;
  each_tally(c.tallies, [&](std::uint32_t& field) { enough = enough && in.u32(field); });
  if (!enough || !in.i64(c.until_ms) || !in.i64(c.stamp_ms) || !in.u32(reason) ||
      !in.bytes(reason, c.reason) || !take_events(in, c)) {
    return false;
  }
  if (stage == static_cast<std::uint8_t>(Stage::free) ||
      stage > static_cast<std::uint8_t>(Stage::remembered) ||
      ending > static_cast<std::uint8_t>(Ending::expired)) {
    return false;
  }
  c.stage = static_cast<Stage>(stage);
  c.stopping = stopping != 0;
  c.ending = static_cast<Ending>(ending);
  return true;
}

bool begins_put(std::string_view bytes) noexcept {
  return bytes.size() >= kPutFixedBytes && bytes[4] == static_cast<char>(RecordType::put);
}

Ref ref_at(const char* at) noexcept { return {base::load_u32(at), base::load_u64(at + 4)}; }

// `whole` is the record from its head on; the payload may be cut short (it is then empty, and
// payload_checks fails).
std::optional<PutRecord> decode_put_from(Head head, std::string_view whole) {
  if (whole.size() < kPutFixedBytes) return std::nullopt;
  PutRecord r;
  const char* const fixed = whole.data();
  r.ref = ref_at(fixed + kPutRefAt);
  r.queue = base::load_u32(fixed + 20);
  r.due_ms = static_cast<std::int64_t>(base::load_u64(fixed + 24));
  r.priority = base::load_u32(fixed + 32);
  const std::uint16_t headers = base::load_u16(fixed + 36);
  r.max_attempts = base::load_u16(fixed + 38);
  const std::uint32_t payload = base::load_u32(fixed + kPutPayloadLengthAt);
  r.payload_crc = base::load_u32(fixed + 44);
  const std::uint32_t crc = base::load_u32(fixed + kPutCrcAt);

  base::ByteReader in(whole.substr(kPutFixedBytes));
  if (!take_i64(in, r.boot_due_ms, (head.detail & kBootDue) != 0) ||
      !take_i64(in, r.pushed_ms, (head.detail & kPushed) != 0) ||
      !take_expiry(in, r.expiry, (head.detail & kExpires) != 0) ||
      !take_group(in, r.group, (head.detail & kGrouped) != 0)) {
    return std::nullopt;
  }
  if ((head.detail & kCarried) != 0) {
    r.carried.emplace();
    if (!take_carried(in, *r.carried)) return std::nullopt;
  }
  if (!in.bytes(head.small, r.key) || !in.bytes(headers, r.headers)) return std::nullopt;
  if ((head.detail & kGrouped) != 0 &&
      !core::is_group_span(r.group, r.key.size(), r.headers.size())) {
    return std::nullopt;
  }
  const std::size_t before_payload = whole.size() - in.remaining();
  if (head.length != before_payload + payload || r.ref.handle > kMaxHandle || !is_due(r.due_ms)) {
    return std::nullopt;
  }
  char checked[kPutFixedBytes];
  std::memcpy(checked, fixed, kPutCrcAt);
  base::store_u32(checked + kPutCrcAt, 0);
  std::uint32_t expected = base::crc32c(std::string_view(checked, sizeof checked));
  if (before_payload > kPutFixedBytes) {
    expected =
        base::crc32c(whole.substr(kPutFixedBytes, before_payload - kPutFixedBytes), expected);
  }
  if (crc != expected) return std::nullopt;
  r.generated_key = (head.detail & kGeneratedKey) != 0;
  r.copy = (head.detail & kCopy) != 0;
  r.damaged = (head.detail & kDamaged) != 0;
  if (in.remaining() >= payload && !in.bytes(payload, r.payload)) return std::nullopt;
  return r;
}

std::optional<Record> decode_due(Head head, base::ByteReader in) {
  DueRecord r;
  if (!take_ref(in, r.ref) || !in.u32(r.queue) || !in.i64(r.due_ms) || !in.u32(r.priority) ||
      !take_i64(in, r.boot_due_ms, (head.detail & kDueBoot) != 0) ||
      !take_noted(in, r.noted, (head.detail & kDueNoted) != 0) || in.remaining() != 0 ||
      !is_due(r.due_ms)) {
    return std::nullopt;
  }
  r.revived = (head.detail & kRevived) != 0;
  return r;
}

std::optional<Record> decode_claimed(Head head, base::ByteReader in) {
  ClaimedRecord r;
  std::uint32_t count = 0;
  if (!in.u32(r.queue) || !in.u32(count) || !in.i64(r.lease_until_boot_ms) || !in.i64(r.lease_ms) ||
      in.remaining() < std::uint64_t{count} * kClaimedItemBytes) {
    return std::nullopt;
  }
  r.items.resize(count);
  for (ClaimedItem& item : r.items) {
    if (!take_ref(in, item.ref) || !in.u32(item.claims) || !in.u32(item.attempt)) {
      return std::nullopt;
    }
  }
  if (!take_noted(in, r.noted, (head.detail & kNoted) != 0) || in.remaining() != 0) {
    return std::nullopt;
  }
  return r;
}

std::optional<Record> decode_back(Head head, base::ByteReader in) {
  BackRecord r;
  if (head.detail > static_cast<std::uint8_t>(BackWhy::run_out) || !take_ref(in, r.ref) ||
      !in.u32(r.queue) || !in.i64(r.due_ms) || !in.u32(r.attempt) || !in.u32(r.priority) ||
      !take_i64(in, r.boot_due_ms, (head.small & kBackBoot) != 0) ||
      !take_noted(in, r.noted, (head.small & kBackNoted) != 0) || in.remaining() != 0 ||
      !is_due(r.due_ms)) {
    return std::nullopt;
  }
  r.why = static_cast<BackWhy>(head.detail);
  return r;
}

bool take_refs(base::ByteReader& in, std::uint32_t count, std::vector<Ref>& refs) {
  if (in.remaining() != std::uint64_t{count} * kRefBytes) return false;
  refs.resize(count);
  for (Ref& ref : refs) {
    if (!take_ref(in, ref)) return false;
  }
  return true;
}

// Takes the flag out of the detail, which is a reason then.
bool take_noted_too(Head& head) {
  const bool noted = (head.detail & kNotedToo) != 0;
  head.detail = static_cast<std::uint8_t>(head.detail & ~kNotedToo);
  return noted;
}

std::optional<Record> decode_gone(Head head, base::ByteReader in) {
  GoneRecord r;
  std::uint32_t count = 0;
  if (head.detail > static_cast<std::uint8_t>(GoneWhy::forgotten) || !in.u32(r.queue) ||
      !in.u32(count) || !take_refs(in, count, r.items)) {
    return std::nullopt;
  }
  r.why = static_cast<GoneWhy>(head.detail);
  return r;
}

std::optional<Record> decode_remembered(Head head, base::ByteReader in) {
  RememberedRecord r;
  std::uint32_t count = 0;
  r.noted = take_noted_too(head);
  if (head.detail > static_cast<std::uint8_t>(Ending::expired) || !in.u32(r.queue) ||
      !in.u32(count) || !in.i64(r.settled_ms) || !in.i64(r.until_ms) ||
      !take_refs(in, count, r.items)) {
    return std::nullopt;
  }
  r.ending = static_cast<Ending>(head.detail);
  return r;
}

std::optional<Record> decode_dead(Head head, base::ByteReader in) {
  DeadRecord r;
  r.noted = take_noted_too(head);
  if (head.detail > static_cast<std::uint8_t>(DeadWhy::expired) || !take_ref(in, r.ref) ||
      !in.u32(r.queue) || !in.i64(r.since_ms) || !in.i64(r.until_ms) || !in.u32(r.priority) ||
      !in.bytes(head.small, r.reason) || in.remaining() != 0) {
    return std::nullopt;
  }
  r.why = static_cast<DeadWhy>(head.detail);
  return r;
}

std::optional<Record> decode(Head head, std::string_view whole) {
  base::ByteReader in(whole.substr(kHead));
  switch (head.type) {
    case RecordType::queue: return decode_queue(head, in);
    case RecordType::put: {
      auto put = decode_put_from(head, whole);
      if (!put) return std::nullopt;
      return Record(*put);
    }
    case RecordType::due: return decode_due(head, in);
    case RecordType::claimed: return decode_claimed(head, in);
    case RecordType::back: return decode_back(head, in);
    case RecordType::gone: return decode_gone(head, in);
    case RecordType::remembered: return decode_remembered(head, in);
    case RecordType::dead: return decode_dead(head, in);
    case RecordType::stopping: {
      StoppingRecord r;
      if (!in.u32(r.queue) || !take_ref(in, r.ref) ||
          !take_noted(in, r.noted, (head.detail & kNoted) != 0) || in.remaining() != 0) {
        return std::nullopt;
      }
      return r;
    }
    case RecordType::lease: {
      LeaseRecord r;
      if (!in.u32(r.queue) || !take_ref(in, r.ref) || !in.i64(r.lease_until_boot_ms) ||
          !in.i64(r.lease_ms) || in.remaining() != 0) {
        return std::nullopt;
      }
      return r;
    }
    case RecordType::clock: {
      ClockRecord r;
      if (!in.i64(r.realtime_ms) || !in.i64(r.boottime_ms) || !in.u64(r.boot_id) ||
          in.remaining() != 0) {
        return std::nullopt;
      }
      return r;
    }
    case RecordType::marks: {
      MarksRecord r;
      if (!in.u64(r.next_id) || !in.u64(r.low_water) || in.remaining() != 0) return std::nullopt;
      return r;
    }
    case RecordType::closed:
      if (in.remaining() != 0) return std::nullopt;
      return ClosedRecord{};
  }
  return std::nullopt;
}

std::optional<Head> read_head(std::string_view bytes) {
  base::ByteReader in(bytes);
  std::uint32_t length = 0;
  std::uint8_t type = 0;
  std::uint8_t detail = 0;
  std::uint16_t small = 0;
  if (!in.u32(length) || !in.u8(type) || !in.u8(detail) || !in.u16(small) || length < kHead) {
    return std::nullopt;
  }
  return Head{length, static_cast<RecordType>(type), detail, small};
}

}  // namespace

std::optional<Record> take_record(std::string_view& in) {
  const auto head = read_head(in);
  if (!head || head->length > in.size()) return std::nullopt;
  const std::string_view whole = in.substr(0, head->length);
  in.remove_prefix(head->length);
  return decode(*head, whole);
}

std::optional<PutRecord> take_put(std::string_view& in) {
  const auto head = read_head(in);
  if (!head || head->type != RecordType::put || head->length > in.size()) return std::nullopt;
  auto put = decode_put_from(*head, in.substr(0, head->length));
  if (put) in.remove_prefix(head->length);
  return put;
}

std::optional<PutRecord> decode_put(std::string_view bytes) {
  const auto head = read_head(bytes);
  if (!head || head->type != RecordType::put) return std::nullopt;
  return decode_put_from(*head, bytes.substr(0, head->length));
}

bool payload_checks(const PutRecord& record) noexcept {
  return !record.damaged && base::crc32c(record.payload) == record.payload_crc;
}

std::optional<Ref> put_ref_of(std::string_view bytes) noexcept {
  if (!begins_put(bytes)) return std::nullopt;
  return ref_at(bytes.data() + kPutRefAt);
}

std::optional<std::uint32_t> put_payload_bytes(std::string_view bytes) noexcept {
  if (!begins_put(bytes)) return std::nullopt;
  return base::load_u32(bytes.data() + kPutPayloadLengthAt);
}

std::size_t record_length(std::string_view bytes) noexcept {
  return bytes.size() < kHead ? 0 : base::load_u32(bytes.data());
}

}  // namespace tarry::embedded
