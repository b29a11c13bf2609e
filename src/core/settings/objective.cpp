#include "core/settings/objective.h"

#include <algorithm>
#include <optional>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace tarry::core {
namespace {

constexpr std::uint64_t kShares = 100'000;  // 100%, in thousandths
constexpr std::string_view kNone = "none";
constexpr std::string_view kWithin = "within";

Error refuse_objective(std::string_view text, std::string_view why) {
  return {ErrorCode::invalid_argument, "objective " + base::quoted(text) + ": " + std::string(why)};
}

/// `99` or `99.9`, in thousandths. A number that is too large answers one that is.
std::optional<std::uint32_t> read_share(std::string_view text) noexcept {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = point < text.size() ? text.substr(point + 1) : "0";
  if (whole.empty() || part.empty() || part.size() > 3) return std::nullopt;
  if (!std::ranges::all_of(whole, base::is_digit) || !std::ranges::all_of(part, base::is_digit)) {
    return std::nullopt;
  }
  std::uint32_t share = 0;
  for (const char digit : whole) {
    share = std::min<std::uint32_t>(share * 10 + static_cast<std::uint32_t>(digit - '0'), 1'000);
  }
  std::uint32_t thousandths = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    thousandths *= 10;
    if (i < part.size()) thousandths += static_cast<std::uint32_t>(part[i] - '0');
  }
  return share * 1'000 + thousandths;
}

}  // namespace

Result<Objective> parse_objective(std::string_view text) {
  const std::string_view given = base::trimmed(text);
  if (given == kNone) return Objective();
  const std::size_t percent = given.find('%');
  const std::string_view rest =
      percent == std::string_view::npos ? "" : base::trimmed(given.substr(percent + 1));
  const auto share = read_share(base::trimmed(given.substr(0, std::min(percent, given.size()))));
  if (!share || !rest.starts_with(kWithin)) {
    return refuse_objective(text, R"(it must be like "99% within 1s", or "none")");
  }
  if (*share < kMinObjectiveShare || *share > kMaxObjectiveShare) {
    return refuse_objective(text, "the percentage must be from 1 to 99.999");
  }
  const auto ms = base::parse_duration_ms(base::trimmed(rest.substr(kWithin.size())));
  if (!ms) return refuse_objective(text, ms.error().message);
  if (*ms < 1 || *ms > kMaxObjectiveMs) {
    return refuse_objective(text, "the time must be from 1ms to 7d");
  }
  return Objective{*share, Millis(*ms)};
}

std::string objective_text(Objective objective) {
  if (objective.share == 0) return std::string(kNone);
  std::string text = std::to_string(objective.share / 1'000);
  if (std::string part = std::to_string(1'000 + objective.share % 1'000).substr(1); part != "000") {
    part.erase(part.find_last_not_of('0') + 1);
    text += "." + part;
  }
  return text + "% " + std::string(kWithin) + " " +
         base::format_duration_ms(objective.within.count());
}

bool is_objective(Objective objective) noexcept {
  if (objective.share == 0) return objective.within.count() == 0;
  return objective.share >= kMinObjectiveShare && objective.share <= kMaxObjectiveShare &&
         objective.within.count() >= 1 && objective.within.count() <= kMaxObjectiveMs;
}

std::uint64_t objective_number(Objective objective) noexcept {
  return static_cast<std::uint64_t>(objective.within.count()) * kShares + objective.share;
}

Objective objective_of(std::uint64_t number) noexcept {
  return {static_cast<std::uint32_t>(number % kShares),
          Millis(static_cast<std::int64_t>(number / kShares))};
}

}  // namespace tarry::core
