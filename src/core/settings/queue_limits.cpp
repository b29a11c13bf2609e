#include "core/settings/queue_limits.h"

#include "base/text/text.h"
#include "core/settings/delivery_rate.h"

namespace tarry::core {
namespace {

constexpr std::string_view kNoLimit = "none";

bool is_full(const QueueStats& queue) noexcept {
  const std::uint32_t most = queue.settings.max_leased;
  return most != 0 && queue.leased >= most;
}

Error unsupported_limit(std::string_view engine, const std::string& what) {
  return {ErrorCode::unsupported,
          std::string(engine) + " cannot limit a queue (" + what + "); a file: store can"};
}

}  // namespace

Result<std::uint32_t> parse_limit(std::string_view name, std::string_view text, std::uint32_t max) {
  if (text == kNoLimit) return std::uint32_t{0};
  const auto limit = base::parse_u64(text, name, 1, max);
  if (limit) return static_cast<std::uint32_t>(*limit);
  return Unexpected(ErrorCode::invalid_argument, std::string(name) + " " + base::quoted(text) +
                                                     " must be 1 to " + std::to_string(max) +
                                                     ", or none");
}

std::string limit_text(std::uint32_t limit) {
  return limit == 0 ? std::string(kNoLimit) : std::to_string(limit);
}

bool is_limited(const QueueStats& queue) noexcept {
  return is_full(queue) || queue.rate_next.has_value();
}

std::string limit_held(const QueueStats& queue) {
  if (!is_full(queue)) {
    const std::int64_t next = queue.rate_next.value_or(Time()).time_since_epoch().count();
    return "held by rate: next at " + base::format_time_ms(next);
  }
  return "held by max_leased: " + std::to_string(queue.leased) + " of " +
         std::to_string(queue.settings.max_leased) + " leased";
}

std::optional<Error> refuse_limits(std::string_view engine, const SettingsPatch& patch) {
  if (patch.max_leased.value_or(0) != 0) {
    return unsupported_limit(engine, "max_leased " + std::to_string(*patch.max_leased));
  }
  const DeliveryRate rate = patch.rate.value_or(DeliveryRate());
  if (rate == DeliveryRate()) return std::nullopt;
  return unsupported_limit(engine, "rate " + delivery_rate_text(rate));
}

}  // namespace tarry::core
