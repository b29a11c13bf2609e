// Claims with settlements (`ClaimRequest::settle`), for an engine that has no verb for both: it
// carries out a settle and a claim, one after the other, and gives both answers in one reply.
//
// The claim does not wait for the settle's answer. So the engine does both in one turn where it
// can, and their records share a sync.
//
// Thread safety: any thread may call any function.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <variant>

#include "core/engine.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::core {

/// Whether the request is such a claim. A claim that is invalid as a whole is not: the engine
/// refuses it, and nothing is settled.
[[nodiscard]] bool settles_first(const Request& request);

/// The completions of the two requests. When both have run, `whole` runs once:
///  - with the claim's reply and the result of each settlement;
///  - if the claim failed, with an empty claim whose `claim_error` says why;
///  - if the settle failed as a whole, each of its items has that error;
///  - if both failed, with the error of the settle, or `unknown_outcome` if either is.
struct SettleFirst {
  Completion settled;
  Completion claimed;
};
[[nodiscard]] SettleFirst settle_first(std::size_t items, Completion whole);

/// Carries out a claim that `settles_first`. `submit(request, completion)` returns the ticket; it
/// is called for the settle and then for the claim, whose ticket is returned. If it throws for the
/// settle, nothing was done.
template <typename Submit>
Ticket submit_settle_first(Request request, Completion completion, Submit submit) {
  ClaimRequest& claim = std::get<ClaimRequest>(request);
  SettleRequest settle = std::exchange(claim.settle, {});
  SettleFirst both = settle_first(settle.items.size(), std::move(completion));
  auto kept = std::make_shared<Completion>(std::move(both.claimed));
  submit(std::move(settle), std::move(both.settled));
  // The settlements may be done by now, so nothing below may throw.
  try {
    return submit(std::move(request), [kept](Result<Reply> reply) { (*kept)(std::move(reply)); });
  } catch (const std::bad_alloc&) {
    (*kept)(Error{ErrorCode::unavailable, "out of memory"});
    return 0;
  }
}

}  // namespace tarry::core
