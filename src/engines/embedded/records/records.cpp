#include "engines/embedded/records/records.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "engines/embedded/records/record_layout.h"

namespace tarry::embedded {
namespace {

using namespace record_layout;

/// Lengthens `out` by a record and fills in its head; the caller fills in the rest through the
/// result.
base::ByteFiller begin(std::string& out, std::size_t length, RecordType type, std::uint8_t detail,
                       std::size_t small) {
  const std::size_t start = out.size();
  out.resize(start + length);
  base::ByteFiller to(out.data() + start);
  to.u32(static_cast<std::uint32_t>(length));
  to.u8(static_cast<std::uint8_t>(type));
  to.u8(detail);
  to.u16(static_cast<std::uint16_t>(small));
  return to;
}

void put_ref(base::ByteFiller& to, Ref ref) {
  to.u32(ref.handle);
  to.u64(ref.id);
}

// -- sizes

std::size_t size_of(const QueueRecord& r) {
  return kQueueFixed - kSettingsBytes + settings_bytes(r.settings) + r.name.size() +
         (r.counters ? kCountersBytes : 0);
}
std::size_t size_of(const PutRecord& r) {
  return kPutFixedBytes + (r.boot_due_ms ? kBootDueField : 0) + (r.pushed_ms ? kPushedField : 0) +
         (r.expiry.any() ? kExpiryField : 0) + (r.group.any() ? kGroupField : 0) +
         (r.carried ? kCarriedFixed + r.carried->reason.size() + r.carried->events.size() : 0) +
         r.key.size() + r.headers.size() + r.payload.size();
}
std::size_t size_of(const std::optional<Noted>& noted) {
  return noted ? kNotedFixed + noted->text.size() : 0;
}
std::size_t size_of(const DueRecord& r) {
  return kDueFixed + (r.boot_due_ms ? kBootDueField : 0) + size_of(r.noted);
}
std::size_t size_of(const ClaimedRecord& r) {
  return kClaimedFixed + r.items.size() * kClaimedItemBytes + size_of(r.noted);
}
std::size_t size_of(const BackRecord& r) {
  return kBackFixed + (r.boot_due_ms ? kBootDueField : 0) + size_of(r.noted);
}
std::size_t size_of(const GoneRecord& r) { return kGoneFixed + r.items.size() * kRefBytes; }
std::size_t size_of(const RememberedRecord& r) {
  return kRememberedFixed + r.items.size() * kRefBytes;
}
std::size_t size_of(const DeadRecord& r) { return kDeadFixed + r.reason.size(); }
std::size_t size_of(const StoppingRecord& r) { return kStoppingBytes + size_of(r.noted); }
std::size_t size_of(const LeaseRecord&) { return kLeaseBytes; }
std::size_t size_of(const ClockRecord&) { return kHead + 8 + 8 + 8; }
std::size_t size_of(const MarksRecord&) { return kHead + 8 + 8; }
std::size_t size_of(const ClosedRecord&) { return kHead; }

// -- encoding

void encode(std::string& out, const QueueRecord& r) {
  // Recovery would take any other value for damage, and the store could not be opened again.
  TARRY_ASSERT(r.settings.if_exists <= IfExists::later);
  const auto detail =
      static_cast<std::uint8_t>((r.paused ? kPaused : 0) | (r.paused_until_ms ? kPausedUntil : 0) |
                                (r.counters ? kCounters : 0) | (r.removed ? kRemoved : 0));
  base::ByteFiller to = begin(out, size_of(r), RecordType::queue, detail, r.name.size());
  to.u32(r.queue);
  write_settings(to, r.settings);
  to.i64(r.paused_until_ms.value_or(0));
  if (r.counters) {
    QueueCounters counters = *r.counters;
    each_counter(counters, [&](std::uint64_t& field) { to.u64(field); });
  }
  to.bytes(r.name);
}

void encode_carried(base::ByteFiller& to, const Carried& c) {
  to.u8(static_cast<std::uint8_t>(c.stage));
  to.u8(c.stopping ? 1 : 0);
  to.u8(static_cast<std::uint8_t>(c.ending));
  to.u8(c.event_count);
  to.u32(c.attempt);
  Tallies tallies = c.tallies;
  each_tally(tallies, [&](std::uint32_t& field) { to.u32(field); });
  to.i64(c.until_ms);
  to.i64(c.stamp_ms);
  to.u32(static_cast<std::uint32_t>(c.reason.size()));
  to.bytes(c.reason);
  to.bytes(c.events);
}

template <typename Detail>
std::uint8_t with_noted(Detail detail, bool noted) {
  return static_cast<std::uint8_t>(static_cast<int>(detail) | (noted ? kNotedToo : 0));
}

void put_noted(base::ByteFiller& to, const std::optional<Noted>& noted) {
  if (!noted) return;
  to.i64(noted->at_ms);
  to.u8(static_cast<std::uint8_t>(noted->text.size()));
  to.bytes(noted->text);
}

void encode(std::string& out, const PutRecord& r) {
  const auto detail = static_cast<std::uint8_t>(
      (r.generated_key ? kGeneratedKey : 0) | (r.boot_due_ms ? kBootDue : 0) |
      (r.carried ? kCarried : 0) | (r.copy ? kCopy : 0) | (r.damaged ? kDamaged : 0) |
      (r.pushed_ms ? kPushed : 0) | (r.expiry.any() ? kExpires : 0) |
      (r.group.any() ? kGrouped : 0));
  const std::size_t size = size_of(r);
  base::ByteFiller to = begin(out, size, RecordType::put, detail, r.key.size());
  put_ref(to, r.ref);
  to.u32(r.queue);
  to.i64(r.due_ms);
  to.u32(r.priority);
  to.u16(static_cast<std::uint16_t>(r.headers.size()));
  to.u16(r.max_attempts);
  to.u32(static_cast<std::uint32_t>(r.payload.size()));
  to.u32(r.payload_crc);
  to.u32(0);  // checksum of all but the payload, filled in below
  if (r.boot_due_ms) to.i64(*r.boot_due_ms);
  if (r.pushed_ms) to.i64(*r.pushed_ms);
  if (r.expiry.any()) {
    to.i64(r.expiry.at_ms);
    to.i64(r.expiry.after_ms);
  }
  if (r.group.any()) {
    to.u32(r.group.at);
    to.u32(r.group.size);
  }
  if (r.carried) encode_carried(to, *r.carried);
  to.bytes(r.key);
  to.bytes(r.headers);
  const std::size_t start = out.size() - size;
  const std::size_t before_payload = size - r.payload.size();
  const std::uint32_t crc = base::crc32c(std::string_view(out).substr(start, before_payload));
  base::store_u32(out.data() + start + kPutCrcAt, crc);
  to.bytes(r.payload);
}

void encode(std::string& out, const DueRecord& r) {
  const auto detail = static_cast<std::uint8_t>(
      (r.boot_due_ms ? kDueBoot : 0) | (r.revived ? kRevived : 0) | (r.noted ? kDueNoted : 0));
  base::ByteFiller to = begin(out, size_of(r), RecordType::due, detail, 0);
  put_ref(to, r.ref);
  to.u32(r.queue);
  to.i64(r.due_ms);
  to.u32(r.priority);
  if (r.boot_due_ms) to.i64(*r.boot_due_ms);
  put_noted(to, r.noted);
}

void encode(std::string& out, const ClaimedRecord& r) {
  base::ByteFiller to =
      begin(out, size_of(r), RecordType::claimed, r.noted ? kNoted : std::uint8_t{0}, 0);
  to.u32(r.queue);
  to.u32(static_cast<std::uint32_t>(r.items.size()));
  to.i64(r.lease_until_boot_ms);
  to.i64(r.lease_ms);
  for (const ClaimedItem& item : r.items) {
    put_ref(to, item.ref);
    to.u32(item.claims);
    to.u32(item.attempt);
  }
  put_noted(to, r.noted);
}

void encode(std::string& out, const BackRecord& r) {
  const int flags = (r.boot_due_ms ? kBackBoot : 0) | (r.noted ? kBackNoted : 0);
  base::ByteFiller to = begin(out, size_of(r), RecordType::back, static_cast<std::uint8_t>(r.why),
                              static_cast<std::size_t>(flags));
  put_ref(to, r.ref);
  to.u32(r.queue);
  to.i64(r.due_ms);
  to.u32(r.attempt);
  to.u32(r.priority);
  if (r.boot_due_ms) to.i64(*r.boot_due_ms);
  put_noted(to, r.noted);
}

void encode(std::string& out, const GoneRecord& r) {
  base::ByteFiller to =
      begin(out, size_of(r), RecordType::gone, static_cast<std::uint8_t>(r.why), 0);
  to.u32(r.queue);
  to.u32(static_cast<std::uint32_t>(r.items.size()));
  for (const Ref ref : r.items) put_ref(to, ref);
}

void encode(std::string& out, const RememberedRecord& r) {
  base::ByteFiller to =
      begin(out, size_of(r), RecordType::remembered, with_noted(r.ending, r.noted), 0);
  to.u32(r.queue);
  to.u32(static_cast<std::uint32_t>(r.items.size()));
  to.i64(r.settled_ms);
  to.i64(r.until_ms);
  for (const Ref ref : r.items) put_ref(to, ref);
}

void encode(std::string& out, const DeadRecord& r) {
  base::ByteFiller to =
      begin(out, size_of(r), RecordType::dead, with_noted(r.why, r.noted), r.reason.size());
  put_ref(to, r.ref);
  to.u32(r.queue);
  to.i64(r.since_ms);
  to.i64(r.until_ms);
  to.u32(r.priority);
  to.bytes(r.reason);
}

void encode(std::string& out, const StoppingRecord& r) {
  base::ByteFiller to =
      begin(out, size_of(r), RecordType::stopping, r.noted ? kNoted : std::uint8_t{0}, 0);
  to.u32(r.queue);
  put_ref(to, r.ref);
  put_noted(to, r.noted);
}

void encode(std::string& out, const LeaseRecord& r) {
  base::ByteFiller to = begin(out, size_of(r), RecordType::lease, 0, 0);
  to.u32(r.queue);
  put_ref(to, r.ref);
  to.i64(r.lease_until_boot_ms);
  to.i64(r.lease_ms);
}

void encode(std::string& out, const ClockRecord& r) {
  base::ByteFiller to = begin(out, size_of(r), RecordType::clock, 0, 0);
  to.i64(r.realtime_ms);
  to.i64(r.boottime_ms);
  to.u64(r.boot_id);
}

void encode(std::string& out, const MarksRecord& r) {
  base::ByteFiller to = begin(out, size_of(r), RecordType::marks, 0, 0);
  to.u64(r.next_id);
  to.u64(r.low_water);
}

void encode(std::string& out, const ClosedRecord&) {
  (void)begin(out, kHead, RecordType::closed, 0, 0);
}

}  // namespace

std::size_t encoded_size(const Record& record) noexcept {
  return std::visit([](const auto& r) { return size_of(r); }, record);
}
std::size_t encoded_size(const PutRecord& record) noexcept { return size_of(record); }

void append_record(std::string& out, const Record& record) {
  std::visit([&](const auto& r) { encode(out, r); }, record);
}
void append_record(std::string& out, const PutRecord& record) { encode(out, record); }

void extend_run(std::string& out, std::size_t record_start, Ref ref) {
  out.resize(out.size() + kRefBytes);
  char* const head = out.data() + record_start;
  base::store_u32(head, base::load_u32(head) + static_cast<std::uint32_t>(kRefBytes));
  base::store_u32(head + kRunCountAt, base::load_u32(head + kRunCountAt) + 1);
  base::ByteFiller to(out.data() + out.size() - kRefBytes);
  put_ref(to, ref);
}

}  // namespace tarry::embedded
