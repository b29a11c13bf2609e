#include "engines/embedded/shard/shard.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"
#include "engines/embedded/records/record_bounds.h"
#include "engines/embedded/records/tokens.h"
#include "engines/embedded/shard/part_failure.h"
#include "engines/embedded/shard/part_items.h"

namespace tarry::embedded {

Shard::Shard(const ShardConfig& config, ShardState& state, Journal& journal, Committer& committer,
             RecordReads& reads, SegmentFiles& files, Router& router)
    : context_(config, state, journal, committer, files, router),
      reads_(&reads),
      queues_(context_),
      sweeps_(context_),
      forecasts_(context_),
      removals_(context_, queues_, sweeps_, forecasts_),
      uncommitted_(state) {
  // What is kept back must hold for the longest of what the last run has left.
  for (Handle handle = 0; handle < context_.state.slab.end(); ++handle) {
    if (context_.state.slab.is_live(handle))
      context_.journal.note_put(context_.state.slab[handle].position.size());
  }
}

void Shard::fail(Error error) {
  context_.failure.set(std::move(error));
  end_long_work(*context_.failure.error());
}

void Shard::keep_back() {
  if (!context_.failure && context_.state.live.messages() != 0) context_.room.keep_back();
}

void Shard::release(const SegmentInfo& cleaned) {
  const bool keep = context_.room.keeps_file(cleaned);
  if (keep) {
    context_.job.reuse_segment(cleaned.number);
  } else {
    context_.job.remove_segment(cleaned.number);
  }
  context_.mark(keep ? "cleaning.keeps-file" : "cleaning.removes-file");
}

void Shard::room_is_back(std::uint64_t removed, std::uint64_t reusable) {
  context_.room.note_freed(removed + reusable);
  if (context_.failure) return;
  context_.room.reuse(reusable);
  if (context_.room.is_short()) keep_back();
}

void Shard::execute(Part part) {
  switch (part.kind) {
    case Part::Kind::wait: wait(part.op); return;
    case Part::Kind::forget: context_.waiting.note_ended(part.op.get()); return;
    case Part::Kind::damaged: damaged(part); return;
    case Part::Kind::freed: room_is_back(part.removed, part.reusable); return;
    case Part::Kind::close: close(); return;
    case Part::Kind::request: break;
  }
  if (context_.failure) return context_.job.refuse(part, *context_.failure.error());
  if (removals_.park(part)) return;
  // What the parts before made due is ready for this one.
  const auto next = context_.state.due_wheel.next_due();
  if (next && *next <= context_.now.realtime_ms) {
    run_wheels();
    context_.mark("time.amid-turn");
  }
  decide(part);
  for (Part& thawed : removals_.take_thawed()) execute(std::move(thawed));
}

void Shard::decide(Part& part) {
  const auto by_its_class = [&](const auto& request) {
    if constexpr (requires { queues_.execute(request, part); }) {
      queues_.execute(request, part);
    } else if constexpr (requires { sweeps_.execute(request, part); }) {
      sweeps_.execute(request, part);
    } else if constexpr (requires { forecasts_.execute(request, part); }) {
      forecasts_.execute(request, part);
    } else if constexpr (requires { removals_.execute(request, part); }) {
      removals_.execute(request, part);
    } else {
      execute(request, part);
    }
  };
  std::visit(by_its_class, part.op->request);
}

CommitJob Shard::take_job() {
  if (closing_) context_.job.sync();
  return context_.job.take(context_.journal.take(context_.now.realtime_ms));
}

void Shard::close() {
  if (closing_) return;
  closing_ = true;
  context_.waiting.clear([this](const OperationPtr& op) {
    if (!op->move_phase(ClaimPhase::waiting, ClaimPhase::ended)) return;
    op->fail({ErrorCode::closed, "the store was closed"});
    context_.job.end(op);
  });
  end_long_work({ErrorCode::closed, "the store was closed"});
}

void Shard::end_journal() {
  if (context_.journal.is_as_it_was()) return;
  const Record closed = ClosedRecord{};
  if (!context_.failure && context_.journal.fits(encoded_size(closed)))
    context_.journal.append(closed);
}

// -- room

bool Shard::cleaning_is_due() {
  const bool holds_off =
      context_.cleaner.holds_off(context_.now.boottime_ms);  // it wants to be asked each time
  return context_.cleaner.wanted() && !holds_off && !context_.room.cleaning_waits();
}

std::optional<Error> Shard::due_times(Due due, DueTimes& times) const {
  if (!due.is_relative()) {
    if (due.millis() - context_.now.realtime_ms > core::kMaxDelayMs) {
      return Error{ErrorCode::invalid_argument, "due time " + std::to_string(due.millis()) +
                                                    " ms is more than 100 years from now"};
    }
    times = {due.millis(), std::nullopt};
    return std::nullopt;
  }
  const std::int64_t rounding = due.millis() > 0 ? context_.config.rounding_ms : 0;
  times.due_ms = std::max<std::int64_t>(context_.now.realtime_ms, 0) + due.millis() + rounding;
  times.boot_due_ms.reset();
  if (due.millis() > 0 && context_.state.eras.current() != 0) {
    times.boot_due_ms =
        context_.state.eras.boot_due_ms(context_.state.eras.current(), times.due_ms);
  }
  return std::nullopt;
}

// -- work of several turns

void Shard::end_long_work(const Error& error) {
  sweeps_.fail_all(error);
  forecasts_.fail_all(error);
  removals_.fail_parked(error);
}

bool Shard::work_slice() {
  if (!context_.failure && closing_) return false;  // what comes now would not be synced
  const bool more = !context_.failure && go_on();
  if (context_.failure) end_long_work(*context_.failure.error());
  return more && !context_.failure;
}

bool Shard::go_on() {
  bool more = sweeps_.run_slice();
  more = forecasts_.run_slice() || more;
  more = has_waiters_to_serve() || more;
  context_.room.repay();
  if (!context_.failure && context_.cleaner.head_wanted()) close_head();
  if (context_.failure) return false;
  return clean_slice() || more;
}

void Shard::close_head() {
  auto closed = context_.journal.close_head(context_.room.reserve(Purpose::end),
                                            context_.room.reserve(Purpose::back));
  if (!closed) return fail(std::move(closed).error());
  if (*closed) keep_back();
}

bool Shard::clean_slice() {
  if (!cleaning_is_due()) return false;
  // Keeps pace with appends: twice what this turn wrote, and at least enough to end soon. Pressed
  // hard it ends a round over all that is live before what is kept back for work is half used up.
  const bool hard = context_.cleaner.pressed() == Cleaner::Press::hard;
  const std::uint64_t pace = hard ? 2 * kWorkShare : 2;
  auto slice = context_.cleaner.run(
      std::max(context_.config.slices.cleaning, pace * context_.journal.untaken_bytes()));
  if (!slice) {
    if (!is_shortage(slice.error())) fail(std::move(slice).error());
    return false;
  }
  figures_.copied_messages += slice->copied;
  if (slice->finished) {
    release(*slice->finished);
    ++figures_.cleaned_segments;
  }
  return cleaning_is_due();
}

}  // namespace tarry::embedded
