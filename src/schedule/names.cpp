#include "schedule/names.h"

#include <cstdint>
#include <random>

#include "base/text/text.h"

namespace tarry::schedule {
namespace {

constexpr std::string_view kNew = "new.";

std::string unique(std::string_view name, std::string_view word) {
  std::random_device random;
  const std::uint64_t number = std::uint64_t{random()} << 32U | random();
  return std::string(name) + "@" + std::string(word) + std::to_string(number);
}

}  // namespace

std::string occurrence_key(std::string_view name, Time nominal) {
  std::string time = base::format_time_ms(nominal.time_since_epoch().count());
  if (constexpr std::string_view kWhole = ".000Z"; time.ends_with(kWhole)) {
    time.replace(time.size() - kWhole.size(), kWhole.size(), "Z");
  }
  return std::string(name) + "@" + time;
}

std::string first_timer_key(std::string_view name) { return unique(name, kNew); }

std::string run_key(std::string_view name) { return unique(name, "run."); }

std::optional<Timer> parse_timer(std::string_view key) {
  const std::size_t at = key.rfind('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::string_view text = key.substr(at + 1);
  if (text.starts_with(kNew)) return Timer{key.substr(0, at), {}};
  const auto ms = base::parse_time_ms(text);
  if (!ms || text.find('T') == std::string_view::npos) return std::nullopt;
  return Timer{key.substr(0, at), Time(Millis(*ms))};
}

}  // namespace tarry::schedule
