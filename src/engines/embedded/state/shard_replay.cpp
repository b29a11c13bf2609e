// Replay: checks each record for values that would break the state, then evolves it.
#include <optional>
#include <string>
#include <string_view>

#include "core/settings_table.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {
namespace {

// A due time's 48 bits and a duration: far above what is accepted, and far below values of which
// two would overflow when added.
bool is_sane(std::int64_t ms) noexcept {
  constexpr std::int64_t kLimit = std::int64_t{1} << 50;
  return ms > -kLimit && ms < kLimit;
}
bool is_sane(std::optional<std::int64_t> ms) noexcept { return is_sane(ms.value_or(0)); }
bool is_sane(const QueueRecord& record) noexcept {
  bool sane = is_sane(record.paused_until_ms);
  core::each_setting_of<core::DurationSetting>([&](const auto& row) {
    const std::int64_t ms = (record.settings.*row.value).count();
    sane = sane && ms >= 0 && is_sane(ms);
  });
  return sane;
}

// If the message waits to be claimed, these fields are left from before and mean nothing.
bool is_sane(const Carried& carried) noexcept {
  return carried.stage == Stage::scheduled ||
         (is_sane(carried.until_ms) && is_sane(carried.stamp_ms));
}

constexpr std::string_view kInsane = "a time is out of range";

Unexpected broken(std::string_view what) { return {ErrorCode::damaged, std::string(what)}; }

}  // namespace

void ShardState::begin_replay() noexcept {
  replaying_ = true;
  slab.begin_replay();
}

Result<void> ShardState::replay(const PutRecord& put, std::uint64_t segment, std::uint64_t offset) {
  if (put.queue >= queues_.size() || !queues_[put.queue]->is_there()) {
    return broken("a message is of an unknown queue");
  }
  const Handle handle = put.ref.handle;
  if (slab.is_live(handle)) {
    if (!slab.holds(handle, put.ref.id)) return broken("two messages have one place");
    if (slab[handle].queue != put.queue) return broken("a message changed its queue");
  }
  if (put.carried && put.carried->stage == Stage::ready) return broken("unknown stage");
  if (!is_sane(put.boot_due_ms) || !is_sane(put.pushed_ms)) return broken(kInsane);
  if (put.carried && !is_sane(*put.carried)) return broken(kInsane);
  evolve(put, segment, Position(segment, offset, encoded_size(put)));
  return {};
}

Result<void> ShardState::replay(const Record& record, std::uint64_t segment, std::uint64_t offset) {
  const auto known = [&](QueueId queue) {
    return queue < queues_.size() && queues_[queue]->is_there();
  };
  constexpr std::string_view kUnknownQueue = "unknown queue";
  constexpr std::string_view kOtherQueue = "a record names another queue than its message's";
  const auto elsewhere = [&](const Ref& ref, QueueId queue) {
    return slab.holds(ref.handle, ref.id) && slab[ref.handle].queue != queue;
  };

  if (const auto* queue = std::get_if<QueueRecord>(&record)) {
    if (queue->queue > queues_.size()) return broken("a queue's number is out of order");
    const bool there = known(queue->queue);
    if (queue->frees()) {
      if (there && queues_[queue->queue]->messages() != 0) {
        return broken("a queue that is gone has messages");
      }
    } else {
      if (queue->name.empty()) return broken("a queue has no name");
      if (there && queues_[queue->queue]->name != queue->name) {
        return broken("two queues have one number");
      }
      if (!there && find_queue(queue->name) != kNoQueue) return broken("a queue has two numbers");
    }
    if (!is_sane(*queue)) return broken(kInsane);
    evolve(*queue);
  } else if (const auto* put = std::get_if<PutRecord>(&record)) {
    return replay(*put, segment, offset);
  } else if (const auto* due = std::get_if<DueRecord>(&record)) {
    if (!known(due->queue)) return broken(kUnknownQueue);
    if (elsewhere(due->ref, due->queue)) return broken(kOtherQueue);
    if (!is_sane(due->boot_due_ms)) return broken(kInsane);
    evolve(*due);
  } else if (const auto* claimed = std::get_if<ClaimedRecord>(&record)) {
    if (!known(claimed->queue)) return broken(kUnknownQueue);
    if (!is_sane(claimed->lease_until_boot_ms) || !is_sane(claimed->lease_ms)) {
      return broken(kInsane);
    }
    for (const ClaimedItem& item : claimed->items) {
      if (elsewhere(item.ref, claimed->queue)) return broken(kOtherQueue);
      evolve(*claimed, item);
    }
    count_claims(claimed->queue, claimed->items.size());
  } else if (const auto* back = std::get_if<BackRecord>(&record)) {
    if (!known(back->queue)) return broken(kUnknownQueue);
    if (elsewhere(back->ref, back->queue)) return broken(kOtherQueue);
    if (!is_sane(back->boot_due_ms)) return broken(kInsane);
    evolve(*back);
  } else if (const auto* gone = std::get_if<GoneRecord>(&record)) {
    if (!known(gone->queue)) return broken(kUnknownQueue);
    for (const Ref ref : gone->items) {
      if (elsewhere(ref, gone->queue)) return broken(kOtherQueue);
      evolve(gone->why, gone->queue, ref);
    }
  } else if (const auto* remembered = std::get_if<RememberedRecord>(&record)) {
    if (!known(remembered->queue)) return broken(kUnknownQueue);
    if (!is_sane(remembered->settled_ms) || !is_sane(remembered->until_ms)) return broken(kInsane);
    for (const Ref ref : remembered->items) {
      if (elsewhere(ref, remembered->queue)) return broken(kOtherQueue);
      evolve(remembered->ending, remembered->queue, remembered->settled_ms, remembered->until_ms,
             ref);
    }
  } else if (const auto* dead = std::get_if<DeadRecord>(&record)) {
    if (!known(dead->queue)) return broken(kUnknownQueue);
    if (elsewhere(dead->ref, dead->queue)) return broken(kOtherQueue);
    if (!is_sane(dead->since_ms) || !is_sane(dead->until_ms)) return broken(kInsane);
    evolve(*dead);
  } else if (const auto* stopping = std::get_if<StoppingRecord>(&record)) {
    if (elsewhere(stopping->ref, stopping->queue)) return broken(kOtherQueue);
    evolve(*stopping);
  } else if (const auto* lease = std::get_if<LeaseRecord>(&record)) {
    if (elsewhere(lease->ref, lease->queue)) return broken(kOtherQueue);
    if (!is_sane(lease->lease_until_boot_ms) || !is_sane(lease->lease_ms)) return broken(kInsane);
    evolve(*lease);
  } else if (const auto* clock = std::get_if<ClockRecord>(&record)) {
    evolve(*clock);
  } else if (const auto* marks = std::get_if<MarksRecord>(&record)) {
    if (marks->low_water > segment) return broken("the low-water mark is above its segment");
    evolve(*marks);
  }
  return {};
}

void ShardState::finish_replay(timing::Instant now) {
  replaying_ = false;
  same_boot_ = true;
  slab.rebuild_free_list();
  // Equal due times must come out in push order, and the wheel keeps the order of insertion. Handle
  // order is not id order, so the lanes' heaps correct what the wheel gives out in between.
  for (Handle handle = 0; handle < slab.end(); ++handle) {
    if (!slab.is_live(handle)) continue;
    Message& message = slab[handle];
    if (message.stage() == Stage::leased) {
      History& history = histories[message.history];
      if (history.until_ms == kOtherBoot) {
        history.until_ms = now.boottime_ms + history.stamp_ms;
        renewed_leases_.push_back(handle);
      }
    }
    arm(handle);
  }
  live.measure_growth();
}

}  // namespace tarry::embedded
