#include "engines/embedded/state/full_copy.h"

#include "base/planted.h"

namespace tarry::embedded {

PutRecord full_copy(const ShardState& state, const PutRecord& record) {
  const Handle handle = record.ref.handle;
  const Message& message = state.slab[handle];
  PutRecord again = record;
  again.copy = true;
  again.due_ms = message.due_ms();
  again.priority = message.priority;
  again.boot_due_ms = state.boot_due_ms(message);
  again.expiry = TARRY_PLANTED_BUG(copy_never_expires) ? core::Expiry() : state.own.expiry(handle);
  again.carried.reset();
  if (message.history != kNoHistory || message.stopping != 0 || state.events(handle) != nullptr) {
    again.carried = state.carried(handle);
    if (TARRY_PLANTED_BUG(copy_forgets_events)) {
      again.carried->events = {};
      again.carried->event_count = 0;
    }
  }
  if (message.stage() == Stage::remembered) {
    again.pushed_ms.reset();
    again.group = {};
    again.headers = {};
    again.payload = {};
    again.payload_crc = 0;
  } else if (!payload_checks(record)) {
    again.damaged = true;
  }
  return again;
}

PutRecord full_copy_of_lost(const ShardState& state, Handle handle) {
  const Message& message = state.slab[handle];
  PutRecord lost;
  lost.ref = {handle, message.id};
  lost.queue = message.queue;
  lost.max_attempts = state.own.max_attempts(handle);
  lost.damaged = true;
  lost.generated_key = true;
  return full_copy(state, lost);
}

}  // namespace tarry::embedded
