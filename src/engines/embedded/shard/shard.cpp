#include "engines/embedded/shard/shard.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engines/embedded/records/records.h"

namespace tarry::embedded {
namespace {

template <typename Verbs, typename Request>
concept Decides = requires(Verbs& verbs, const Request& request, const Part& part) {
  verbs.execute(request, part);
};

// Calls the one class that has an `execute` for this kind of request.
template <typename Request, typename... Verbs>
void decide_by(const Request& request, const Part& part, Verbs&... verbs) {
  static_assert((0 + ... + (Decides<Verbs, Request> ? 1 : 0)) == 1);
  const auto decide = [&](auto& by) {
    if constexpr (Decides<decltype(by), Request>) by.execute(request, part);
  };
  (decide(verbs), ...);
}

}  // namespace

Shard::Shard(const ShardConfig& config, ShardState& state, Journal& journal, Committer& committer,
             RecordReads& reads, SegmentFiles& files, Router& router)
    : context_(config, state, journal, committer, files, router),
      queues_(context_),
      pushes_(context_, queues_),
      by_key_(context_),
      by_receipt_(context_),
      read_ahead_(state, journal),
      claim_taker_(context_, read_ahead_),
      claims_(context_, claim_taker_, reads),
      sweeps_(context_),
      forecasts_(context_),
      removals_(context_, queues_, sweeps_, forecasts_),
      queries_(context_, removals_),
      time_events_(context_) {
  // The reserve must suffice for the longest record that the last run left.
  for (Handle handle = 0; handle < context_.state.slab.end(); ++handle) {
    if (context_.state.slab.is_live(handle))
      context_.journal.note_put(context_.state.slab[handle].position.size());
  }
  context_.state.open_gates(config.gates ? config.gates : std::make_shared<QueueGates>(1));
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
    case Part::Kind::wait: claims_.wait(part.op); return;
    case Part::Kind::forget: context_.waiting.note_ended(part.op.get()); return;
    case Part::Kind::damaged: claims_.set_damaged_aside(part); return;
    case Part::Kind::room: room_at_gate(part.id); return;
    case Part::Kind::freed: room_is_back(part.removed, part.reusable); return;
    case Part::Kind::close: close(); return;
    case Part::Kind::request: break;
  }
  if (context_.failure) return context_.job.refuse(part, *context_.failure.error());
  if (removals_.park(part)) return;
  // Messages that earlier parts made due are ready for this part.
  const auto next = context_.state.due_wheel.next_due();
  const auto expiry = time_events_.next_expiry_ms();
  if ((next && *next <= context_.now.realtime_ms) ||
      (expiry && *expiry <= context_.now.realtime_ms)) {
    time_events_.run();
    context_.mark("time.amid-turn");
  }
  decide(part);
  for (Part& thawed : removals_.take_thawed()) execute(std::move(thawed));
}

void Shard::decide(const Part& part) {
  std::visit(
      [&](const auto& request) {
        decide_by(request, part, pushes_, by_key_, by_receipt_, claims_, queries_, forecasts_,
                  queues_, sweeps_, removals_);
      },
      part.op->request);
}

void Shard::advance(timing::Instant now) {
  time_events_.observe(now);
  context_.now = now;
  if (context_.failure) return;
  time_events_.record_renewed_leases();
  claims_.begin_leases();
  time_events_.run();
  claims_.wake_held();
}

void Shard::serve_waiting() {
  if (context_.failure) return claims_.stop_waiting(*context_.failure.error());
  claims_.serve_waiting();
}

CommitJob Shard::take_job() {
  if (closing_) context_.job.sync();
  give_back_leases();
  return context_.job.take(context_.journal.take(context_.now.realtime_ms));
}

// If the turn is not durable, the leases stay taken until the store is opened again: its shard has
// stopped.
void Shard::give_back_leases() {
  GatedQueues& gated = context_.state.gated;
  if (!gated.any_freed()) return;
  for (const QueueId id : gated.take_freed()) {
    AtGate& at = context_.state.queue(id).at_gate;
    const std::uint32_t leases = GatedQueues::take_leases(at);
    GroupTurns* const turns = context_.state.queue(id).lanes.groups();
    auto groups = turns != nullptr ? turns->take_freed() : std::vector<GroupLeases::Count>();
    if (leases == 0 && groups.empty()) continue;
    if (gated.is_alone()) {
      static_cast<void>(at.gate->give_back(leases, groups));  // no other shard waits
      readmit_groups(id);
      continue;
    }
    context_.job.add_task([gate = at.gate, leases, groups = std::move(groups),
                           router = &context_.router, shards = gated.shards(),
                           shard = context_.config.number](const CommitOutcome& outcome) {
      if (outcome.failure != nullptr) return;
      const QueueGate::Shards waiting = gate->give_back(leases, groups);
      for (std::uint32_t i = 1; i <= shards; ++i) {
        const std::uint32_t to = (shard + i) % shards;
        if (!waiting.test(to)) continue;
        Part part;
        part.kind = Part::Kind::room;
        part.id = gate->number();
        router->post(to, std::move(part));
      }
    });
  }
}

void Shard::room_at_gate(std::uint64_t gate) {
  const QueueId queue = context_.state.gated.queue_of(gate);
  if (queue == kNoQueue) return;
  readmit_groups(queue);
  context_.wake(queue);
}

void Shard::readmit_groups(QueueId id) {
  const QueueState& queue = context_.state.queue(id);
  if (!queue.lanes.has_groups()) return;
  const auto woken = queue.at_gate.gate->with_groups(
      [&](GroupLeases& leases) { return leases.take_woken(context_.config.number); });
  for (const std::string& group : woken) queue.lanes.groups()->readmit(group);
}

void Shard::close() {
  if (closing_) return;
  closing_ = true;
  const Error error{ErrorCode::closed, "the store was closed"};
  claims_.stop_waiting(error);
  end_long_work(error);
}

void Shard::end_journal() {
  if (context_.journal.is_as_it_was()) return;
  const Record closed = ClosedRecord{};
  if (!context_.failure && context_.journal.fits(encoded_size(closed)))
    context_.journal.append(closed);
}

// -- room

bool Shard::cleaning_is_due() {
  // `holds_off` must be called in every turn.
  const bool holds_off = context_.cleaner.holds_off(context_.now.boottime_ms);
  return context_.cleaner.wanted() && !holds_off && !context_.room.cleaning_waits();
}

// -- work of several turns

void Shard::end_long_work(const Error& error) {
  sweeps_.fail_all(error);
  forecasts_.fail_all(error);
  removals_.fail_parked(error);
}

bool Shard::work_slice() {
  if (!context_.failure && closing_) return false;  // records from now on would not be synced
  const bool more = !context_.failure && go_on();
  if (context_.failure) end_long_work(*context_.failure.error());
  return more && !context_.failure;
}

bool Shard::go_on() {
  bool more = sweeps_.run_slice();
  more = forecasts_.run_slice() || more;
  more = claims_.has_waiting_to_serve() || more;
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
  // Cleaning keeps pace with appends: a slice is twice as long as the bytes of this turn, and at
  // least long enough to end soon. When pressed hard, cleaning ends a round over all live bytes
  // before half of the reserve for work is used.
  const bool hard = context_.cleaner.pressed() == Cleaner::Press::hard;
  const std::uint64_t pace = hard ? 2 * kWorkShare : 2;
  auto slice = context_.cleaner.run(
      std::max(context_.config.slices.cleaning, pace * context_.journal.untaken_bytes()));
  if (!slice) {
    if (!is_shortage(slice.error())) fail(std::move(slice).error());
    return false;
  }
  copied_messages_ += slice->copied;
  if (slice->finished) {
    release(*slice->finished);
    ++cleaned_segments_;
  }
  return cleaning_is_due();
}

std::optional<std::int64_t> Shard::next_realtime_ms() const {
  std::optional<std::int64_t> next = context_.state.due_wheel.next_due();
  const auto sooner = [&next](std::int64_t at) { next = next ? std::min(*next, at) : at; };
  if (const auto wake = claims_.next_wake_ms()) sooner(*wake);
  if (const auto expiry = time_events_.next_expiry_ms()) sooner(*expiry);
  return next;
}

std::optional<std::int64_t> Shard::next_boottime_ms() const {
  std::optional<std::int64_t> next = context_.state.lease_wheel.next_due();
  const auto sooner = [&next](std::int64_t at) { next = next ? std::min(*next, at) : at; };
  if (const auto end = context_.waiting.next_deadline()) sooner(*end);
  if (const auto until = context_.cleaner.held_off_until()) sooner(*until);
  if (const auto wake = claims_.next_wake_boot_ms()) sooner(*wake);
  if (const auto again = time_events_.expiry_again_at()) sooner(*again);
  return next;
}

}  // namespace tarry::embedded
