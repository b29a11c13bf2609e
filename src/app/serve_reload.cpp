#include "app/serve_reload.h"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/descriptors.h"
#include "app/queue_presets.h"
#include "base/text.h"
#include "base/token.h"

namespace tarry::app {
namespace {

using config::Config;
using config::Held;
using config::Setting;
using config::Which;

std::string value_text(const Setting& setting, const Held& held) {
  return held.value ? config::shown(setting, *held.value) : "nothing";
}

bool differs(const Held& a, const Held& b) {
  return a.value.has_value() != b.value.has_value() || (a.value && a.value->text != b.value->text);
}

}  // namespace

Result<std::string> read_token(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("--token-file {}: cannot be read, or is empty", base::quoted(path))};
  }
  if (line.ends_with('\r')) line.pop_back();
  if (base::is_token(line)) return line;
  return Error{ErrorCode::invalid_argument,
               fmt::format("--token-file {}: its first line is none: {}", base::quoted(path),
                           base::kTokenRule)};
}

http::ServerLimits limits_of(const Config& config) {
  http::ServerLimits limits;
  limits.max_connections =
      connections_within(raise_descriptor_limit(), config.number(Which::max_connections));
  limits.max_body_bytes = config.number(Which::max_body);
  limits.max_held_bytes = config.number(Which::max_held);
  limits.idle_deadline = Millis(config.number(Which::idle_timeout));
  return limits;
}

Result<void> apply_queue_rules(core::Engine& store, const presets::QueueRules& rules,
                               ServeLog& log) {
  const auto changes = apply_rules(store, rules);
  if (!changes) return changes.error();
  for (const std::string& queue : changes->changed) {
    log.info("queue " + base::quoted(queue) + ": has the settings of the configuration now");
  }
  for (const Error& error : changes->failed) log.warning(error.message);
  return {};
}

void reload(Config& held, const config::Flags& flags, const Serving& serving) {
  std::vector<std::string> problems;
  auto read = config::load(held.file, flags, problems);
  if (!read) {
    const std::string more =
        problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : "";
    serving.log.error("not reloaded, all stays as it was: " + problems.front() + more);
    return;
  }
  // The file's name takes a restart; what is in it may change, so that a token can be replaced.
  auto token = read_token(held.text(Which::token_file));
  if (!token) {
    serving.log.error("not reloaded, all stays as it was: " + token.error().message);
    return;
  }
  const auto& settings = config::serve_settings();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting& setting = settings[i];
    if (!differs(held.held[i], read->held[i])) continue;
    const std::string before = value_text(setting, held.held[i]);
    const std::string after = value_text(setting, read->held[i]);
    if (setting.reloads) {
      held.held[i] = std::move(read->held[i]);
      serving.log.info(fmt::format("{} is {} now, no more {}", setting.name(), after, before));
    } else {
      serving.log.warning(
          fmt::format("{} stays {}: {} takes a restart", setting.name(), before, after));
    }
  }
  if (read->relays != held.relays) {
    serving.log.warning("the relays stay as they were: a change of [[relay]] takes a restart");
  }
  held.queues = std::move(read->queues);
  serving.log.set_level(held.text(Which::log_level));
  serving.server.set_limits(limits_of(held));
  if (*token != serving.token) {
    serving.token = *token;
    serving.log.info("another token holds now, no more the one before");
  }
  serving.server.set_token(*std::move(token));
  serving.presets.set_rules(held.queues);
  if (auto applied = apply_queue_rules(serving.store, held.queues, serving.log); !applied) {
    serving.log.error("queues that are there keep their settings: " + applied.error().message);
  }
  serving.log.info(held.file.empty() ? "reloaded; there is no file (--config, TARRY_CONFIG)"
                                     : "reloaded " + base::quoted(held.file));
}

}  // namespace tarry::app
