// LogThrottle: limits a warning that clients can cause as often as they like to one line a second.
// The line says how many were left out before it.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tarry::session {

class LogThrottle {
 public:
  using Clock = std::chrono::steady_clock;

  /// If a line may be written now, returns the number of lines left out since the last one;
  /// otherwise nothing.
  [[nodiscard]] std::optional<std::uint64_t> turn(Clock::time_point now) {
    if (last_ && now - *last_ < std::chrono::seconds(1)) {
      ++left_out_;
      return std::nullopt;
    }
    last_ = now;
    return std::exchange(left_out_, 0);
  }

  /// Returns the line, if one may be written now.
  [[nodiscard]] std::optional<std::string> line(std::string_view text, Clock::time_point now) {
    const auto left_out = turn(now);
    if (!left_out) return std::nullopt;
    return std::string(text) + and_more(*left_out);
  }

  /// The end of a line: how many lines were left out.
  [[nodiscard]] static std::string and_more(std::uint64_t left_out) {
    if (left_out == 0) return {};
    return " (and " + std::to_string(left_out) + " more since the last line)";
  }

 private:
  std::optional<Clock::time_point> last_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tarry::session
