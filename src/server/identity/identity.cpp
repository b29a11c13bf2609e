#include "server/identity/identity.h"

#include <algorithm>
#include <chrono>

#include "core/rules/queue_pattern.h"

namespace tarry::identity {

bool Identity::may(Scope scope, std::string_view queue) const noexcept {
  return scopes.has(scope) && core::matches_any(queues, queue);
}

bool Identity::may_everywhere(Scope scope) const noexcept {
  return scopes.has(scope) &&
         std::ranges::any_of(queues, [](const std::string& pattern) { return pattern == "*"; });
}

const IdentityPtr& anyone() {
  static const IdentityPtr kAnyone =
      std::make_shared<const Identity>(Identity{"", Scopes::all(), {"*"}});
  return kAnyone;
}

const IdentityPtr& nobody() {
  static const IdentityPtr kNobody = std::make_shared<const Identity>();
  return kNobody;
}

Time now() { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }

}  // namespace tarry::identity
