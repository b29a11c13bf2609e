// Run: what every figure is measured with: how many rounds, where its files go, and what it tells
// while it works.
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
  double scale = 1;       // of the numbers of messages: 10 takes 100M where 1 takes 10M
  std::string directory;  // a new, empty one is made in it for each store
};

class Run {
 public:
  explicit Run(RunOptions options) : options_(std::move(options)) {}

  [[nodiscard]] int rounds() const noexcept { return options_.rounds; }
  [[nodiscard]] std::uint64_t scaled(std::uint64_t count) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(count) * options_.scale);
  }
  [[nodiscard]] const std::string& directory() const noexcept { return options_.directory; }

  /// The measurement that begins, by its first figure's id.
  void begin(std::string_view id) const;
  /// What the figure is made of, for the eyes: "tarry 312k/s, RocksDB 76k/s".
  void note(std::string_view text) const;
  void add(const Figure& figure, Measured measured) { lines_.push_back({figure, measured}); }
  [[nodiscard]] const std::vector<Line>& lines() const noexcept { return lines_; }

 private:
  RunOptions options_;
  std::vector<Line> lines_;
};

}  // namespace tarry::bench
