#include "worker/verdicts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/limits.h"
#include "core/validation.h"

namespace tarry::worker {

std::string fit_reason(std::string_view reason) {
  std::string text =
      base::is_valid_utf8(reason) ? std::string(reason) : base::quoted(reason, core::kMaxReason);
  if (text.size() <= core::kMaxReason) return text;
  std::size_t end = core::kMaxReason;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

Settlement settlement_of(Verdict verdict) {
  if (const auto none = core::check_action(verdict.action)) {
    verdict = {Action::retry, {}, "the handler's verdict: " + none->message};
  }
  Settlement settlement;
  switch (verdict.action) {
    case Action::ack: settlement.action = core::SettleAction::ack; break;
    case Action::release: settlement.action = core::SettleAction::release; break;
    case Action::retry:
      settlement.action = core::SettleAction::retry;
      if (verdict.delay) {
        settlement.delay = std::clamp(*verdict.delay, Millis(0), Millis(core::kMaxDelayMs));
      }
      settlement.reason = fit_reason(verdict.reason);
      break;
    case Action::bury:
      settlement.action = core::SettleAction::bury;
      settlement.reason = fit_reason(verdict.reason);
      break;
  }
  return settlement;
}

}  // namespace tarry::worker
