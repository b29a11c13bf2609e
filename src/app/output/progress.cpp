#include "app/output/progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/output/printable.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirst = 1s;          // a job shorter than this needs no bar
constexpr auto kOnTerminal = 100ms;  // between two pictures on a terminal
constexpr auto kInLog = 5s;
constexpr std::size_t kBar = 24;

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(std::floor(share * static_cast<double>(kBar)));
  std::string bar(filled, '=');
  if (filled < kBar) bar += '>';
  bar.resize(kBar, ' ');
  return bar;
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string progress_line(std::string_view what, const Reading& reading,
                          std::chrono::milliseconds elapsed, std::size_t width) {
  std::string line = fmt::format("{} ", what);
  if (reading.total > 0) {
    const double share =
        std::min(1.0, static_cast<double>(reading.done) / static_cast<double>(reading.total));
    const double percent = std::floor(share * 100);
    line += width == 0 ? fmt::format("{:.0f}%: {}", percent, reading.count)
                       : fmt::format("{:3.0f}% [{}]  {}", percent, bar(share), reading.count);
    if (share > 0.01 && share < 1) {
      const double left = static_cast<double>(elapsed.count()) * (1 - share) / share;
      const auto seconds = static_cast<std::int64_t>(std::ceil(left / 1000));
      line += fmt::format(", {} left", base::format_duration_ms(seconds * 1000));
    }
  } else {
    line += reading.count;
  }
  return width == 0 ? line : clipped(line, width);
}

Progress::Progress(std::string_view what, std::FILE* out, Terminal terminal)
    : what_(what),
      out_(out),
      terminal_(terminal),
      next_(start_ + (terminal.is_terminal() ? Clock::duration(kFirst) : kInLog)) {}

Progress::~Progress() { clear(); }

void Progress::show(std::uint64_t done, std::uint64_t total, std::uint64_t count,
                    std::string_view unit) {
  if (out_ == nullptr) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_.is_terminal() ? Clock::duration(kOnTerminal) : kInLog);
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - start_);
  const Reading reading{done, total, fmt::format("{} {}", grouped(count), unit)};
  if (terminal_.is_terminal()) {
    // One column stays free, because on some terminals a full line would wrap.
    const std::string line = progress_line(what_, reading, elapsed, terminal_.width() - 1);
    fmt::print(out_, "\r{}\x1b[K", line);
    shown_ = true;
  } else {
    fmt::print(out_, "{}\n", progress_line(what_, reading, elapsed, 0));
  }
  std::fflush(out_);
}

void Progress::show_bytes(std::uint64_t done, std::uint64_t total) {
  constexpr std::uint64_t kMiB = 1u << 20;
  show(done, total, done / kMiB, "MiB");
}

void Progress::clear() {
  if (!shown_) return;
  shown_ = false;
  std::fputs("\r\x1b[K", out_);
  std::fflush(out_);
}

}  // namespace tarry::app
