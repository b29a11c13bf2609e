// Commands that reserve jobs.
#include <algorithm>
#include <utility>
#include <variant>

#include "core/limits.h"
#include "server/beanstalk/commands.h"
#include "server/beanstalk/job_headers.h"
#include "server/beanstalk/job_ids.h"

namespace tarry::beanstalk {
namespace {

constexpr std::size_t kMostReserves = 1000;            // of a batch
constexpr std::uint64_t kMostClaimBytes = 4ull << 20;  // of a batch
// A client hears of the end of a reservation so long before.
constexpr std::int64_t kSafetyMarginMs = 1000;

}  // namespace

Next Commands::reserve(const Command& command) {
  client_.count_worker();
  const auto allowed = [&](const std::string& tube) { return may(identity::Scope::consume, tube); };
  if (!std::ranges::all_of(client_.watched(), allowed)) return forbidden();
  reserves_.push_back({command.timeout});
  const auto fits = [&](const Command& next) {
    return (next.verb == Verb::reserve || next.verb == Verb::reserve_with_timeout) &&
           reserves_.size() < kMostReserves;
  };
  while (const auto next = host_.another(fits)) reserves_.push_back({next->timeout});
  return claim();
}

std::size_t Commands::drop_claim() noexcept {
  client_.end_waiting();
  const std::size_t dropped = reserves_.size();
  reserves_.clear();
  return dropped;
}

// How long the first command may wait now. It ends a second before the client's first reservation
// does, because the client must hear of that.
Millis Commands::wait_of(Reserve& first) {
  if (!host_.may_wait() || first.timeout_s == 0) return Millis(0);
  const std::int64_t now = clocks_.elapsed_ms();
  if (first.timeout_s > 0 && !first.until_ms) {
    first.until_ms = now + std::int64_t{first.timeout_s} * 1000;
  }
  std::int64_t wait = core::kMaxWaitMs;
  if (first.until_ms) wait = std::min(wait, *first.until_ms - now);
  if (const auto soonest = client_.soonest_end(now)) {
    wait = std::min(wait, *soonest - kSafetyMarginMs - now);
  }
  return Millis(std::max<std::int64_t>(wait, 0));
}

Next Commands::claim() {
  core::ClaimRequest request;
  request.queues = client_.watched();
  request.max = static_cast<std::uint32_t>(reserves_.size());
  request.max_bytes = kMostClaimBytes;
  request.wait = wait_of(reserves_.front());
  // The TTR is the job's, and a claim's lease is for whatever it gets: most jobs have the TTR of
  // the latest put, and the leases of the others are changed afterwards.
  const Millis lease = lease_of(shared_.last_ttr_s);
  request.lease = lease;
  if (request.wait > Millis(0)) client_.begin_waiting();
  return ask(std::move(request), [this, lease](Result<core::Reply>& result) -> Next {
    client_.end_waiting();
    if (!result) return fail(result.error(), drop_claim());
    auto& reply = std::get<core::ClaimReply>(*result);
    return reply.items.empty() ? nothing_claimed() : claimed(reply, lease, false);
  });
}

Next Commands::claimed(core::ClaimReply& reply, Millis lease, bool was_delayed) {
  host_.claimed(reply);
  core::ExtendRequest extend;
  std::string text;
  const std::int64_t now = clocks_.elapsed_ms();
  for (const core::ClaimedItem& item : reply.items) {
    if (!reserves_.empty()) reserves_.pop_front();
    Reservation kept;
    kept.tube = core::view(reply.bytes, item.queue);
    kept.key = core::view(reply.bytes, item.key);
    kept.receipt = core::view(reply.bytes, item.receipt);
    kept.ttr_s = ttr_of(core::view(reply.bytes, item.headers));
    kept.delay_s = delay_in(core::view(reply.bytes, item.headers));
    kept.was_delayed = was_delayed;
    kept.ends_ms = now + lease_of(kept.ttr_s).count();
    const std::uint64_t job = job_of(kept.tube, kept.key, item.id);
    append_job(text, "RESERVED", job, core::view(reply.bytes, item.payload));
    if (lease_of(kept.ttr_s) != lease) {
      core::ExtendItem& change = extend.items.emplace_back();
      change.receipt = core::append(extend.bytes, kept.receipt);
      change.lease = lease_of(kept.ttr_s);
    }
    if (!is_key_of_job(job)) static_cast<void>(shared_.notes.at(job, kept.tube, kept.key));
    shared_.last_ttr_s = kept.ttr_s;
    client_.keep(job, std::move(kept));
  }
  if (extend.items.empty()) return say(std::move(text));
  // If it fails, the jobs are reserved nevertheless, for the other time.
  return ask(std::move(extend), [text = std::move(text)](Result<core::Reply>&) mutable -> Next {
    return say(std::move(text));
  });
}

Next Commands::nothing_claimed() {
  const std::int64_t now = clocks_.elapsed_ms();
  const auto soonest = client_.soonest_end(now);
  const Reserve& first = reserves_.front();
  if (soonest && now >= *soonest - kSafetyMarginMs) {
    reserves_.pop_front();
    return say("DEADLINE_SOON\r\n");
  }
  if (first.timeout_s == 0 || (first.until_ms && now >= *first.until_ms)) {
    reserves_.pop_front();
    return say("TIMED_OUT\r\n");
  }
  return {};  // run_more
}

Next Commands::reserve_job(const Command& command) {
  const std::uint64_t job = command.id;
  return locate(job, false, identity::Scope::consume, [this](std::optional<Place> place) -> Next {
    if (!place || place->info.state == State::leased) return not_found();
    client_.count_worker();
    core::ClaimRequest request;
    request.queues.push_back(place->tube);
    request.keys.push_back(place->key);
    request.any_state = true;
    const Millis lease = lease_of(ttr_of(place->info.headers));
    request.lease = lease;
    const bool early = place->info.state == State::scheduled;
    return ask(std::move(request), [this, lease, early](Result<core::Reply>& result) -> Next {
      if (!result) return fail(result.error());
      auto& reply = std::get<core::ClaimReply>(*result);
      return reply.items.empty() ? not_found() : claimed(reply, lease, early);
    });
  });
}

}  // namespace tarry::beanstalk
