#include "app/config/config.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/config/listen.h"
#include "app/config/queue_section.h"
#include "app/config/relay_section.h"
#include "app/config/schedule_section.h"
#include "app/output/printable.h"
#include "app/relays/relay_coordination.h"
#include "base/assert.h"
#include "base/text/text.h"
#include "open/urls/store_url.h"

namespace tarry::app::config {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 20;

std::optional<std::string> variable(std::string_view name) {
  const char* given = std::getenv(std::string(name).c_str());
  if (given == nullptr || *given == '\0') return std::nullopt;
  return given;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: cannot be read: {}", printable(path), std::strerror(errno))};
  }
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof())) {
    return Error{ErrorCode::invalid_argument, fmt::format("{}: cannot be read", printable(path))};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: is over {} bytes", printable(path), kLargestFile)};
  }
  return text;
}

struct FromFile {
  std::map<Which, Held> values;
  presets::QueueRules queues;
  std::vector<RelayPlan> relays;
  std::vector<schedule::Definition> schedules;
};

void read_settings(Section& whole, FromFile& into, const std::string& file) {
  const auto& settings = serve_settings();
  std::map<std::string_view, std::optional<Section>> sections;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting& setting = settings[i];
    auto [at, fresh] = sections.try_emplace(setting.section);
    if (fresh) at->second = whole.section(setting.section);
    if (!at->second) continue;
    auto value = read_value(setting, *at->second);
    if (!value) continue;
    into.values[static_cast<Which>(i)] = {
        std::move(value), fmt::format("{}:{}", printable(file), at->second->line_of(setting.key))};
  }
  for (auto& [name, section] : sections) {
    if (section) section->finish();
  }
}

FromFile read_config(const std::string& file, std::vector<std::string>& problems) {
  FromFile found;
  const auto text = read_file(file);
  if (!text) {
    problems.push_back(text.error().message);
    return found;
  }
  const auto root = parse_toml(*text, file);
  if (!root) {
    problems.push_back(root.error().message);
    return found;
  }
  Problems wrong(file);
  Section whole(*root, "", wrong);
  read_settings(whole, found, file);
  found.queues = read_queue_rules(whole);
  found.relays = read_relays(whole);
  found.schedules = read_schedules(whole);
  whole.finish();
  for (std::string& line : wrong.lines()) problems.push_back(std::move(line));
  return found;
}

// Finds errors for which the server would refuse to start, as far as they show without opening a
// port or a file.
Result<void> check_alone(Which which, const std::string& text) {
  if (std::ranges::find(kListening, which) != kListening.end() && !text.empty()) {
    if (const auto addresses = parse_listen(text); !addresses) return addresses.error();
  }
  if (which == Which::names) {
    if (const auto names = parse_names(text); !names) return names.error();
  }
  if (which == Which::store_url) {
    if (const auto url = detail::parse_store_url(text); !url) return url.error();
  }
  return {};
}

// Checks whether relays can share the store. A relay's own section cannot tell, because it does not
// know the store.
void check_relays_share(const Config& config, std::vector<std::string>& problems) {
  const std::string store = config.text(Which::store_url);
  if (store.empty()) return;
  for (const RelayPlan& plan : config.relays) {
    if (!check_coordination(plan, "")) continue;  // reported when its section was read
    const auto good = check_coordination(plan, store);
    if (!good)
      problems.push_back(fmt::format("{}:{}: {}", config.file, plan.line, good.error().message));
  }
}

}  // namespace

std::string Config::text(Which which) const {
  const Held& held_there = at(which);
  return held_there.value ? held_there.value->text : std::string();
}

std::uint64_t Config::number(Which which) const {
  const Held& held_there = at(which);
  TARRY_ASSERT(held_there.value.has_value());
  return held_there.value->number;
}

std::string file_of(const std::optional<std::string>& flag) {
  return flag ? *flag : variable("TARRY_CONFIG").value_or("");
}

Result<Config> load(const std::string& file, const Flags& flags,
                    std::vector<std::string>& problems) {
  Config config;
  config.file = file;
  FromFile given;
  if (!file.empty()) given = read_config(file, problems);
  config.queues = std::move(given.queues);
  config.relays = std::move(given.relays);
  const auto& settings = serve_settings();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting& setting = settings[i];
    const auto which = static_cast<Which>(i);
    Held held;
    const auto take = [&](const std::string& text, std::string from) {
      auto value = parse_value(setting, text);
      if (const auto good = value ? check_alone(which, value->text) : value.error(); !good) {
        problems.push_back(fmt::format("{}: {}", from, good.error().message));
        return;
      }
      held = {std::move(*value), std::move(from)};
    };
    if (const auto flag = flags.find(which); flag != flags.end()) {
      take(flag->second, fmt::format("flag {}", setting.flag));
    } else if (const auto set = variable(setting.environment)) {
      take(*set, fmt::format("environment {}", setting.environment));
    } else if (const auto written = given.values.find(which); written != given.values.end()) {
      held = written->second;
      if (const auto good = check_alone(which, held.value->text); !good) {
        problems.push_back(
            fmt::format("{}: {}: {}", held.from, setting.name(), good.error().message));
      }
    } else if (!setting.standard.empty()) {
      take(std::string(setting.standard), "default");
    }
    config.held.push_back(std::move(held));
  }
  check_relays_share(config, problems);
  const auto& revision = config.at(Which::schedules_revision).value;
  config.schedules.is_given = revision || !given.schedules.empty();
  config.schedules.revision = revision ? revision->number : 0;
  config.schedules.schedules = std::move(given.schedules);
  if (!problems.empty()) return Error{ErrorCode::invalid_argument, problems.front()};
  return config;
}

std::string not_reloaded(const std::vector<std::string>& problems) {
  const std::string more =
      problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : "";
  return "not reloaded, everything stays as it was: " + problems.front() + more;
}

}  // namespace tarry::app::config
