#include "worker/verdicts.h"

#include <utility>

#include "core/claimed.h"
#include "core/rules/validation.h"

namespace tarry::worker {

leases::Settlement settlement_of(Verdict verdict) {
  if (const auto none = core::check_action(verdict.action)) {
    verdict = {Action::retry, {}, "the handler's verdict: " + none->message};
  }
  return leases::fit(
      {core::settle_action(verdict.action), verdict.delay, std::move(verdict.reason)});
}

}  // namespace tarry::worker
