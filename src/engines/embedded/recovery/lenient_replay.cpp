#include "engines/embedded/recovery/lenient_replay.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/limits.h"

namespace tarry::embedded {

// Facts that are needed before the first message is placed.
struct LenientReplay::Survey final : JournalWalk::Visitor {
  QueueNames names;
  std::uint32_t queues = 0;
  std::uint64_t low_water = 0;

  void opening_lost() override {}
  void gap() override {}

  std::size_t batch(std::uint64_t /*segment*/, std::uint64_t /*body_offset*/,
                    std::string_view body) override {
    const std::size_t size = body.size();
    while (!body.empty()) {
      const std::size_t before = body.size();
      const auto record = take_record(body);
      if (!record) return size - before;
      if (const auto* queue = std::get_if<QueueRecord>(&*record)) {
        if (saw(queue->queue)) (void)names.tell(*queue, 0);
      } else if (const auto* put = std::get_if<PutRecord>(&*record)) {
        if (saw(put->queue)) (void)names.tell(*put);
      } else if (const auto* marks = std::get_if<MarksRecord>(&*record)) {
        low_water = std::max(low_water, marks->low_water);
      }
    }
    return size;
  }

  bool saw(std::uint32_t queue) {
    if (queue >= core::kMaxQueues) return false;
    queues = std::max(queues, queue + 1);
    return true;
  }
};

Result<LenientReplay::Figures> LenientReplay::run(
    const std::function<void(std::uint64_t)>& progress) {
  Survey survey;
  if (auto done = walk_->run(0, survey, progress); !done) return std::move(done).error();
  make_queues(survey.names, survey.queues);
  newest_segment_ = walk_->newest_segment();
  auto walked = walk_->run(survey.low_water, *this, progress);
  if (!walked) return std::move(walked).error();
  figures_.walk = std::move(*walked);
  finish();
  return std::move(figures_);
}

void LenientReplay::make_queues(const QueueNames& names, std::uint32_t count) {
  gaps_before_queue_.resize(count);
  figures_.queues_told_ms.resize(count);
  for (std::uint32_t number = 0; number < count; ++number) {
    std::string name;
    if (auto known = names.name(number)) {
      name = std::move(*known);
    } else {
      name = "salvaged-" + std::to_string(state_->identity().shard) + "-" + std::to_string(number);
      while (names.taken(name)) name += "-";  // ends: there are fewer names than lengths
      figures_.unnamed.push_back(number);
    }
    QueueRecord record;
    record.queue = number;
    record.name = name;
    record.removed = name.empty();
    state_->evolve(record);
  }
}

// Nobody knows whether the next batches were written in this boot. So their leases start again in
// full, which is never too short.
void LenientReplay::opening_lost() {
  state_->evolve(ClockRecord{0, 0, ~state_->identity().boot_id});
}

// Another run may have begun in the gap.
void LenientReplay::gap() {
  ++gaps_;
  opening_lost();
}

std::size_t LenientReplay::batch(std::uint64_t segment, std::uint64_t body_offset,
                                 std::string_view body) {
  const std::size_t size = body.size();
  while (!body.empty()) {
    const std::size_t at = size - body.size();
    const auto record = take_record(body);
    if (!record) return at;
    ++figures_.records;
    take(*record, segment, body_offset + at);
  }
  return size;
}

void LenientReplay::forget(Handle handle) {
  const Message& message = state_->slab[handle];
  state_->evolve(GoneWhy::forgotten, message.queue, Ref{handle, message.id});
}

bool LenientReplay::find(Ref ref, bool ends) {
  // The id was given to a message, even if that record is lost.
  state_->evolve(MarksRecord{ref.id / state_->identity().shards + 1, 0});
  if (state_->slab.holds(ref.handle, ref.id)) {
    gaps_before_[ref.handle] = gaps_;
    return true;
  }
  if (ends) {
    only_told_.erase(ref.id);
  } else {
    only_told_.insert(ref.id);
  }
  return false;
}

bool LenientReplay::has_key(Handle handle, const PutRecord& record) {
  const Message& message = state_->slab[handle];
  if (message.queue != record.queue) return false;
  const auto there = read_put(walk_->files(), message.position.segment(newest_segment_),
                              message.position, buffer_);
  return there && !there->generated_key && there->key == record.key;
}

void LenientReplay::put(const PutRecord& record, std::uint64_t segment, std::uint64_t offset) {
  const Handle handle = record.ref.handle;
  if (!known(record.queue) || handle > kMaxHandle) return;
  if (record.carried && record.carried->stage == Stage::ready) return;
  if (const auto ended = names_.tell(record)) end(*ended);
  if (state_->slab.is_live(handle)) forget(handle);
  if (!record.generated_key) {
    const Handle older =
        state_->index.find(state_->key_hash(record.queue, record.key),
                           [&](Handle candidate) { return has_key(candidate, record); });
    if (older != kNoHandle) forget(older);
  }
  state_->evolve(record, segment, Position(segment, offset, encoded_size(record)));
  if (gaps_before_.size() <= handle) gaps_before_.resize(std::size_t{handle} + 1);
  gaps_before_[handle] = gaps_;
  only_told_.erase(record.ref.id);
}

// If a number had several queues, the last one's name is set from the start.
void LenientReplay::take_queue(const QueueRecord& record) {
  if (!known(record.queue)) return;
  for (const QueueNames::Ended& ended : names_.tell(record, gaps_)) end(ended);
  if (record.frees() || state_->queue(record.queue).name != record.name) return;
  state_->evolve(record);
  gaps_before_queue_[record.queue] = gaps_;
  figures_.queues_told_ms[record.queue] = walk_->written_ms();
}

void LenientReplay::end(const QueueNames::Ended& ended) {
  QueueState& queue = state_->queue(ended.queue);
  queue.counters = {};
  if (queue.messages() == 0) return;
  for (Handle handle = 0; handle < state_->slab.end(); ++handle) {
    if (state_->slab.is_live(handle) && state_->slab[handle].queue == ended.queue &&
        gaps_before_[handle] <= ended.gap) {
      forget(handle);
    }
  }
}

void LenientReplay::take(const Record& record, std::uint64_t segment, std::uint64_t offset) {
  if (const auto* queue = std::get_if<QueueRecord>(&record)) {
    take_queue(*queue);
  } else if (const auto* full = std::get_if<PutRecord>(&record)) {
    put(*full, segment, offset);
  } else if (const auto* due = std::get_if<DueRecord>(&record)) {
    if (!known(due->queue)) return;
    find(due->ref, false);
    state_->evolve(*due);
  } else if (const auto* claimed = std::get_if<ClaimedRecord>(&record)) {
    if (!known(claimed->queue)) return;
    for (const ClaimedItem& item : claimed->items) {
      find(item.ref, false);
      state_->evolve(*claimed, item);
    }
    state_->count_claims(claimed->queue, claimed->items.size());
  } else if (const auto* back = std::get_if<BackRecord>(&record)) {
    if (!known(back->queue)) return;
    find(back->ref, false);
    state_->evolve(*back);
  } else if (const auto* gone = std::get_if<GoneRecord>(&record)) {
    if (!known(gone->queue)) return;
    for (const Ref ref : gone->items) {
      find(ref, true);
      state_->evolve(gone->why, gone->queue, ref);
    }
  } else if (const auto* remembered = std::get_if<RememberedRecord>(&record)) {
    if (!known(remembered->queue)) return;
    for (const Ref ref : remembered->items) {
      find(ref, true);
      state_->evolve(*remembered, ref);
    }
  } else if (const auto* dead = std::get_if<DeadRecord>(&record)) {
    if (!known(dead->queue)) return;
    find(dead->ref, false);
    state_->evolve(*dead);
  } else if (const auto* stopping = std::get_if<StoppingRecord>(&record)) {
    find(stopping->ref, false);
    state_->evolve(*stopping);
  } else if (const auto* lease = std::get_if<LeaseRecord>(&record)) {
    const Ref ref = lease->ref;
    // If its claim is lost, there is no lease to extend.
    if (find(ref, false) && state_->slab[ref.handle].stage() == Stage::leased) {
      state_->evolve(*lease);
    }
  } else if (const auto* clock = std::get_if<ClockRecord>(&record)) {
    state_->evolve(*clock);
  } else if (const auto* marks = std::get_if<MarksRecord>(&record)) {
    state_->evolve(*marks);
  }
}

void LenientReplay::finish() {
  for (Handle handle = 0; handle < state_->slab.end(); ++handle) {
    if (!state_->slab.is_live(handle)) continue;
    Message& message = state_->slab[handle];
    if (message.stage() == Stage::remembered) continue;
    if (message.stage() != Stage::leased) message.stopping = 0;
    if (gaps_before_[handle] != gaps_) ++figures_.uncertain_messages;
  }
  figures_.lost_messages = only_told_.size();
  for (QueueId id = 0; id < state_->queues.size(); ++id) {
    std::int64_t& told_ms = figures_.queues_told_ms[id];
    if (told_ms != 0 && gaps_before_queue_[id] == gaps_) told_ms = kNothingLost;
  }
  // Counts only messages that were found; lost ones neither exist nor ended.
  for (QueueId id = 0; id < state_->queues.size(); ++id) {
    QueueState& queue = state_->queue(id);
    QueueCounters& count = queue.counters;
    count.accepted = queue.in(Stage::scheduled) + queue.in(Stage::ready) + queue.in(Stage::leased) +
                     queue.in(Stage::dead) + count.acked + count.cancelled + count.replaced +
                     count.expired + count.purged + count.moved_away;
  }
}

}  // namespace tarry::embedded
