#include "engines/embedded/shard/verbs/sweeps.h"

#include <algorithm>
#include <utility>

#include "base/planted.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/shard/requests/part_items.h"

namespace tarry::embedded {

void Sweeps::begin(const OperationPtr& op, QueueId queue, Kind kind) {
  if (queue == kNoQueue) return shard_.job.end(op);
  sweeps_.push_back({op, queue, kind, shard_.state.next_id()});
}

void Sweeps::execute(const core::PurgeRequest& request, const Part& part) {
  begin(part.op, shard_.state.queues.find(request.queue), Kind::purge);
}

void Sweeps::execute(const core::ReviveRequest& request, const Part& part) {
  const QueueId queue = shard_.state.queues.find(request.queue);
  if (queue == kNoQueue || request.all) return begin(part.op, queue, Kind::revive);
  const std::size_t keys = item_count(part, request.keys.size());
  if (auto error = shard_.take_room(keys * kDueRecord, kDueRecord, Purpose::accept, {keys})) {
    part.op->fail(std::move(*error));
    return shard_.job.end(part.op);
  }
  std::uint64_t count = 0;
  each_item(part, request.keys.size(), [&](std::size_t i) {
    const Handle handle = shard_.keys.find(queue, core::view(request.bytes, request.keys[i]));
    if (handle != kNoHandle && revive(handle)) ++count;
  });
  end(part.op, count);
}

void Sweeps::remove(const OperationPtr& op, QueueId queue,
                    std::function<std::optional<Error>()> then) {
  sweeps_.push_back({op, queue, Kind::remove, shard_.state.next_id(), std::move(then)});
}

bool Sweeps::run_slice() {
  if (sweeps_.empty()) return false;
  Sweep& sweep = sweeps_.front();
  const Handle all = shard_.state.slab.end();
  const auto until = static_cast<Handle>(
      std::min<std::uint64_t>(all, std::uint64_t{sweep.cursor} + shard_.config.slices.sweep));
  std::optional<Error> error;
  for (; sweep.cursor < until && !error; ++sweep.cursor) {
    if (!shard_.state.slab.is_live(sweep.cursor)) continue;
    const Message& message = shard_.state.slab[sweep.cursor];
    if (message.queue != sweep.queue || message.id >= sweep.id_limit) continue;
    error = take_room(sweep.kind);
    if (!error && visit(sweep.cursor, sweep.kind)) ++sweep.count;
  }
  if (!error && sweep.cursor < all) return true;
  if (!error && sweep.then) error = sweep.then();
  if (error) sweep.op->fail(*std::move(error));
  end(sweep.op, sweep.count);
  sweeps_.pop_front();
  return !sweeps_.empty();
}

void Sweeps::fail_all(const Error& error) {
  for (const Sweep& sweep : std::exchange(sweeps_, {})) {
    sweep.op->fail(error);
    end(sweep.op, sweep.count);
  }
}

std::optional<Error> Sweeps::take_room(Kind kind) {
  if (kind == Kind::revive) {
    return shard_.take_room(kDueRecord, kDueRecord, Purpose::accept, {1});
  }
  return shard_.room.take(kGoneRecord, kDueRecord, Purpose::end);
}

bool Sweeps::visit(Handle handle, Kind kind) {
  switch (kind) {
    case Kind::purge: return purge(handle);
    case Kind::revive: return revive(handle);
    case Kind::remove: break;
  }
  return remove(handle);
}

bool Sweeps::purge(Handle handle) {
  const Stage stage = shard_.state.slab[handle].stage();
  const bool leased = stage == Stage::leased && TARRY_PLANTED_BUG(purge_takes_leased);
  if (stage != Stage::scheduled && stage != Stage::ready && stage != Stage::dead && !leased) {
    return false;
  }
  shard_.records.write_gone(GoneWhy::purged, handle);
  return true;
}

bool Sweeps::revive(Handle handle) {
  const Message& message = shard_.state.slab[handle];
  if (message.stage() != Stage::dead) return false;
  DueRecord record;
  record.ref = shard_.records.ref(handle);
  record.queue = message.queue;
  record.due_ms = shard_.now.realtime_ms;
  record.priority = message.priority;
  record.revived = true;
  shard_.records.write(record);
  return true;
}

bool Sweeps::remove(Handle handle) {
  const bool remembered = shard_.state.slab[handle].stage() == Stage::remembered;
  shard_.records.write_gone(remembered ? GoneWhy::forgotten : GoneWhy::purged, handle);
  return !remembered;
}

void Sweeps::end(const OperationPtr& op, std::uint64_t count) {
  if (count > 0) {
    shard_.job.end_changing(op, count);
  } else {
    shard_.job.end(op);
  }
}

}  // namespace tarry::embedded
