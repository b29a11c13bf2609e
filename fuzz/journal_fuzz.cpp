// The journal: records, segments, and the recovery of a shard from them.
//
// Checksums would keep a fuzzer out, so the first byte says how much of the journal is its own:
// a segment's bytes behind a good header, the records of batches that are sealed for it, or records
// put together field by field, whose numbers meet.
//
// Held: whatever is decoded is encoded again, the same; recovery answers a state or `damaged`, the
// same read-only as not; what it leaves of a journal that the writer could have written is
// recovered again to the same state, with no torn tail; the state's figures agree with its
// messages, and its wheels can run.
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/records/records.h"
#include "fuzz/input.h"
#include "support/disks/disk_files.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/journal.h"
#include "support/embedded/state.h"

namespace tarry::embedded::fuzz {
namespace {

using tarry::fuzz::Input;

std::string encoded(const Record& record) {
  std::string bytes;
  append_record(bytes, record);
  return bytes;
}

// Flags that nobody knows are dropped by decoding: so it is the second text that must stand.
void check_records(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view before = bytes;
    const auto record = take_record(bytes);
    if (!record) return;
    TARRY_ASSERT(bytes.size() < before.size());
    const std::string once = encoded(*record);
    TARRY_ASSERT(once.size() == encoded_size(*record));
    TARRY_ASSERT(once.size() == before.size() - bytes.size());
    std::string_view rest = once;
    const auto again = take_record(rest);
    TARRY_ASSERT(again && rest.empty() && encoded(*again) == once);
    if (const auto* put = std::get_if<PutRecord>(&*record)) {
      const auto decoded = decode_put(before);
      TARRY_ASSERT(decoded && decoded->ref == put->ref && decoded->payload == put->payload);
    }
  }
}

/// Builds segments, batch by batch, as the journal's writer frames them.
class Builder {
 public:
  explicit Builder(Input input) : input_(input), state_(test::Recovery::identity(1), kNow) {
    state_.begin_replay();
    begin_segment({});
  }

  /// Records are the fuzzer's bytes as they are.
  void raw() {
    while (!input_.empty()) {
      const std::uint8_t step = input_.u8();
      std::size_t size = step;
      if (step >= 0xE0) size = std::size_t{step - 0xE0u} << 8 | input_.u8();
      body_ += input_.bytes(size);
      if (input_.flag()) end_batch();
    }
    end_batch();
  }

  /// Records of any content; `lawful`: those that the writer could have written, that is, none that
  /// replay refuses, copies that are copies, and segments that open with all that came before.
  void by_field(bool lawful) {
    lawful_ = lawful;
    while (!input_.empty() && records_ < kMostRecords) {
      const std::uint32_t step = input_.below(18);
      if (step >= 15) {
        end_batch();
        if (step == 17) next_segment();
        continue;
      }
      ++records_;
      append(record(step));
    }
    end_batch();
  }

  /// What recovery leaves of it must be recovered to the same.
  [[nodiscard]] bool stands() const { return lawful_ || segments_.size() == 1; }

  void store(storage::Directory& directory) {
    finish_segment();
    for (const auto& [number, bytes] : segments_) {
      test::write_all(directory, segment_name(number), bytes);
    }
  }

 private:
  static constexpr std::size_t kMostRecords = 500;
  static constexpr std::size_t kMostSegments = 6;
  // A place beyond all others is taken at its word, and costs RAM for all the places before it.
  static constexpr std::uint32_t kHandles = 12;

  void append(Record record) {
    if (lawful_) {
      if (auto* put = std::get_if<PutRecord>(&record)) as_copy(*put);
      if (auto* clock = std::get_if<ClockRecord>(&record)) clock->boot_id = test::kBootId;
      if (auto* marks = std::get_if<MarksRecord>(&record)) marks->low_water = oldest_needed();
      if (!state_.replay(record, header_.segment, bytes_.size())) return;
      if (const auto* put = std::get_if<PutRecord>(&record)) puts_[put->ref.handle] = *put;
    }
    append_record(body_, record);
  }

  // A put of a message that is there: what cleaning would write of it.
  void as_copy(PutRecord& put) {
    if (!state_.slab.holds(put.ref.handle, put.ref.id)) return;
    const Message& message = state_.slab[put.ref.handle];
    put = puts_[put.ref.handle];
    put.copy = true;
    put.due_ms = message.due_ms();
    put.priority = message.priority;
    put.boot_due_ms = state_.boot_due_ms(message);
    put.expiry = state_.own.expiry(put.ref.handle);
    // A message that was remembered has left its group for good.
    if (state_.queue(put.queue).lanes.group_of(put.ref.handle) == nullptr) put.group = {};
    put.carried = state_.carried(put.ref.handle);
  }

  [[nodiscard]] std::uint64_t oldest_needed() const {
    std::uint64_t segment = 1;
    while (segment < header_.segment && state_.live.of(segment).messages == 0) ++segment;
    return segment;
  }

  void begin_segment(Seal seal) {
    header_.store_id = test::kStoreId;
    header_.segment = segments_.size() + 1;
    header_.salt = 0xA1B2'C3D4'0000'0000 + header_.segment;
    header_.first_batch = next_batch_;
    header_.seal = seal;
    bytes_ = encode(header_);
  }
  void finish_segment() { segments_.emplace_back(header_.segment, bytes_); }

  void next_segment() {
    if (segments_.size() + 1 >= kMostSegments) return;
    finish_segment();
    begin_segment({header_.segment, bytes_.size(), next_batch_ - 1, input_.flag()});
    if (lawful_) state_.append_opening(body_, kNow);
  }

  void end_batch() {
    if (body_.empty()) return;
    std::string batch(kBatchHeaderBytes, '\0');
    batch += body_;
    BatchHeader header;
    header.salt = header_.salt;
    header.number = next_batch_++;
    header.durable = input_.flag() ? input_.below(static_cast<std::uint32_t>(header.number)) : 0;
    header.realtime_ms = timing::ManualClock::kStart.realtime_ms;
    header.body_bytes = static_cast<std::uint32_t>(body_.size());
    seal_batch(batch, header);
    bytes_ += batch;
    body_.clear();
  }

  Ref ref() { return {input_.below(kHandles), input_.number()}; }
  std::vector<Ref> refs() {
    // Replay refuses a run in its middle.
    std::vector<Ref> refs(lawful_ ? 1 : 1 + input_.below(4));
    for (Ref& one : refs) one = ref();
    return refs;
  }
  std::uint32_t queue() { return input_.below(4); }
  std::int64_t due() {
    const std::int64_t near = timing::ManualClock::kStart.realtime_ms;
    return input_.flag() ? near + input_.u8() : input_.i64() & ((std::int64_t{1} << 48) - 1);
  }
  std::int64_t time() {
    const std::int64_t near = timing::ManualClock::kStart.boottime_ms;
    return input_.flag() ? near + input_.u8() : input_.i64();
  }
  std::optional<std::int64_t> maybe_time() {
    if (input_.flag()) return time();
    return std::nullopt;
  }
  template <typename Enum>
  Enum one_of(Enum last) {
    return static_cast<Enum>(input_.below(static_cast<std::uint32_t>(last) + 1));
  }

  std::optional<Noted> maybe_noted() {
    if (!input_.flag()) return std::nullopt;
    const std::int64_t at_ms = time();
    return Noted{at_ms, event_text(input_.text())};
  }
  // Without a time there is no expiry, and nothing expires before it is due.
  core::Expiry expiry() {
    const std::int64_t at_ms = time();
    if (at_ms == 0 || !input_.flag()) return {at_ms, 0};
    return {at_ms, std::max<std::int64_t>(time(), 0)};
  }
  Grouping grouping() {
    switch (input_.below(3)) {
      case 0: return {};
      case 1: return {Grouping::By::key, {}};
      default: return {Grouping::By::header, "g"};
    }
  }

  QueueRecord queue_record() {
    QueueRecord r;
    r.queue = queue();
    r.name = input_.flag() ? kNames[r.queue] : input_.text();
    r.settings.lease = Millis(input_.i64());
    r.settings.max_attempts = input_.u32();
    if (input_.flag()) {
      r.settings.history = input_.below(4);
      r.settings.max_leased = input_.below(3);
      r.settings.group = grouping();
      r.settings.group_max_leased = input_.below(3);
      r.settings.group_order = one_of(GroupOrder::push);
    }
    if (input_.flag()) r.settings.expire = Millis(time());
    r.paused = input_.flag();
    r.paused_until_ms = maybe_time();
    if (input_.flag()) r.counters = QueueCounters{};
    return r;
  }
  PutRecord put_record() {
    PutRecord r;
    r.ref = ref();
    r.queue = queue();
    r.due_ms = due();
    r.priority = input_.u32();
    r.max_attempts = static_cast<std::uint16_t>(input_.number());
    const std::uint8_t flags = input_.u8();
    r.generated_key = (flags & 1) != 0;
    r.copy = (flags & 2) != 0;
    r.damaged = (flags & 4) != 0;
    if ((flags & 8) != 0) r.boot_due_ms = time();
    if ((flags & 32) != 0) r.pushed_ms = time();
    if ((flags & 64) != 0) r.expiry = expiry();
    if ((flags & 16) != 0) {
      Carried c;
      c.stage = static_cast<Stage>(1 + input_.below(5));
      c.stopping = input_.flag();
      c.ending = one_of(Ending::expired);
      c.attempt = input_.u32();
      c.tallies.claims = input_.u32();
      c.until_ms = time();
      c.stamp_ms = time();
      c.reason = input_.text();
      r.carried = c;
    }
    if (!r.generated_key) r.key = input_.text();
    r.headers = input_.text();
    if ((flags & 128) != 0 && !r.headers.empty()) {
      const auto size = static_cast<std::uint32_t>(r.headers.size());
      const std::uint32_t at = input_.below(size);
      r.group = {static_cast<std::uint32_t>(r.key.size()) + at, 1 + input_.below(size - at)};
    }
    r.payload = input_.text();
    r.payload_crc = base::crc32c(r.payload);
    return r;
  }
  ClaimedRecord claimed_record() {
    ClaimedRecord r{queue(), time(), time(), {}};
    for (const Ref ref : refs()) r.items.push_back({ref, input_.u32(), input_.u32()});
    r.noted = maybe_noted();
    return r;
  }

  // Braces take the fields in their order.
  Record record(std::uint32_t type) {
    switch (static_cast<RecordType>(type)) {
      case RecordType::queue: return queue_record();
      case RecordType::due:
        return DueRecord{ref(),         queue(),      due(),        input_.u32(),
                         input_.flag(), maybe_time(), maybe_noted()};
      case RecordType::claimed: return claimed_record();
      case RecordType::back:
        return BackRecord{one_of(BackWhy::run_out),
                          ref(),
                          queue(),
                          due(),
                          input_.u32(),
                          input_.u32(),
                          maybe_time(),
                          maybe_noted()};
      case RecordType::gone: return GoneRecord{one_of(GoneWhy::forgotten), queue(), refs()};
      case RecordType::remembered:
        return RememberedRecord{
            one_of(Ending::expired), queue(), time(), time(), refs(), input_.flag()};
      case RecordType::dead:
        return DeadRecord{one_of(DeadWhy::expired),
                          ref(),
                          queue(),
                          time(),
                          time(),
                          input_.u32(),
                          input_.text(),
                          input_.flag()};
      case RecordType::stopping: return StoppingRecord{queue(), ref(), maybe_noted()};
      case RecordType::lease: return LeaseRecord{queue(), ref(), time(), time()};
      case RecordType::clock: return ClockRecord{time(), time(), input_.number()};
      case RecordType::marks: return MarksRecord{input_.number(), input_.number()};
      case RecordType::closed: return ClosedRecord{};
      case RecordType::put: break;
    }
    return put_record();
  }

  static constexpr std::string_view kNames[] = {"q", "r", "s", "t"};

  static constexpr timing::Instant kNow = timing::ManualClock::kStart;

  Input input_;
  ShardState state_;                  // of the records written so far; lawful ones only
  std::map<Handle, PutRecord> puts_;  // of the messages that are there
  bool lawful_ = false;
  SegmentHeader header_;
  std::string bytes_;
  std::string body_;
  std::uint64_t next_batch_ = 1;
  std::size_t records_ = 0;
  std::vector<std::pair<std::uint64_t, std::string>> segments_;
};

// What the state counts is what is in it.
void check_figures(const ShardState& state) {
  std::map<std::pair<QueueId, Stage>, std::uint64_t> counted;
  std::uint64_t live = 0;
  std::uint64_t pending = 0;
  for (Handle handle = 0; handle < state.slab.end(); ++handle) {
    if (!state.slab.is_live(handle)) continue;
    const Message& message = state.slab[handle];
    ++live;
    ++counted[{message.queue, message.stage()}];
    if (message.stage() != Stage::dead && message.stage() != Stage::remembered) ++pending;
  }
  TARRY_ASSERT(state.pending() == pending && state.live.messages() == live);
  for (QueueId queue = 0; queue < state.queues.size(); ++queue) {
    for (const Stage stage :
         {Stage::scheduled, Stage::ready, Stage::leased, Stage::dead, Stage::remembered}) {
      TARRY_ASSERT(state.queue(queue).in(stage) == (counted[{queue, stage}]));
    }
  }
}

// All links of the wheels hold, and nodes whose time has come expire.
void check_wheels(ShardState& state) {
  state.due_wheel.check();
  state.lease_wheel.check();
  TARRY_ASSERT(state.due_wheel.size() + state.lease_wheel.size() == state.live.messages());
  std::size_t given = 0;
  state.due_wheel.advance_to(timing::ManualClock::kStart.realtime_ms + 86'400'000,
                             [&](Handle) { ++given; });
  state.lease_wheel.advance_to(timing::ManualClock::kStart.boottime_ms + 86'400'000,
                               [&](Handle) { ++given; });
  TARRY_ASSERT(given <= state.live.messages());
}

void check_same(const ShardState& state, const std::string& seen) {
  const std::string now = test::describe(state);
  if (now != seen) std::fprintf(stderr, "was:\n%s\nis:\n%s\n", seen.c_str(), now.c_str());
  TARRY_ASSERT(now == seen);
}

std::string look(storage::Directory& directory) {
  test::Recovery looked(directory, true);
  return looked.ok() ? test::describe(looked.state) : looked.error();
}

// Each recovery costs the slabs' first chunks, which is most of an execution: so only some look.
void check_recovery(storage::Directory& directory, bool looks, bool stands) {
  std::optional<std::string> looked;
  if (looks) looked = look(directory);
  std::string seen;
  {
    test::Recovery first(directory);
    if (!first.ok()) {
      TARRY_ASSERT(first.code() == ErrorCode::damaged || first.code() == ErrorCode::unsupported);
      TARRY_ASSERT(!first.error().empty() && first.error().find('\n') == std::string::npos);
      TARRY_ASSERT(!looked || *looked == first.error());
      return;
    }
    seen = test::describe(first.state);
    TARRY_ASSERT(!looked || *looked == seen);
    check_figures(first.state);
    check_wheels(first.state);
  }
  if (!stands) return;
  test::Recovery second(directory);
  if (!second.ok()) std::fprintf(stderr, "was:\n%s\n%s\n", seen.c_str(), second.error().c_str());
  TARRY_ASSERT(second.ok());
  check_same(second.state, seen);
  TARRY_ASSERT(second.result->report.torn_bytes == 0);
}

void check(Input input) {
  storage::VirtualDisk disk;
  const auto directory = disk.root();
  const std::uint8_t mode = input.u8() % 8;
  check_records(input.rest());
  bool stands = true;
  if (mode == 0) {
    SegmentHeader header;
    header.store_id = test::kStoreId;
    header.segment = 1;
    header.salt = 0xA1B2'C3D4'0000'0001;
    header.first_batch = 1;
    test::write_all(*directory, segment_name(1), encode(header) + std::string(input.rest()));
  } else if (mode == 1) {
    test::write_all(*directory, segment_name(1), input.rest());
    TARRY_ASSERT(segment_name(segment_number(input.rest())) == input.rest() ||
                 segment_number(input.rest()) == 0);
  } else {
    Builder builder(input);
    if (mode == 2) {
      builder.raw();
    } else {
      builder.by_field(mode % 2 != 0);
    }
    builder.store(*directory);
    stands = builder.stands();
  }
  check_recovery(*directory, input.rest().size() % 8 == 0, stands);
}

}  // namespace
}  // namespace tarry::embedded::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarry::embedded::fuzz::check(tarry::fuzz::Input(data, size));
  return 0;
}
