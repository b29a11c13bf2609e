#include "engines/embedded/shard/context/record_writer.h"

#include "base/planted.h"
#include "core/limits.h"

namespace tarry::embedded {
namespace {

GoneWhy gone_why(Ending ending) noexcept {
  switch (ending) {
    case Ending::acked: return GoneWhy::acked;
    case Ending::cancelled: return GoneWhy::cancelled;
    case Ending::expired: break;
  }
  return GoneWhy::expired;
}

}  // namespace

void RecordWriter::write(const QueueRecord& record) {
  const bool is_new =
      record.queue == state_->queues.size() || !state_->queue(record.queue).is_there();
  journal_->append(record, is_new && !record.frees());
  state_->evolve(record);
}

void RecordWriter::write(const PutRecord& record) {
  const RecordPlace place = journal_->append(record);
  state_->evolve(record, place.segment, place.position);
  wake_by_key(record.queue);
}

template <typename Record>
void RecordWriter::log(const Record& record) {
  journal_->append(record);
  state_->evolve(record);
}

std::optional<Noted> RecordWriter::noted(QueueId queue, std::string_view text) const {
  if (!notes_ || state_->queue(queue).events == nullptr) return std::nullopt;
  return Noted{now_->realtime_ms, event_text(text)};
}

void RecordWriter::write(DueRecord record) {
  record.noted = noted(record.queue);
  log(record);
}
void RecordWriter::write(StoppingRecord record) {
  record.noted = noted(record.queue);
  log(record);
}
void RecordWriter::write(const LeaseRecord& record) { log(record); }
void RecordWriter::write(BackRecord record, std::string_view reason) {
  record.noted = noted(record.queue, reason);
  log(record);
  wake_limited(record.queue);
  wake_by_key(record.queue);
}

void RecordWriter::write_gone(GoneWhy why, Handle handle) {
  const QueueId queue = state_->slab[handle].queue;
  const Ref gone = ref(handle);
  if (!TARRY_PLANTED_BUG(cancel_not_logged) || why != GoneWhy::cancelled) {
    journal_->append_gone(why, queue, gone);
  }
  state_->evolve(why, queue, gone);
  wake_limited(queue);
}

void RecordWriter::write_dead(DeadWhy why, Handle handle, std::uint32_t priority,
                              std::string_view reason) {
  const Message& message = state_->slab[handle];
  DeadRecord record;
  record.why = why;
  record.ref = ref(handle);
  record.queue = message.queue;
  record.since_ms = now_->realtime_ms;
  record.until_ms = now_->realtime_ms + state_->queue(message.queue).settings.dead_keep.count();
  record.priority = priority;
  record.reason = reason.substr(0, core::kMaxReason);
  record.noted = noted(record.queue).has_value();
  log(record);
  wake_limited(record.queue);
  wake_by_key(record.queue);
}

void RecordWriter::write_expiry(Handle handle) {
  const Message& message = state_->slab[handle];
  if (state_->queue(message.queue).settings.on_expiry == OnExpiry::end) {
    return write_end(Ending::expired, handle);
  }
  write_dead(DeadWhy::expired, handle, message.priority, core::kExpiredReason);
}

void RecordWriter::write_end(Ending ending, Handle handle) {
  const QueueId queue = state_->slab[handle].queue;
  const std::int64_t remember = state_->queue(queue).settings.remember.count();
  const bool forgets = ending == Ending::cancelled && TARRY_PLANTED_BUG(cancel_not_remembered);
  if (remember <= 0 || forgets) {
    return write_gone(gone_why(ending), handle);
  }
  const std::int64_t settled_ms = now_->realtime_ms;
  const RememberedRecord record{
      ending, queue, settled_ms, settled_ms + remember, {}, noted(queue).has_value()};
  const Ref ended = ref(handle);
  journal_->append_remembered(record, ended);
  state_->evolve(record, ended);
  wake_limited(queue);
}

}  // namespace tarry::embedded
