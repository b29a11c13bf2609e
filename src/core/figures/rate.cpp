#include "core/figures/rate.h"

#include <charconv>
#include <optional>
#include <string>

#include <tarry/projection.h>

#include "base/text/text.h"

namespace tarry::core {
namespace {

Error not_a_rate(std::string_view what, std::string_view text, std::string_view or_else = {}) {
  return {ErrorCode::invalid_argument, std::string(what) + " " + base::quoted(text) +
                                           " is not a number of messages a second, " +
                                           "from 0.001 to 10000000" + std::string(or_else)};
}

bool is_rate(double rate) {
  return rate >= ProjectionOptions::kMinRate && rate <= ProjectionOptions::kMaxRate;
}

// Nothing for a text that is no decimal number: no sign, no exponent, no word such as `inf`.
std::optional<double> decimal(std::string_view text) {
  constexpr std::size_t kLongest = 32;
  if (text.empty() || text.size() > kLongest || text.front() == '.' || text.back() == '.' ||
      text.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

MaybeError check_rate(std::string_view what, double rate) {
  if (is_rate(rate)) return {};
  std::string text = std::to_string(rate);
  return not_a_rate(what, text);
}

Result<double> parse_rate(std::string_view what, std::string_view text) {
  const auto value = decimal(text);
  if (!value || !is_rate(*value)) return not_a_rate(what, text);
  return *value;
}

Result<double> parse_arrivals(std::string_view what, std::string_view text) {
  if (text == "none") return 0.0;
  const auto value = decimal(text);
  if (!value || !is_rate(*value)) return not_a_rate(what, text, ", or \"none\"");
  return *value;
}

}  // namespace tarry::core
