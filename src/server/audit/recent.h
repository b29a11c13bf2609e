// Recent: the latest lines of the audit log, in memory, for people who look at the console.
//
// Thread safety: none.
//
// Invariants
//  1. It keeps at most kMostLines lines, and at most kMostBytes bytes of them.
//  2. A line's number is 1 for the first line after the server's start, and grows by 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace tarry::audit {

class Recent {
 public:
  static constexpr std::size_t kMostLines = 1'000;
  static constexpr std::size_t kMostBytes = 1 << 20;

  /// Adds whole lines, each with its newline.
  void add(std::string_view lines, std::size_t count);

  /// Visits the lines whose number is less than `before` (0: all), the latest first, at most `most`
  /// of them. Returns the number of the last one if there are older lines, otherwise 0.
  template <typename Visit>
  std::uint64_t visit(std::uint64_t before, std::size_t most, Visit visit) const {
    std::uint64_t number = last_;
    std::size_t visited = 0;
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line, --number) {
      if (before != 0 && number >= before) continue;
      if (visited == most) return number + 1;
      visit(std::string_view(*line));
      ++visited;
    }
    return 0;
  }

 private:
  std::deque<std::string> lines_;  // without their newlines
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;  // the number of the latest line
};

}  // namespace tarry::audit
