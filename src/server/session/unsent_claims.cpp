#include "server/session/unsent_claims.h"

#include <string>
#include <utility>

#include "core/claimed.h"
#include "core/engine_parts/away.h"
#include "server/session_parts/engine_work.h"

namespace tarry::session {

void UnsentClaims::note(const core::ClaimReply& reply) { settles_ = core::release_of(reply); }

void UnsentClaims::release(ServerContext& context, const listening::Executor& executor) {
  if (settles_.items.empty()) return;
  const std::size_t count = settles_.items.size();
  auto completion = [&context, work = EngineWork(executor),
                     count](Result<core::Reply> result) mutable {
    if (result) return work.post([] {});
    work.post([&context, count, error = std::move(result).error()] {
      if (!core::is_away(error.code)) context.engine_suspect = true;
      context.warn("not_released",
                   std::to_string(count) +
                       " claimed messages could not be released, and wait for their leases: " +
                       error.message);
    });
  };
  try {
    context.engine.submit(std::exchange(settles_, {}), std::move(completion));
  } catch (const std::exception& error) {
    context.warn_of(error);  // the messages become due again when their leases run out
  }
}

}  // namespace tarry::session
