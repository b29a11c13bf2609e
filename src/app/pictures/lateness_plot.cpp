#include "app/pictures/lateness_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "app/output/progress.h"
#include "app/pictures/chart.h"

namespace tarry::app {
namespace {

struct Percentile {
  double p;
  const char* name;
};
constexpr std::array kPercentiles{Percentile{50, "p50"}, Percentile{99, "p99"},
                                  Percentile{99.9, "p99.9"}};
constexpr double kLeast = 10;  // microseconds: where the axis begins if nothing is faster
constexpr double kMost = 10'000;

double at(const LatenessAtLoad& run, double p) {
  return std::max(1.0, static_cast<double>(run.lateness.percentile(p)));
}

std::string load_words(double load) {
  return grouped(static_cast<std::uint64_t>(std::llround(load))) + "/s";
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
  double least = kLeast;
  double most = kMost;
  for (const LatenessAtLoad& run : runs) {
    least = std::min(least, at(run, 50));
    most = std::max(most, at(run, 99.9));
  }
  const auto [low, high] = decades_around(least, most);
  const auto column = [&, low = low, high = high](double value) {
    const double share = (std::log10(value) - low) / (high - low);
    return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * double(columns - 1)));
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
    fmt::format_to(std::back_inserter(out), "{:>{}} {}\n", load_words(run.asked), kLabel, line);
  }
  std::string axis(columns, ' ');
  for (int decade = low; decade <= high; ++decade) {
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
  Chart chart;
  chart.title = title;
  chart.x_label = "messages falling due a second";
  chart.x_words = load_words;
  chart.y_words = lateness_words;
  chart.y_least = kLeast;
  chart.y_most = kMost;
  for (const Percentile& percentile : kPercentiles) {
    Series& series = chart.series.emplace_back();
    series.name = percentile.name;
    for (const LatenessAtLoad& run : runs) {
      series.points.emplace_back(run.asked, at(run, percentile.p));
    }
  }
  return svg_of(chart);
}

}  // namespace tarry::app
