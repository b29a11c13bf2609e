#include "app/config/variables.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "app/config/setting.h"
#include "app/output/printable.h"
#include "base/text/nearest.h"

namespace tarry::app::config {
namespace {

constexpr std::string_view kPrefix = "TARRY_";

// The names of all variables that the program reads, without the prefix, which would make any two
// of them similar. The variables that `tarry work` sets for its commands are included, because a
// command may be tarry itself.
std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names{"CONFIG", "TOKEN"};
  names.insert(names.end(), {"KEY", "ID", "QUEUE", "ATTEMPT", "DUE_MS"});
  for (const Setting& setting : serve_settings()) {
    names.push_back(setting.environment.substr(kPrefix.size()));
  }
  return names;
}

}  // namespace

std::vector<std::string> mistyped_variables() {
  const std::vector<std::string_view> known = known_names();
  std::vector<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view whole = *entry;
    if (!whole.starts_with(kPrefix)) continue;
    const std::string_view name = whole.substr(0, whole.find('=')).substr(kPrefix.size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string_view meant = base::nearest(name, known);
    if (meant.empty()) continue;
    found.push_back(fmt::format("{}{} is set, but nothing reads it; did you mean {}{}?", kPrefix,
                                printable(name), kPrefix, meant));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tarry::app::config
