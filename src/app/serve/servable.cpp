#include "app/serve/servable.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "app/config/listen.h"
#include "app/config/variables.h"
#include "app/output/printable.h"
#include "base/text/text.h"
#include "open/server_call.h"
#include "open/urls/store_url.h"

namespace tarry::app {

using config::Config;
using config::Which;

namespace {

Result<void> check_store(const Config& config) {
  const std::string url = config.text(Which::store_url);
  if (url.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "serve needs a store of its own: --store file:DIRECTORY, memory: or redis://HOST"};
  }
  if (!tools::is_server_url(url)) return {};
  // The error names the setting, not the file, because `tarry relay --config` accepts such a relay.
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("{}: serve needs a store of its own: file:, memory: or redis:, not {}",
                  config.at(Which::store_url).from, base::quoted(detail::masked_url(url)))};
}

// No relay may write to standard output, because the server reports there that it is ready.
Result<void> check_relays(const Config& config) {
  for (const RelayPlan& plan : config.relays) {
    if (!plan.writes_stdout()) continue;
    return Error{
        ErrorCode::invalid_argument,
        fmt::format(
            "{}:{}: relay {}: to = \"stdout\" needs tarry relay --config; serve cannot run it",
            printable(config.file), plan.line, base::quoted(plan.options.name))};
  }
  return {};
}

Result<void> check_tls(const Config& config) {
  if (!config.text(Which::tls_cert).empty()) return {};
  for (const Which which : {Which::tls_key, Which::tls_passphrase_file, Which::tls_client_ca}) {
    if (config.text(which).empty()) continue;
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: {} has no effect without tls.cert", config.at(which).from,
                             config::setting_of(which).name())};
  }
  return {};
}

/// The addresses of all fronts, as one list.
std::string all_addresses(const Config& config) {
  std::string all;
  for (const Which which : config::kListening) {
    const std::string text = config.text(which);
    if (!all.empty() && !text.empty()) all += ',';
    all += text;
  }
  return all;
}

/// The first setting that has an address which other machines reach.
Which first_open(const Config& config) {
  const auto found = std::ranges::find_if(config::kListening, [&](Which which) {
    const auto addresses = parse_listen(config.text(which));
    return addresses && !std::ranges::all_of(*addresses, &Address::is_local);
  });
  return found == config::kListening.end() ? Which::listen : *found;
}

Result<void> check_listening(const Config& config) {
  if (const auto all = parse_listen(all_addresses(config)); !all) return all.error();
  const std::string open = open_addresses(config);
  if (!open.empty() && config.number(Which::insecure) == 0) {
    const Which which = first_open(config);
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: {}: other machines would reach {}; set what is "
                             "missing, or server.insecure = true",
                             config.at(which).from, config::setting_of(which).name(), open)};
  }
  const auto addresses = parse_listen(config.text(Which::listen));
  const bool has_port = addresses && !std::ranges::all_of(*addresses, &Address::is_unix);
  if (!config.text(Which::port_file).empty() && !has_port) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: server.port_file: no address of server.listen has a port",
                             config.at(Which::port_file).from)};
  }
  return {};
}

}  // namespace

std::string open_addresses(const Config& config) {
  std::string missing;
  const auto lacks = [&missing](std::string_view what) {
    missing += missing.empty() ? "" : " and ";
    missing += what;
  };
  if (config.text(Which::tls_cert).empty()) lacks("without TLS (tls.cert)");
  if (config.text(Which::token_file).empty() && config.text(Which::tokens_file).empty()) {
    lacks("without a token (server.tokens_file)");
  }
  const auto addresses = parse_listen(all_addresses(config));
  if (missing.empty() || !addresses) return {};
  std::string open;
  for (const Address& address : *addresses) {
    if (address.is_local()) continue;
    open += open.empty() ? "" : ", ";
    open += address.text();
  }
  return open.empty() ? open : open + " " + missing;
}

Result<void> check_servable(const Config& config) {
  if (auto good = check_store(config); !good) return good;
  if (auto good = check_tls(config); !good) return good;
  if (auto good = check_listening(config); !good) return good;
  return check_relays(config);
}

std::vector<std::string> notes_of(const Config& config) {
  std::vector<std::string> notes = config::mistyped_variables();
  if (config.number(Which::max_held) < config.number(Which::max_body)) {
    notes.push_back(
        fmt::format("server.max_held, {}, is less than server.max_body, {}: memory may exceed it "
                    "by one request of that size",
                    config.text(Which::max_held), config.text(Which::max_body)));
  }
  return notes;
}

}  // namespace tarry::app
