// Points in time: parse_time_ms and format_time_ms of text.h.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace tarry::base {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;

bool is_leap(std::int64_t year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int days_in_month(std::int64_t year, int month) noexcept {
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

struct Date {
  std::int64_t year;
  int month;
  int day;
};

// Both ways count in eras of 400 years (146,097 days) that begin on the 1st of March, so that the
// leap day is the last of its year. 719,468 days lie between 0000-03-01 and 1970-01-01.
constexpr std::int64_t kDaysPerEra = 146'097;
constexpr std::int64_t kEpochDay = 719'468;

std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

std::int64_t days_since_1970(const Date& date) noexcept {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = floor_div(year, 400);
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month = (date.month + 9) % 12;  // from March
  const std::int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kEpochDay;
}

Date date_of(std::int64_t days) noexcept {
  days += kEpochDay;
  const std::int64_t era = floor_div(days, kDaysPerEra);
  const std::int64_t day_of_era = days - era * kDaysPerEra;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t from_march = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int>(day_of_year - (153 * from_march + 2) / 5 + 1);
  const auto month = static_cast<int>(from_march < 10 ? from_march + 3 : from_march - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

class TimeParser {
 public:
  explicit TimeParser(std::string_view text) : text_(text), left_(text) {}

  Result<std::int64_t> parse() {
    if (!text_.empty() && std::ranges::all_of(text_, is_digit)) return parse_epoch_ms();

    Date date{};
    int year = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!number(4, year) || !skip('-') || !number(2, date.month) || !skip('-') ||
        !number(2, date.day) || !(skip('T') || skip('t')) || !number(2, hour) || !skip(':') ||
        !number(2, minute)) {
      return not_a_time();
    }
    date.year = year;
    std::int64_t fraction_ms = 0;
    // Java and `date -Im` leave the seconds out if they are zero.
    if (skip(':')) {
      if (!number(2, second)) return not_a_time();
      if (skip('.') && !fraction(fraction_ms)) return not_a_time();
    }
    if (left_.empty()) return refuse("has no offset; add Z for UTC, or one like +08:00");
    int direction = 0;
    int offset_hour = 0;
    int offset_minute = 0;
    if (skip('Z') || skip('z')) {
      // UTC: no offset.
    } else if (direction = skip('+')   ? 1
                           : skip('-') ? -1
                                       : 0;
               direction == 0 || !number(2, offset_hour) || !skip(':') ||
               !number(2, offset_minute)) {
      return not_a_time();
    }
    if (!left_.empty()) return not_a_time();

    if (date.month < 1 || date.month > 12) return out_of_range("month", date.month, 1, 12);
    if (const int days = days_in_month(year, date.month); date.day < 1 || date.day > days) {
      return out_of_range("day", date.day, 1, days);
    }
    if (hour > 23) return out_of_range("hour", hour, 0, 23);
    if (minute > 59) return out_of_range("minute", minute, 0, 59);
    if (second > 59) return out_of_range("second", second, 0, 59);
    if (offset_hour > 23) return out_of_range("offset's hour", offset_hour, 0, 23);
    if (offset_minute > 59) return out_of_range("offset's minute", offset_minute, 0, 59);

    const std::int64_t minutes = (days_since_1970(date) * 24 + hour) * 60 + minute -
                                 direction * (offset_hour * 60 + offset_minute);
    return within_limits((minutes * 60 + second) * 1000 + fraction_ms);
  }

 private:
  Unexpected refuse(const std::string& why) const {
    return {ErrorCode::invalid_argument, "time " + quoted(text_) + " " + why};
  }
  Unexpected not_a_time() const {
    return refuse("is neither RFC 3339 (2026-11-20T10:00:00Z) nor milliseconds since 1970");
  }
  Unexpected out_of_range(std::string_view what, int value, int min, int max) const {
    return refuse("has the " + std::string(what) + " " + std::to_string(value) + "; it must be " +
                  std::to_string(min) + " to " + std::to_string(max));
  }

  Result<std::int64_t> within_limits(std::int64_t ms) const {
    if (ms < 0) return refuse("is before the limit of 1970-01-01T00:00:00Z");
    if (ms > kMaxTimeMs) return refuse("is after the limit of " + format_time_ms(kMaxTimeMs));
    return ms;
  }

  Result<std::int64_t> parse_epoch_ms() const {
    std::int64_t ms = 0;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), ms);
    return within_limits(error == std::errc() ? ms : kMaxTimeMs + 1);
  }

  bool skip(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }

  bool number(std::size_t digits, int& value) {
    if (left_.size() < digits) return false;
    value = 0;
    for (const char c : left_.substr(0, digits)) {
      if (!is_digit(c)) return false;
      value = value * 10 + (c - '0');
    }
    left_.remove_prefix(digits);
    return true;
  }

  bool fraction(std::int64_t& ms) {
    std::size_t digits = 0;
    bool more = false;
    ms = 0;
    for (; digits < left_.size() && is_digit(left_[digits]); ++digits) {
      const int digit = left_[digits] - '0';
      if (digits < 3) {
        ms = ms * 10 + digit;
      } else {
        more = more || digit != 0;
      }
    }
    for (std::size_t i = digits; i < 3; ++i) ms *= 10;
    ms += more ? 1 : 0;
    left_.remove_prefix(digits);
    return digits != 0;
  }

  std::string_view text_;
  std::string_view left_;
};

// Writes the number with leading zeros, and returns where it ends. `snprintf` would take ten times
// as long, and an answer has three times a message.
char* write_padded(char* at, std::int64_t number, std::size_t width) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto size = static_cast<std::size_t>(end - digits.data());
  const std::size_t zeros = size < width ? width - size : 0;
  at = std::fill_n(at, zeros, '0');
  return std::copy(digits.data(), end, at);
}

}  // namespace

Result<std::int64_t> parse_time_ms(std::string_view text) { return TimeParser(text).parse(); }

std::string format_time_ms(std::int64_t epoch_ms) {
  const std::int64_t days = floor_div(epoch_ms, kMsPerDay);
  const Date date = date_of(days);
  // `epoch_ms - days * kMsPerDay` would overflow near the least int64.
  const std::int64_t ms = (epoch_ms % kMsPerDay + kMsPerDay) % kMsPerDay;
  std::array<char, 64> text;
  char* at = text.data();
  if (date.year < 0) *at++ = '-';
  at = write_padded(at, std::abs(date.year), date.year < 0 ? 3 : 4);
  *at++ = '-';
  at = write_padded(at, date.month, 2);
  *at++ = '-';
  at = write_padded(at, date.day, 2);
  *at++ = 'T';
  at = write_padded(at, ms / 3'600'000, 2);
  *at++ = ':';
  at = write_padded(at, ms / 60'000 % 60, 2);
  *at++ = ':';
  at = write_padded(at, ms / 1000 % 60, 2);
  *at++ = '.';
  at = write_padded(at, ms % 1000, 3);
  *at++ = 'Z';
  return {text.data(), at};
}

}  // namespace tarry::base
