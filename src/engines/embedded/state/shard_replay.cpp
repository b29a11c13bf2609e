// Replay: checks each record for values that would break the state, then evolves it.
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/settings/settings_table.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {
namespace {

// The limit for a time in a record: a due time of 48 bits plus a duration. It is far above all
// accepted times, and the sum of two such times cannot overflow.
bool is_sane(std::int64_t ms) noexcept {
  constexpr std::int64_t kLimit = std::int64_t{1} << 50;
  return ms > -kLimit && ms < kLimit;
}
bool is_sane(std::optional<std::int64_t> ms) noexcept { return is_sane(ms.value_or(0)); }
bool is_sane(const std::optional<Noted>& noted) noexcept { return !noted || is_sane(noted->at_ms); }
bool is_sane(const QueueRecord& record) noexcept {
  bool sane = is_sane(record.paused_until_ms);
  core::each_setting_of<core::DurationSetting>([&](const auto& row) {
    const std::int64_t ms = (record.settings.*row.value).count();
    sane = sane && ms >= 0 && is_sane(ms);
  });
  const std::int64_t expire = record.settings.expire.count();
  return sane && expire >= 0 && is_sane(expire);
}

// If the message is scheduled or ready, these fields are left over and mean nothing.
bool is_sane(const Carried& carried) noexcept {
  return carried.stage == Stage::scheduled ||
         (is_sane(carried.until_ms) && is_sane(carried.stamp_ms));
}

constexpr std::string_view kInsane = "a time is out of range";

Unexpected broken(std::string_view what) { return {ErrorCode::damaged, std::string(what)}; }

// Checks a record, and lets it change the state unless that would break the state.
class Replay {
 public:
  Replay(ShardState& state, std::uint64_t segment, std::uint64_t offset)
      : state_(state), segment_(segment), offset_(offset) {}

  Result<void> operator()(const PutRecord& put) { return state_.replay(put, segment_, offset_); }
  Result<void> operator()(const QueueRecord& record) {
    if (record.queue > state_.queues.size()) return broken("a queue's number is out of order");
    const QueueState* there = is_known(record.queue) ? &state_.queue(record.queue) : nullptr;
    if (record.frees()) {
      if (there != nullptr && there->messages() != 0) {
        return broken("a queue that is gone has messages");
      }
    } else if (record.name.empty()) {
      return broken("a queue has no name");
    } else if (there != nullptr && there->name != record.name) {
      return broken("two queues have one number");
    } else if (there == nullptr && state_.queues.find(record.name) != kNoQueue) {
      return broken("a queue has two numbers");
    }
    if (!is_sane(record)) return broken(kInsane);
    state_.evolve(record);
    return {};
  }
  Result<void> operator()(const ClaimedRecord& record) {
    if (!is_known(record.queue)) return broken(kUnknownQueue);
    if (!is_sane(record.lease_until_boot_ms) || !is_sane(record.lease_ms) ||
        !is_sane(record.noted)) {
      return broken(kInsane);
    }
    for (const ClaimedItem& item : record.items) {
      if (is_elsewhere(item.ref, record.queue)) return broken(kOtherQueue);
      state_.evolve(record, item);
    }
    state_.count_claims(record.queue, record.items.size());
    return {};
  }
  Result<void> operator()(const GoneRecord& record) {
    if (!is_known(record.queue)) return broken(kUnknownQueue);
    for (const Ref ref : record.items) {
      if (is_elsewhere(ref, record.queue)) return broken(kOtherQueue);
      state_.evolve(record.why, record.queue, ref);
    }
    return {};
  }
  Result<void> operator()(const RememberedRecord& record) {
    if (!is_known(record.queue)) return broken(kUnknownQueue);
    if (!is_sane(record.settled_ms) || !is_sane(record.until_ms)) return broken(kInsane);
    for (const Ref ref : record.items) {
      if (is_elsewhere(ref, record.queue)) return broken(kOtherQueue);
      state_.evolve(record, ref);
    }
    return {};
  }
  Result<void> operator()(const DueRecord& record) {
    if (!is_known(record.queue)) return broken(kUnknownQueue);
    return evolve(record, is_sane(record.boot_due_ms) && is_sane(record.noted));
  }
  Result<void> operator()(const BackRecord& record) {
    if (!is_known(record.queue)) return broken(kUnknownQueue);
    return evolve(record, is_sane(record.boot_due_ms) && is_sane(record.noted));
  }
  Result<void> operator()(const DeadRecord& record) {
    if (!is_known(record.queue)) return broken(kUnknownQueue);
    return evolve(record, is_sane(record.since_ms) && is_sane(record.until_ms));
  }
  Result<void> operator()(const StoppingRecord& record) {
    return evolve(record, is_sane(record.noted));
  }
  Result<void> operator()(const LeaseRecord& record) {
    return evolve(record, is_sane(record.lease_until_boot_ms) && is_sane(record.lease_ms));
  }
  Result<void> operator()(const ClockRecord& record) {
    state_.evolve(record);
    return {};
  }
  Result<void> operator()(const MarksRecord& record) {
    if (record.low_water > segment_) return broken("the low-water mark is above its segment");
    state_.evolve(record);
    return {};
  }
  Result<void> operator()(const ClosedRecord& /*record*/) { return {}; }

 private:
  static constexpr std::string_view kUnknownQueue = "unknown queue";
  static constexpr std::string_view kOtherQueue = "a record names another queue than its message's";

  [[nodiscard]] bool is_known(QueueId queue) const {
    return queue < state_.queues.size() && state_.queue(queue).is_there();
  }
  [[nodiscard]] bool is_elsewhere(const Ref& ref, QueueId queue) const {
    return state_.slab.holds(ref.handle, ref.id) && state_.slab[ref.handle].queue != queue;
  }
  // Replays a record about one message.
  template <typename R>
  Result<void> evolve(const R& record, bool is_sane_record) {
    if (is_elsewhere(record.ref, record.queue)) return broken(kOtherQueue);
    if (!is_sane_record) return broken(kInsane);
    state_.evolve(record);
    return {};
  }

  ShardState& state_;
  std::uint64_t segment_;
  std::uint64_t offset_;
};

}  // namespace

void ShardState::begin_replay() noexcept {
  replaying_ = true;
  slab.begin_replay();
}

Result<void> ShardState::replay(const PutRecord& put, std::uint64_t segment, std::uint64_t offset) {
  if (put.queue >= queues.size() || !queues[put.queue].is_there()) {
    return broken("a message is of an unknown queue");
  }
  const Handle handle = put.ref.handle;
  if (slab.is_live(handle)) {
    if (!slab.holds(handle, put.ref.id)) return broken("two messages have one place");
    if (slab[handle].queue != put.queue) return broken("a message changed its queue");
  }
  if (put.carried && put.carried->stage == Stage::ready) return broken("unknown stage");
  if (!is_sane(put.boot_due_ms) || !is_sane(put.pushed_ms)) return broken(kInsane);
  if (!is_sane(put.expiry.at_ms) || !is_sane(put.expiry.after_ms)) return broken(kInsane);
  if (put.carried && !is_sane(*put.carried)) return broken(kInsane);
  evolve(put, segment, Position(segment, offset, encoded_size(put)));
  return {};
}

Result<void> ShardState::replay(const Record& record, std::uint64_t segment, std::uint64_t offset) {
  return std::visit(Replay(*this, segment, offset), record);
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
