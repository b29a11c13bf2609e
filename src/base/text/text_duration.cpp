// Durations: parse_duration_ms and format_duration_ms of text.h.
#include <array>
#include <limits>
#include <optional>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace tarry::base {
namespace {

constexpr std::uint64_t kUsPerMs = 1000;
constexpr std::uint64_t kUsPerSecond = 1000 * kUsPerMs;
constexpr std::uint64_t kUsPerMinute = 60 * kUsPerSecond;
constexpr std::uint64_t kUsPerHour = 60 * kUsPerMinute;
constexpr std::uint64_t kUsPerDay = 24 * kUsPerHour;
constexpr std::uint64_t kMaxUs = static_cast<std::uint64_t>(kMaxDurationMs) * kUsPerMs;

constexpr std::string_view kHelp = "; use 250ms, 30s, 15m, 2h, 7d or PT30M";

// Microseconds in a unit, 0 for an unknown name.
std::uint64_t plain_unit(std::string_view name) noexcept {
  if (name == "us") return 1;
  if (name == "ms") return kUsPerMs;
  if (name == "s") return kUsPerSecond;
  if (name == "m") return kUsPerMinute;
  if (name == "h") return kUsPerHour;
  if (name == "d") return kUsPerDay;
  return 0;
}

std::uint64_t iso_date_unit(char designator) noexcept {
  return designator == 'W' ? 7 * kUsPerDay : designator == 'D' ? kUsPerDay : 0;
}

std::uint64_t iso_time_unit(char designator) noexcept {
  switch (designator) {
    case 'H': return kUsPerHour;
    case 'M': return kUsPerMinute;
    case 'S': return kUsPerSecond;
    default: return 0;
  }
}

struct Number {
  std::string_view text;
  std::string_view whole;
  std::string_view fraction;  // without its point
};

class DurationParser {
 public:
  explicit DurationParser(std::string_view text) : text_(text), left_(text) {}

  Result<std::int64_t> parse() {
    if (text_.empty()) return refuse("is empty", kHelp);
    if (text_.front() == '-') return refuse("is negative; the least is 0s");
    const bool iso = to_upper(text_.front()) == 'P';
    if (auto wrong = iso ? parse_iso() : parse_plain()) return std::move(*wrong);
    const std::uint64_t ms = (total_us_ + kUsPerMs - 1) / kUsPerMs;
    if (over_ || ms > static_cast<std::uint64_t>(kMaxDurationMs)) {
      return refuse("is over the limit of 100 years (36525d)");
    }
    return static_cast<std::int64_t>(ms);
  }

 private:
  using Wrong = std::optional<Unexpected>;

  Unexpected refuse(std::string_view why, std::string_view help = {}) const {
    return {ErrorCode::invalid_argument,
            "duration " + quoted(text_) + " " + std::string(why) + std::string(help)};
  }

  Wrong parse_plain() {
    while (!left_.empty()) {
      const auto number = take_number();
      if (!number) return refuse("is not a duration", kHelp);
      std::size_t length = 0;
      while (length < left_.size() && !is_digit(left_[length])) ++length;
      const std::string_view name = left_.substr(0, length);
      left_.remove_prefix(length);
      if (name.empty()) {
        if (number->text == text_) return refuse("has no unit", kHelp);
        return refuse("has no unit after " + quoted(number->text), kHelp);
      }
      const std::uint64_t unit = plain_unit(name);
      if (unit == 0) return refuse("has the unknown unit " + quoted(name), kHelp);
      if (auto wrong = add(*number, unit)) return wrong;
    }
    return std::nullopt;
  }

  Wrong parse_iso() {
    constexpr std::string_view kNotIso = "is not an ISO 8601 duration; use PT30M, P1DT2H or PT0.5S";
    left_.remove_prefix(1);
    bool in_time = false;
    bool expect_number = true;  // right after P and after T
    while (!left_.empty()) {
      if (!in_time && to_upper(left_.front()) == 'T') {
        in_time = true;
        expect_number = true;
        left_.remove_prefix(1);
        continue;
      }
      auto number = take_number();
      if (!number || left_.empty()) return refuse(kNotIso);
      const char designator = to_upper(left_.front());
      left_.remove_prefix(1);
      if (!in_time && (designator == 'Y' || designator == 'M')) {
        return refuse("counts years or months, whose length varies; use days, as in P30D");
      }
      const std::uint64_t unit = in_time ? iso_time_unit(designator) : iso_date_unit(designator);
      if (unit == 0) return refuse(kNotIso);
      if (auto wrong = add(*number, unit)) return wrong;
      expect_number = false;
    }
    if (expect_number) return refuse(kNotIso);
    return std::nullopt;
  }

  std::string_view take_digits() {
    std::size_t length = 0;
    while (length < left_.size() && is_digit(left_[length])) ++length;
    const std::string_view digits = left_.substr(0, length);
    left_.remove_prefix(length);
    return digits;
  }

  // Takes digits, or digits with a point and more digits.
  std::optional<Number> take_number() {
    const std::string_view from = left_;
    Number number;
    number.whole = take_digits();
    if (number.whole.empty()) return std::nullopt;
    if (!left_.empty() && left_.front() == '.') {
      left_.remove_prefix(1);
      number.fraction = take_digits();
      if (number.fraction.empty()) return std::nullopt;
    }
    number.text = from.substr(0, from.size() - left_.size());
    return number;
  }

  Wrong add(const Number& number, std::uint64_t unit) {
    if (after_fraction_) return refuse("has a fraction in a part that is not the last");
    if (unit >= last_unit_)
      return refuse("must name each unit once, from large to small, as in 1h30m");
    last_unit_ = unit;
    after_fraction_ = !number.fraction.empty();

    std::uint64_t whole = 0;
    for (const char digit : number.whole) {
      if (whole > kMaxUs) break;  // over any limit already, and cannot overflow yet
      whole = whole * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    if (whole > kMaxUs / unit) {
      over_ = true;
      return std::nullopt;
    }
    total_us_ += whole * unit + fraction_rounded_up(number.fraction, unit);
    over_ = over_ || total_us_ > kMaxUs;
    return std::nullopt;
  }

  // Works digit by digit from the last one, so it is exact for any length. If a digit's remainder
  // is lost, the true value is above the result.
  static std::uint64_t fraction_rounded_up(std::string_view digits, std::uint64_t unit) {
    std::uint64_t value = 0;
    bool lost = false;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      value += static_cast<std::uint64_t>(*digit - '0') * unit;
      lost = lost || value % 10 != 0;
      value /= 10;
    }
    return value + (lost ? 1 : 0);
  }

  std::string_view text_;
  std::string_view left_;
  std::uint64_t total_us_ = 0;
  std::uint64_t last_unit_ = std::numeric_limits<std::uint64_t>::max();
  bool after_fraction_ = false;
  bool over_ = false;
};

}  // namespace

Result<std::int64_t> parse_duration_ms(std::string_view text) {
  return DurationParser(text).parse();
}

std::string format_duration_ms(std::int64_t ms) {
  if (ms == 0) return "0s";
  std::string text = ms < 0 ? "-" : "";
  // Negated as unsigned: the least int64 has no positive twin.
  auto left = ms < 0 ? 0 - static_cast<std::uint64_t>(ms) : static_cast<std::uint64_t>(ms);
  if (left < 1000) return text + std::to_string(left) + "ms";

  struct Unit {
    char name;
    std::uint64_t ms;
  };
  constexpr std::array kUnits = {Unit{'d', kUsPerDay / kUsPerMs}, Unit{'h', kUsPerHour / kUsPerMs},
                                 Unit{'m', kUsPerMinute / kUsPerMs}};
  for (const Unit& unit : kUnits) {
    if (left >= unit.ms) text += std::to_string(left / unit.ms) + unit.name;
    left %= unit.ms;
  }
  if (left != 0) {
    text += std::to_string(left / 1000);
    if (left % 1000 != 0) {
      std::string fraction = std::to_string(1000 + left % 1000).substr(1);
      fraction.erase(fraction.find_last_not_of('0') + 1);
      text += "." + fraction;
    }
    text += 's';
  }
  return text;
}

}  // namespace tarry::base
