#include "app/lateness_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "app/progress.h"

namespace tarry::app {
namespace {

struct Percentile {
  double p;
  const char* name;
  const char* colour;  // Okabe and Ito's, which the colour-blind can tell apart
};
constexpr std::array kPercentiles{Percentile{50, "p50", "#009E73"},
                                  Percentile{99, "p99", "#0072B2"},
                                  Percentile{99.9, "p99.9", "#D55E00"}};

double at(const LatenessAtLoad& run, double p) {
  return std::max(1.0, static_cast<double>(run.lateness.percentile(p)));
}

// Whole decades around all there is, in powers of ten of microseconds.
struct Decades {
  int low = 1;
  int high = 4;

  [[nodiscard]] double place(double value) const {
    const double share = (std::log10(value) - low) / (high - low);
    return std::clamp(share, 0.0, 1.0);
  }
};

Decades decades_of(const std::vector<LatenessAtLoad>& runs) {
  Decades decades;
  for (const LatenessAtLoad& run : runs) {
    decades.low = std::min(decades.low, static_cast<int>(std::floor(std::log10(at(run, 50)))));
    decades.high = std::max(decades.high, static_cast<int>(std::ceil(std::log10(at(run, 99.9)))));
  }
  return decades;
}

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

// Where things are in the SVG, in its units.
constexpr double kLeft = 70;
constexpr double kTop = 40;
constexpr double kWidth = 560;
constexpr double kHeight = 300;

double y_of(const Decades& decades, double microseconds) {
  return kTop + kHeight * (1 - decades.place(microseconds));
}

}  // namespace

std::string lateness_words(double microseconds) {
  if (microseconds < 10'000) return fmt::format("{:.2f} ms", microseconds / 1e3);
  if (microseconds < 10'000'000) return fmt::format("{:.0f} ms", microseconds / 1e3);
  return fmt::format("{:.1f} s", microseconds / 1e6);
}

std::string lateness_text(const std::vector<LatenessAtLoad>& runs, std::size_t width) {
  constexpr std::size_t kLabel = 14;
  const std::size_t columns = std::max<std::size_t>(width == 0 ? 80 : width, 40) - kLabel - 1;
  const Decades decades = decades_of(runs);
  const auto column = [&](double value) {
    return static_cast<std::size_t>(std::lround(decades.place(value) * double(columns - 1)));
  };
  std::string out;
  for (const LatenessAtLoad& run : runs) {
    std::string line(columns, ' ');
    const std::size_t p50 = column(at(run, 50));
    const std::size_t p99 = column(at(run, 99));
    const std::size_t p999 = column(at(run, 99.9));
    for (std::size_t i = p99; i <= p999; ++i) line[i] = '.';
    for (std::size_t i = p50; i <= p99; ++i) line[i] = '-';
    line[p50] = '|';
    line.erase(line.find_last_not_of(' ') + 1);
    const std::string load = grouped(static_cast<std::uint64_t>(std::llround(run.asked))) + "/s";
    fmt::format_to(std::back_inserter(out), "{:>{}} {}\n", load, kLabel, line);
  }
  std::string axis(columns, ' ');
  for (int decade = decades.low; decade <= decades.high; ++decade) {
    const std::string words = decade < 3   ? fmt::format("{}ms", std::pow(10, decade - 3))
                              : decade < 6 ? fmt::format("{:.0f}ms", std::pow(10, decade - 3))
                                           : fmt::format("{:.0f}s", std::pow(10, decade - 6));
    const std::size_t place = std::min(column(std::pow(10, decade)), columns - words.size());
    axis.replace(place, words.size(), words);
  }
  axis.erase(axis.find_last_not_of(' ') + 1);
  fmt::format_to(std::back_inserter(out), "{:>{}} {}\n", "", kLabel, axis);
  return out;
}

std::string lateness_svg(const std::vector<LatenessAtLoad>& runs, const std::string& title) {
  const Decades decades = decades_of(runs);
  double lowest = 1e300;
  double highest = 0;
  for (const LatenessAtLoad& run : runs) {
    lowest = std::min(lowest, run.asked);
    highest = std::max(highest, run.asked);
  }
  const double span = std::log10(std::max(highest / lowest, 1.0001));
  const auto x_of = [&](double load) {
    return kLeft + kWidth * std::log10(std::max(load / lowest, 1.0)) / span;
  };
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 400\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"680\" height=\"400\" fill=\"white\"/>\n";
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "<text x=\"{}\" y=\"22\" font-size=\"14\">{}</text>\n", kLeft,
                 escaped(title));
  for (int decade = decades.low; decade <= decades.high; ++decade) {
    const double y = y_of(decades, std::pow(10, decade));
    fmt::format_to(put,
                   "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>\n"
                   "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
                   kLeft, y, kLeft + kWidth, kLeft - 6, y + 4,
                   lateness_words(std::pow(10, decade)));
  }
  for (const LatenessAtLoad& run : runs) {
    fmt::format_to(put, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}/s</text>\n",
                   x_of(run.asked), kTop + kHeight + 20,
                   grouped(static_cast<std::uint64_t>(std::llround(run.asked))));
  }
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    const Percentile& percentile = kPercentiles[i];
    std::string points;
    for (const LatenessAtLoad& run : runs) {
      const double y = y_of(decades, at(run, percentile.p));
      fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", x_of(run.asked), y);
      fmt::format_to(put, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
                     x_of(run.asked), y, percentile.colour);
    }
    fmt::format_to(put,
                   "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n"
                   "<text x=\"{}\" y=\"390\" fill=\"{}\">{}</text>\n",
                   points, percentile.colour, kLeft + 60 * double(i), percentile.colour,
                   percentile.name);
  }
  out += "</svg>\n";
  return out;
}

}  // namespace tarry::app
