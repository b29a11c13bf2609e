#include "core/rules/time_number.h"

#include <algorithm>
#include <string>

#include "base/text/ascii.h"

namespace tarry::core {
namespace {

Error wrong_unit(std::string_view what, std::int64_t number, std::string_view other,
                 const std::string& rule) {
  return {ErrorCode::invalid_argument, std::string(what) + " is " + std::to_string(number) +
                                           ", which looks like " + std::string(other) + "; " +
                                           rule};
}

Error out_of_range(std::string_view what, std::int64_t number, const std::string& where) {
  return {ErrorCode::invalid_argument,
          std::string(what) + " is " + std::to_string(number) + ", which is " + where};
}

}  // namespace

std::optional<Error> check_time_number(std::string_view what, std::int64_t number, TimeUnit unit) {
  if (number < 0) {
    return out_of_range(what, number, "before 1970, the earliest time that is accepted");
  }
  if (number == 0) return std::nullopt;
  if (unit == TimeUnit::seconds) {
    if (number <= kMostTimeNumberSeconds) return std::nullopt;
    return wrong_unit(what, number, "milliseconds",
                      "seconds since 1970 must be at most " +
                          std::to_string(kMostTimeNumberSeconds) + " (the end of the year 2200)");
  }
  if (number > base::kMaxTimeMs) {
    return out_of_range(
        what, number,
        "after the limit of " + std::to_string(base::kMaxTimeMs) + " (the end of the year 2200)");
  }
  if (number >= kLeastTimeNumberMs) return std::nullopt;
  return wrong_unit(what, number, "seconds",
                    "milliseconds since 1970 must be at least " +
                        std::to_string(kLeastTimeNumberMs) +
                        " (2001-09-09), or 0; give an earlier time as text");
}

Result<std::int64_t> parse_time_ms(std::string_view text) {
  const auto ms = base::parse_time_ms(text);
  if (!ms || !std::ranges::all_of(text, base::is_digit)) return ms;
  if (auto error = check_time_number("time " + base::quoted(text), *ms)) return *std::move(error);
  return ms;
}

}  // namespace tarry::core
