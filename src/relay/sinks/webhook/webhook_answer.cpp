#include "relay/sinks/webhook/webhook_answer.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text/text.h"

namespace tarry::relay {
namespace {

constexpr std::size_t kShownOfAnswer = 200;  // bytes
/// A receiver may ask for patience, and not for ever.
constexpr Millis kLongestAfter = std::chrono::hours(24);

}  // namespace

Answer webhook_answer(long status, std::string_view body, std::optional<Millis> after) {
  if (status >= 200 && status < 300) return confirmed();
  std::string reason = "answered " + std::to_string(status);
  if (!body.empty()) {
    reason += ": " + base::quoted(body.substr(0, kShownOfAnswer), kShownOfAnswer);
  }
  if (status < 400) return try_again("redirects are not followed; it " + reason);
  if (after) after = std::clamp(*after, Millis(0), kLongestAfter);
  // 403 (may not go there) and 409 (the first request is still running, as drafted for
  // Idempotency-Key) do not mean that the message is bad. They do not concern other messages
  // either. But our login (401, 407) is the same for all messages.
  constexpr std::array<long, 2> kNotYet{403, 409};
  if (std::ranges::count(kNotYet, status) > 0) return not_yet(std::move(reason), after);
  constexpr std::array<long, 5> kAgain{401, 407, 408, 425, 429};
  const bool again = status >= 500 || std::ranges::count(kAgain, status) > 0;
  return again ? try_again(std::move(reason), after) : refused(std::move(reason));
}

}  // namespace tarry::relay
