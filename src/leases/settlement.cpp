#include "leases/settlement.h"

#include <algorithm>

#include "base/text/text.h"
#include "core/limits.h"

namespace tarry::leases {

std::string fit_reason(std::string_view reason) {
  std::string text =
      base::is_valid_utf8(reason) ? std::string(reason) : base::quoted(reason, core::kMaxReason);
  if (text.size() <= core::kMaxReason) return text;
  std::size_t end = core::kMaxReason;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

Settlement fit(Settlement settlement) {
  const bool is_retry = settlement.action == core::SettleAction::retry;
  const bool has_reason = is_retry || settlement.action == core::SettleAction::bury;
  settlement.reason = has_reason ? fit_reason(settlement.reason) : std::string();
  if (!is_retry) settlement.delay.reset();
  if (settlement.delay) {
    settlement.delay = std::clamp(*settlement.delay, Millis(0), Millis(core::kMaxDelayMs));
  }
  return settlement;
}

}  // namespace tarry::leases
