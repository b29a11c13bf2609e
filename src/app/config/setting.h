// Setting: one setting of `tarry serve`, and its names in the file, in the environment and as a
// flag. `serve_settings` is the table of all settings; a test compares it with
// docs/reference/config.md.
//
// Thread safety: pure functions; the table is constant.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "app/config/section.h"

namespace tarry::app::config {

/// `addresses` and `names` are lists: in the file a list of texts or a single text, elsewhere one
/// text with commas.
enum class Kind { text, addresses, names, url, choice, yes_no, count, size, duration };

struct Setting {
  std::string_view section;      // its section in the file
  std::string_view key;          // its key in that section
  std::string_view flag;         // with its dashes
  std::string_view environment;  // the variable
  Kind kind = Kind::text;
  std::string_view type;      // for help: the kind of value to write
  std::string_view standard;  // its default; empty: none
  std::uint64_t min = 0;      // of a count; in bytes for a size, in milliseconds for a duration
  std::uint64_t max = 0;
  bool reloads = false;  // whether SIGHUP puts a new value into effect
  std::string_view help;
  std::vector<std::string_view> choices = {};

  /// `server.listen`
  [[nodiscard]] std::string name() const;
};

/// Identifies a setting. The values have the order of the table.
enum class Which : std::size_t {
  store_url,
  store_wait,
  listen,
  sqs,
  beanstalk,
  names,
  insecure,
  port_file,
  token_file,
  tokens_file,
  audit_log,
  test_clock,
  max_connections,
  max_body,
  max_held,
  idle_timeout,
  drain_timeout,
  connections_per_peer,
  connections_per_token,
  held_per_peer,
  held_per_token,
  requests,
  requests_per_peer,
  requests_per_token,
  waiting_claims,
  waiting_claims_per_peer,
  waiting_claims_per_token,
  tls_cert,
  tls_key,
  tls_passphrase_file,
  tls_client_ca,
  sqs_keys_file,
  sqs_strict,
  sqs_on_http,
  schedules_revision,
  log_level,
  log_format,
  count_,
};

[[nodiscard]] const std::vector<Setting>& serve_settings();
[[nodiscard]] const Setting& setting_of(Which which);
/// The settings that say where the fronts listen. An empty one: not at all.
inline constexpr std::array kListening = {Which::listen, Which::sqs, Which::beanstalk};

/// A setting's value: as displayed text and, if it is a number, as bytes, milliseconds, 0 or 1.
struct Value {
  std::string text;
  std::uint64_t number = 0;
};

/// Reads the text of a flag or an environment variable. Errors name the value and the limit, not
/// the setting.
[[nodiscard]] Result<Value> parse_value(const Setting& setting, std::string_view text);
/// Reads the setting from the file. Errors go to the section's Problems.
[[nodiscard]] std::optional<Value> read_value(const Setting& setting, Section& section);
/// The value's displayed form: a store's URL is shown without its password.
[[nodiscard]] std::string shown(const Setting& setting, const Value& value);

}  // namespace tarry::app::config
