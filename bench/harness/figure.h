// Figure: one line of FIGURES.md's last table, the value measured for it, and whether that is good
// enough.
//
// Plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tarry::bench {

enum class Better { higher, lower };

struct Figure {
  std::string_view id;    // "F1"
  std::string_view what;  // a line
  std::string_view unit;  // "ratio", "B", "s", "ms"
  Better better = Better::higher;
  double must = 0;   // a worse value fails the run
  double reach = 0;  // the value to aim for
};

/// The median of some rounds, and their spread.
struct Measured {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// `rounds` is not empty.
[[nodiscard]] Measured median_of(std::vector<double> rounds);

struct Line {
  Figure figure;
  Measured measured;

  [[nodiscard]] bool meets(double bound) const noexcept {
    return figure.better == Better::higher ? measured.value >= bound : measured.value <= bound;
  }
  [[nodiscard]] bool ok() const noexcept { return meets(figure.must); }
};

/// `{"id":"F1","value":…,"low":…,"high":…,"must":…,"reach":…,"unit":"ratio","ok":true}`
[[nodiscard]] std::string json_of(const Line& line);

/// All lines under headings, cut to `width` columns (0: any width).
[[nodiscard]] std::string table_of(const std::vector<Line>& lines, std::size_t width);

/// Three significant digits: 0.0123, 4.56, 12.3, 1234.
[[nodiscard]] std::string short_number(double value);

}  // namespace tarry::bench
