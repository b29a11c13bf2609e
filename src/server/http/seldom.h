// A warning that may come as often as clients like: it is told at most once a second, with how many
// were left out meanwhile.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarry::http {

class Seldom {
 public:
  using Clock = std::chrono::steady_clock;

  /// The line to tell, if it is time for one.
  [[nodiscard]] std::optional<std::string> line(std::string_view text, Clock::time_point now) {
    if (last_ && now - *last_ < std::chrono::seconds(1)) {
      ++left_out_;
      return std::nullopt;
    }
    last_ = now;
    std::string line(text);
    if (left_out_ > 0) line += " (and " + std::to_string(left_out_) + " more since the last line)";
    left_out_ = 0;
    return line;
  }

 private:
  std::optional<Clock::time_point> last_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tarry::http
