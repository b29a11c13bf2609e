// Chart: a picture of figures as an SVG, with lines over logarithmic axes.
//
// Pure functions and plain values.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tarry::app {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // all above 0
};

struct Chart {
  std::string title;
  std::string x_label;
  std::vector<Series> series;
  std::function<std::string(double)> x_words;  // label of each x that has a point
  std::function<std::string(double)> y_words;  // label of each power of ten
  double y_least = 1e300;                      // the y axis includes these and all points
  double y_most = 1e-300;
};

/// The powers of ten around the values: [10^first, 10^second].
[[nodiscard]] std::pair<int, int> decades_around(double least, double most);

/// All texts are escaped for SVG.
[[nodiscard]] std::string svg_of(const Chart& chart);

}  // namespace tarry::app
