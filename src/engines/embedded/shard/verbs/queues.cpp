#include "engines/embedded/shard/verbs/queues.h"

#include <mutex>
#include <utility>

#include "core/rules/validation.h"
#include "core/settings/settings_table.h"
#include "engines/embedded/records/record_bounds.h"

namespace tarry::embedded {

// Each prepared segment will begin with the queue's record too, and so has less room.
std::uint64_t Queues::bytes_to_make(const std::string& name) const {
  if (shard_.state.queues.find(name) != kNoQueue) return 0;
  return kQueueRecord + shard_.journal.openings_grow_by(kQueueRecord + kCountersBytes);
}

Result<QueueId> Queues::find_or_make(const std::string& name) {
  const QueueId found = shard_.state.queues.find(name);
  if (found != kNoQueue) return found;
  const std::uint64_t most = shard_.config.limits.max_queues;
  if (shard_.state.queues.live() >= most) {
    return Unexpected(ErrorCode::no_space, "the store has its limit of " + std::to_string(most) +
                                               " queues; none was made");
  }
  QueueRecord record;
  record.queue = shard_.state.queues.next();
  record.name = name;
  shard_.records.write(record);
  return record.queue;
}

void Queues::write(QueueId queue, const QueueSettings& settings, bool paused,
                   std::optional<std::int64_t> until_ms) {
  QueueRecord record;
  record.queue = queue;
  record.name = shard_.state.queue(queue).name;
  record.settings = settings;
  record.paused = paused;
  record.paused_until_ms = until_ms;
  shard_.records.write(record);
}

void Queues::count_messages(const std::string& queue, const OperationPtr& op) const {
  const QueueId known = shard_.state.queues.find(queue);
  if (known == kNoQueue) return;
  const std::scoped_lock lock(op->merge);
  op->messages += shard_.state.queue(known).messages();
}

// Whether the queue was given another order, or removed, since the request was sent here.
bool Queues::comes_late(const core::ConfigureRequest& request, OrderStep step) const {
  if (!request.patch.group_order || shard_.state.identity().shards == 1) return false;
  const bool to_push = *request.patch.group_order == GroupOrder::push;
  const bool follows = step == OrderStep::none || (step == OrderStep::others && to_push);
  return follows && shard_.state.gated.homes().route(request.queue).at_home != to_push;
}

void Queues::execute(const core::ConfigureRequest& request, const Part& part) {
  const OperationPtr& op = part.op;
  if (op->order_step == OrderStep::look) {
    count_messages(request.queue, op);
    shard_.job.sync();  // else a power failure could bring back a message that has ended
    return shard_.job.end(op);
  }
  if (comes_late(request, op->order_step)) {
    op->fail(changes_order(request.queue));
    return shard_.job.end(op);
  }
  const QueueId known = shard_.state.queues.find(request.queue);
  const QueueSettings before =
      known == kNoQueue ? QueueSettings() : shard_.state.queue(known).settings;
  const std::uint64_t messages = known == kNoQueue ? 0 : shard_.state.queue(known).messages();
  const bool other_order =
      request.patch.group_order.value_or(before.group_order) != before.group_order;
  if (auto bad = core::check_patch(request.patch, before)) {  // then no queue is made
    op->fail(std::move(*bad));
  } else if (other_order && messages != 0) {
    op->fail(order_is_kept(request.queue, messages));
  } else if (auto error = shard_.room.take(bytes_to_make(request.queue) + kQueueRecord,
                                           kQueueRecord, Purpose::accept)) {
    op->fail(std::move(*error));
  } else if (auto queue = find_or_make(request.queue); !queue) {
    op->fail(std::move(queue).error());
  } else {
    const QueueState& state = shard_.state.queue(*queue);
    const QueueSettings settings = core::apply(request.patch, before);
    if (settings != before) {
      if (state.at_gate.is_limited()) state.at_gate.gate->fill(shard_.now.boottime_ms);
      write(*queue, settings, state.paused, state.paused_until_ms);
      if (op->order_step != OrderStep::none) shard_.job.sync();  // before the next step
      shard_.wake(*queue);                                       // a limit may be higher now
    }
    {
      const std::scoped_lock lock(op->merge);
      std::get<core::ConfigureReply>(op->reply).settings = settings;
    }
    if (settings != before) return shard_.job.end_changing(op);
  }
  shard_.job.end(op);
}

void Queues::execute(const core::PauseRequest& request, const Part& part) {
  const bool makes = shard_.state.queues.find(request.queue) == kNoQueue;
  const Purpose purpose = makes ? Purpose::accept : Purpose::work;
  if (auto error =
          shard_.room.take(bytes_to_make(request.queue) + kQueueRecord, kQueueRecord, purpose)) {
    part.op->fail(std::move(*error));
  } else if (auto queue = find_or_make(request.queue); !queue) {
    part.op->fail(std::move(queue).error());
  } else {
    std::optional<std::int64_t> until;
    if (request.until) until = request.until->time_since_epoch().count();
    write(*queue, shard_.state.queue(*queue).settings, true, until);
    if (shard_.state.queue(*queue).is_paused(shard_.now.realtime_ms)) {
      const std::scoped_lock lock(part.op->merge);
      ++std::get<core::CountReply>(part.op->reply).count;
    } else {
      shard_.wake(*queue);  // `until` has passed already
    }
    return shard_.job.end_changing(part.op);
  }
  shard_.job.end(part.op);
}

void Queues::execute(const core::ResumeRequest& request, const Part& part) {
  const QueueId queue = shard_.state.queues.find(request.queue);
  if (queue == kNoQueue || !shard_.state.queue(queue).paused) {
    shard_.job.end(part.op);
    return;
  }
  if (auto error = shard_.room.take(kQueueRecord, kQueueRecord, Purpose::work)) {
    part.op->fail(std::move(*error));
  } else {
    write(queue, shard_.state.queue(queue).settings, false, std::nullopt);
    shard_.wake(queue);
    return shard_.job.end_changing(part.op);
  }
  shard_.job.end(part.op);
}

void Queues::execute(const core::ReshardRequest& /*request*/, const Part& part) {
  part.op->fail({ErrorCode::unsupported, "the shards of this store are fixed"});
  shard_.job.end(part.op);
}

}  // namespace tarry::embedded
