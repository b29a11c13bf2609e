#include "app/pictures/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace tarry::app {
namespace {

// Colours of Okabe and Ito, which colour-blind people can tell apart.
constexpr std::array kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"};

// Positions and sizes in the units of the picture.
constexpr double kLeft = 75;
constexpr double kTop = 40;
constexpr double kWidth = 560;
constexpr double kHeight = 300;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

// A logarithmic axis. `place` is a value's position on it, from 0 to 1.
struct Axis {
  double low = 0;  // powers of ten
  double high = 1;

  [[nodiscard]] double place(double value) const {
    if (value <= 0 || high <= low) return 0;
    return std::clamp((std::log10(value) - low) / (high - low), 0.0, 1.0);
  }
};

}  // namespace

std::pair<int, int> decades_around(double least, double most) {
  const int low = static_cast<int>(std::floor(std::log10(least)));
  return {low, std::max(low + 1, static_cast<int>(std::ceil(std::log10(most))))};
}

std::string svg_of(const Chart& chart) {
  std::set<double> xs;
  double least = chart.y_least;
  double most = chart.y_most;
  for (const Series& series : chart.series) {
    for (const auto& [x, y] : series.points) {
      xs.insert(x);
      least = std::min(least, y);
      most = std::max(most, y);
    }
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 420\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"680\" height=\"420\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"22\" font-size=\"14\">{}</text>\n",
      kLeft, escaped(chart.title));
  const auto put = std::back_inserter(out);
  if (xs.empty()) return out + "</svg>\n";

  const auto [low, high] = decades_around(least, most);
  const Axis x_axis{std::log10(*xs.begin()), std::log10(*xs.rbegin())};
  const Axis y_axis{double(low), double(high)};
  const auto x_of = [&](double x) { return kLeft + kWidth * x_axis.place(x); };
  const auto y_of = [&](double y) { return kTop + kHeight * (1 - y_axis.place(y)); };
  for (int decade = low; decade <= high; ++decade) {
    const double y = y_of(std::pow(10, decade));
    fmt::format_to(put,
                   "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>\n"
                   "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
                   kLeft, y, kLeft + kWidth, kLeft - 6, y + 4,
                   escaped(chart.y_words(std::pow(10, decade))));
  }
  for (const double x : xs) {
    fmt::format_to(put, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x_of(x),
                   kTop + kHeight + 20, escaped(chart.x_words(x)));
  }
  fmt::format_to(put, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft + kWidth,
                 kTop + kHeight + 40, escaped(chart.x_label));
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    const char* const colour = kColours[i % kColours.size()];
    std::string points;
    for (const auto& [x, y] : series.points) {
      fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", x_of(x), y_of(y));
      fmt::format_to(put, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x_of(x),
                     y_of(y), colour);
    }
    fmt::format_to(put,
                   "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n"
                   "<text x=\"{}\" y=\"405\" fill=\"{}\">{}</text>\n",
                   points, colour, kLeft + 110 * double(i), colour, escaped(series.name));
  }
  out += "</svg>\n";
  return out;
}

}  // namespace tarry::app
