#include "app/serve/serve_reload.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/output/progress.h"
#include "app/serve/queue_presets.h"
#include "app/serve/servable.h"
#include "app/serve/serve_schedules.h"
#include "app/system/descriptors.h"
#include "base/secrets/secret_file.h"
#include "base/text/text.h"

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

Result<audit::FilePtr> open_audit_log(const Config& config) {
  const std::string path = config.text(Which::audit_log);
  if (path.empty()) return audit::FilePtr();
  auto file = audit::File::open(setting_of(Which::audit_log).flag, path);
  if (!file) return std::move(file).error();
  return audit::FilePtr(*std::move(file));
}

void note_open_audit_log(const Config& config, ServeLog& log) {
  const std::string path = config.text(Which::audit_log);
  if (path.empty() || !base::is_readable_by_all(path)) return;
  log.warning("audit_log_open",
              fmt::format("--audit-log {}: every user of this machine can read it: chmod o-r {}",
                          base::quoted(path), path));
}

Result<listening::Tls> read_tls(const Config& config) {
  const std::string certificate = config.text(Which::tls_cert);
  if (certificate.empty()) return listening::Tls();
  return listening::load_tls({certificate, config.text(Which::tls_key),
                              config.text(Which::tls_passphrase_file),
                              config.text(Which::tls_client_ca)});
}

void note_tls(const Config& config, const listening::Tls& tls, ServeLog& log) {
  if (!tls.context) return;
  log.info("certificate", fmt::format("the server's certificate is that of {}, valid until {}",
                                      base::quoted(tls.subject, 256), tls.valid_until));
  const std::string apart = config.text(Which::tls_key);
  const std::string key = apart.empty() ? config.text(Which::tls_cert) : apart;
  if (!base::is_readable_by_all(key)) return;
  log.warning("tls_key_open",
              fmt::format("tls.{} {}: every user of this machine can read the key: chmod o-r {}",
                          apart.empty() ? "cert" : "key", base::quoted(key, 256), key));
}

void note_insecure(const Config& config, ServeLog& log) {
  if (config.number(Which::insecure) == 0) return;
  const std::string open = open_addresses(config);
  log.warning("insecure", open.empty()
                              ? "server.insecure is set, but no address needs it: remove it"
                              : "server.insecure: other machines reach " + open);
}

session::Limits limits_of(const Config& config) {
  session::Limits limits;
  limits.max_connections =
      connections_within(raise_descriptor_limit(), config.number(Which::max_connections));
  limits.max_body_bytes = config.number(Which::max_body);
  limits.max_held_bytes = config.number(Which::max_held);
  limits.connections_per_peer = config.number(Which::connections_per_peer);
  limits.connections_per_token = config.number(Which::connections_per_token);
  limits.held_per_peer = config.number(Which::held_per_peer);
  limits.held_per_token = config.number(Which::held_per_token);
  limits.requests_per_second = {config.number(Which::requests),
                                config.number(Which::requests_per_peer),
                                config.number(Which::requests_per_token)};
  limits.waiting_claims = {config.number(Which::waiting_claims),
                           config.number(Which::waiting_claims_per_peer),
                           config.number(Which::waiting_claims_per_token)};
  limits.idle_deadline = Millis(config.number(Which::idle_timeout));
  return limits;
}

void note_fewer_connections(const Config& config, const session::Limits& limits, ServeLog& log) {
  // If the user asked for no number, only a small limit is worth a log line.
  constexpr std::size_t kEnough = 1'000;
  const std::uint64_t wanted = config.number(Which::max_connections);
  const bool is_asked_for = config.at(Which::max_connections).from != "default";
  if (limits.max_connections >= (is_asked_for ? wanted : std::min<std::uint64_t>(wanted, kEnough)))
    return;
  log.warning(
      "fewer_connections",
      fmt::format(
          "at most {} at once, not the {} of server.max_connections: this process may have {} open "
          "files, and the store needs its share; raise the limit (ulimit -n, LimitNOFILE=)",
          counted(limits.max_connections, "connection"), grouped(wanted),
          grouped(descriptor_limit().value_or(0))));
}

Result<void> apply_queue_rules(core::Engine& store, const presets::QueueRules& rules,
                               ServeLog& log) {
  const auto changes = apply_rules(store, rules);
  if (!changes) return changes.error();
  for (const std::string& queue : changes->changed) {
    log.info("queue_configured",
             "queue " + base::quoted(queue) + ": has the settings of the configuration now");
  }
  for (const Error& error : changes->failed) log.warning("queue_not_configured", error.message);
  return {};
}

void reload(Config& held, const config::Flags& flags, const Serving& serving) {
  std::vector<std::string> problems;
  auto read = config::load(held.file, flags, problems);
  if (!read) {
    serving.log.error("not_reloaded", config::not_reloaded(problems));
    return;
  }
  // A new name of a file of tokens takes effect only after a restart. But the contents of the file
  // are read again, so that tokens can be replaced.
  auto tokens = read_tokens(held, problems);
  if (!tokens) {
    serving.log.error("not_reloaded", config::not_reloaded(problems));
    return;
  }
  auto tls = read_tls(held);
  if (!tls) {
    serving.log.error("not_reloaded",
                      "not reloaded, everything stays as it was: " + tls.error().message);
    return;
  }
  // The file may have been moved away (log rotation), so it is always opened anew.
  auto audit = open_audit_log(held);
  if (!audit) {
    serving.log.error("not_reloaded",
                      "not reloaded, everything stays as it was: " + audit.error().message);
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
      serving.log.info("setting_changed",
                       fmt::format("{} is now {}, it was {}", setting.name(), after, before));
    } else {
      serving.log.warning("needs_restart",
                          fmt::format("{} stays {}: the change to {} needs a restart",
                                      setting.name(), before, after));
    }
  }
  if (read->relays != held.relays) {
    serving.log.warning("needs_restart",
                        "the relays stay as they were: a change of [[relay]] needs a restart");
  }
  held.queues = std::move(read->queues);
  serving.log.set_level(held.text(Which::log_level));
  const session::Limits limits = limits_of(held);
  note_fewer_connections(held, limits, serving.log);
  serving.server.set_limits(limits);
  for (const std::string& line : tokens->ended) serving.log.warning("token_ended", line);
  log_changed_tokens(serving.tokens, *tokens, serving.log);
  serving.tokens = *std::move(tokens);
  serving.server.set_tokens(tokens_of(serving.tokens));
  if (tls->digest != serving.tls.digest) {
    serving.tls = *std::move(tls);
    serving.server.set_tls(serving.tls.context);
    note_tls(held, serving.tls, serving.log);
  }
  if (*audit != nullptr) serving.server.set_audit(*std::move(audit));
  serving.presets.set_rules(held.queues);
  if (auto applied = apply_queue_rules(serving.store.engine(), held.queues, serving.log);
      !applied) {
    serving.log.error("rules_not_applied",
                      "existing queues keep their settings: " + applied.error().message);
  }
  // If the last section is gone from the file, its schedule is to go too.
  read->schedules.is_given = read->schedules.is_given || held.schedules.is_given;
  held.schedules = std::move(read->schedules);
  if (auto applied = apply_schedules(serving.store, held.schedules, serving.log); !applied) {
    serving.log.error(
        "schedules_not_applied",
        "the schedules of the configuration are not applied: " + applied.error().message);
  }
  serving.log.info("reloaded", held.file.empty()
                                   ? "reloaded; there is no file (--config, TARRY_CONFIG)"
                                   : "reloaded " + base::quoted(held.file));
}

}  // namespace tarry::app
