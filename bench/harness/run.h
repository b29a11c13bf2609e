// Run: the settings of every measurement: how many rounds, and where its files go. It also reports
// the progress.
//
// Thread safety: none; one thread measures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/figure.h"

namespace tarry::bench {

struct RunOptions {
  int rounds = 5;
  double scale = 1;       // of the numbers of messages: 10 makes 10M into 100M
  std::string directory;  // each store gets a new, empty directory in it
};

class Run {
 public:
  explicit Run(RunOptions options) : options_(std::move(options)) {}

  [[nodiscard]] int rounds() const noexcept { return options_.rounds; }
  [[nodiscard]] std::uint64_t scaled(std::uint64_t count) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(count) * options_.scale);
  }
  [[nodiscard]] const std::string& directory() const noexcept { return options_.directory; }

  /// Reports that a measurement begins, by the id of its first figure.
  void begin(std::string_view id) const;
  /// Prints the parts of a figure for people: "tarry 312k/s, RocksDB 76k/s".
  void note(std::string_view text) const;
  void add(const Figure& figure, Measured measured) { lines_.push_back({figure, measured}); }
  [[nodiscard]] const std::vector<Line>& lines() const noexcept { return lines_; }

 private:
  RunOptions options_;
  std::vector<Line> lines_;
};

}  // namespace tarry::bench
