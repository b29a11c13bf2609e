#include "core/queue_limits.h"

#include "base/text.h"

namespace tarry::core {
namespace {

constexpr std::string_view kNoLimit = "none";

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
  const std::uint32_t most = queue.settings.max_leased;
  return most != 0 && queue.leased >= most;
}

std::optional<Error> refuse_limits(std::string_view engine, const SettingsPatch& patch) {
  if (patch.max_leased.value_or(0) == 0) return std::nullopt;
  return Error{ErrorCode::unsupported, std::string(engine) + " cannot limit a queue (max_leased " +
                                           std::to_string(*patch.max_leased) +
                                           "); a file: store can"};
}

}  // namespace tarry::core
