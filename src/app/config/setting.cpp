#include "app/config/setting.h"

#include <optional>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/text/text.h"
#include "open/urls/store_url.h"

namespace tarry::app::config {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;
constexpr std::uint64_t kSecond = 1000;
constexpr std::uint64_t kHour = 3600 * kSecond;
constexpr std::uint64_t kMostConnections = 1'000'000;
constexpr std::uint64_t kMostRequests = 1'000'000;  // a second
constexpr std::uint64_t kMostRevision = 1'000'000'000'000;
constexpr std::uint64_t kMostWaiting = 1'000'000;

std::vector<Setting> make_settings() {
  const std::vector<std::string_view> levels{"debug", "info", "warning", "error"};
  const std::vector<std::string_view> formats{"text", "json"};
  return {
      {"store", "url", "--store", "TARRY_STORE", Kind::url, "URL", "", 0, 0, false,
       "The store to serve: file:, memory: or redis:"},
      {"store", "wait", "--store-wait", "TARRY_STORE_WAIT", Kind::duration, "DURATION", "", 0,
       365 * 24 * kHour, false,
       "How long to wait at the start for a Redis that cannot be\n"
       "reached (default: no limit)"},
      {"server", "listen", "--listen", "TARRY_LISTEN", Kind::addresses, "ADDRESS,...",
       "127.0.0.1:7733", 0, 0, false,
       "HOST:PORT, [HOST]:PORT for IPv6, unix:PATH; port 0: any\n"
       "free port"},
      {"server", "sqs", "--sqs", "TARRY_SQS", Kind::addresses, "ADDRESS,...", "", 0, 0, false,
       "Speak Amazon SQS's protocols at these addresses (default: none)"},
      {"server", "beanstalk", "--beanstalk", "TARRY_BEANSTALK", Kind::addresses, "ADDRESS,...", "",
       0, 0, false, "Speak beanstalkd's protocol at these addresses (default: none)"},
      {"server", "names", "--names", "TARRY_NAMES", Kind::names, "NAME,...", "", 0, 0, false,
       "Host names by which clients may call the server"},
      {"server", "insecure", "--insecure", "TARRY_INSECURE", Kind::yes_no, "", "false", 0, 1, false,
       "Let other machines in without TLS or without a token"},
      {"server", "port_file", "--port-file", "TARRY_PORT_FILE", Kind::text, "FILE", "", 0, 0, false,
       "Write the port to this file once the server listens"},
      {"server", "token_file", "--token-file", "TARRY_TOKEN_FILE", Kind::text, "FILE", "", 0, 0,
       false, "Answer only clients that send the token in this file's first line"},
      {"server", "tokens_file", "--tokens-file", "TARRY_TOKENS_FILE", Kind::text, "FILE", "", 0, 0,
       false, "Answer only clients that send a token of this file (tarry token new)"},
      {"server", "audit_log", "--audit-log", "TARRY_AUDIT_LOG", Kind::text, "FILE", "", 0, 0, false,
       "Append a line to this file for each act that a person may\n"
       "ask about: cancel, purge, pause, ... (tarry audit-log)"},
      {"server", "test_clock", "--test-clock", "TARRY_TEST_CLOCK", Kind::yes_no, "", "false", 0, 1,
       false, "Time stands still until POST /v1/clock/advance moves it; for tests"},
      {"server", "max_connections", "--max-connections", "TARRY_MAX_CONNECTIONS", Kind::count, "N",
       "10000", 1, kMostConnections, true, "Connections at once; above it, clients get 503"},
      {"server", "max_body", "--max-body", "TARRY_MAX_BODY", Kind::size, "SIZE", "192MiB", kKiB,
       kGiB, true, "The largest request body; above it: 413"},
      {"server", "max_held", "--max-held", "TARRY_MAX_HELD", Kind::size, "SIZE", "1GiB", kMiB,
       1024 * kGiB, true, "Memory for requests and answers; above it: 429"},
      {"server", "idle_timeout", "--idle-timeout", "TARRY_IDLE_TIMEOUT", Kind::duration, "DURATION",
       "5m", kSecond, 24 * kHour, true, "Close a connection after this long without a request"},
      {"server", "drain_timeout", "--drain-timeout", "TARRY_DRAIN_TIMEOUT", Kind::duration,
       "DURATION", "30s", 0, kHour, true,
       "How long a stop waits for requests and relays in progress"},
      {"limits", "connections_per_peer", "--limit-connections-per-peer",
       "TARRY_LIMIT_CONNECTIONS_PER_PEER", Kind::count, "N", "0", 0, kMostConnections, true,
       "Connections of one address or user of a unix socket; above\n"
       "it: 429; 0: no limit"},
      {"limits", "connections_per_token", "--limit-connections-per-token",
       "TARRY_LIMIT_CONNECTIONS_PER_TOKEN", Kind::count, "N", "0", 0, kMostConnections, true,
       "The same for one token"},
      {"limits", "held_per_peer", "--limit-held-per-peer", "TARRY_LIMIT_HELD_PER_PEER", Kind::size,
       "SIZE", "0B", 0, 1024 * kGiB, true,
       "Memory for requests and answers of one address or user; 0:\n"
       "half of --max-held"},
      {"limits", "held_per_token", "--limit-held-per-token", "TARRY_LIMIT_HELD_PER_TOKEN",
       Kind::size, "SIZE", "0B", 0, 1024 * kGiB, true, "The same for one token; 0: no limit"},
      {"limits", "requests", "--limit-requests", "TARRY_LIMIT_REQUESTS", Kind::count, "N", "0", 0,
       kMostRequests, true,
       "Requests a second of all clients; above it: 429; 0: no\n"
       "limit"},
      {"limits", "requests_per_peer", "--limit-requests-per-peer", "TARRY_LIMIT_REQUESTS_PER_PEER",
       Kind::count, "N", "0", 0, kMostRequests, true,
       "The same for one address or user of a unix socket"},
      {"limits", "requests_per_token", "--limit-requests-per-token",
       "TARRY_LIMIT_REQUESTS_PER_TOKEN", Kind::count, "N", "0", 0, kMostRequests, true,
       "The same for one token"},
      {"limits", "waiting_claims", "--limit-waiting-claims", "TARRY_LIMIT_WAITING_CLAIMS",
       Kind::count, "N", "0", 0, kMostWaiting, true,
       "Waiting claims of all clients; above it: 429; 0: no limit"},
      {"limits", "waiting_claims_per_peer", "--limit-waiting-claims-per-peer",
       "TARRY_LIMIT_WAITING_CLAIMS_PER_PEER", Kind::count, "N", "0", 0, kMostWaiting, true,
       "The same for one address or user of a unix socket"},
      {"limits", "waiting_claims_per_token", "--limit-waiting-claims-per-token",
       "TARRY_LIMIT_WAITING_CLAIMS_PER_TOKEN", Kind::count, "N", "0", 0, kMostWaiting, true,
       "The same for one token"},
      {"tls", "cert", "--tls-cert", "TARRY_TLS_CERT", Kind::text, "FILE", "", 0, 0, false,
       "Speak TLS with the certificate in this PEM file, which has\n"
       "those of its issuers after it"},
      {"tls", "key", "--tls-key", "TARRY_TLS_KEY", Kind::text, "FILE", "", 0, 0, false,
       "The certificate's private key (default: in --tls-cert)"},
      {"tls", "passphrase_file", "--tls-passphrase-file", "TARRY_TLS_PASSPHRASE_FILE", Kind::text,
       "FILE", "", 0, 0, false, "The key's passphrase, in this file's first line"},
      {"tls", "client_ca", "--tls-client-ca", "TARRY_TLS_CLIENT_CA", Kind::text, "FILE", "", 0, 0,
       false, "Let in only clients with a certificate of these authorities"},
      {"sqs", "keys_file", "--sqs-keys-file", "TARRY_SQS_KEYS_FILE", Kind::text, "FILE", "", 0, 0,
       false, "The tokens with which SQS clients sign, each after its name"},
      {"sqs", "strict", "--sqs-strict", "TARRY_SQS_STRICT", Kind::yes_no, "", "false", 0, 1, false,
       "Refuse SQS clients delays over 900 s, as AWS does"},
      {"sqs", "on_http", "--sqs-on-http", "TARRY_SQS_ON_HTTP", Kind::yes_no, "", "false", 0, 1,
       false, "Speak SQS's protocols at the addresses of HTTP too"},
      {"schedules", "revision", "--schedules-revision", "TARRY_SCHEDULES_REVISION", Kind::count,
       "N", "", 0, kMostRevision, true,
       "Revision of the file's schedules: a server whose revision is\n"
       "lower than the store's changes none"},
      {"log", "level", "--log-level", "TARRY_LOG_LEVEL", Kind::choice, "", "info", 0, 0, true,
       "Lowest level to log; debug logs every request", levels},
      {"log", "format", "--log-format", "TARRY_LOG_FORMAT", Kind::choice, "", "text", 0, 0, false,
       "Format of a line", formats},
  };
}

std::string size_text(std::uint64_t bytes) {
  if (bytes > 0 && bytes % kGiB == 0) return fmt::format("{}GiB", bytes / kGiB);
  if (bytes > 0 && bytes % kMiB == 0) return fmt::format("{}MiB", bytes / kMiB);
  if (bytes > 0 && bytes % kKiB == 0) return fmt::format("{}KiB", bytes / kKiB);
  return fmt::format("{}B", bytes);
}

Value value_of(const Setting& setting, std::uint64_t number) {
  switch (setting.kind) {
    case Kind::size: return {size_text(number), number};
    case Kind::duration:
      return {base::format_duration_ms(static_cast<std::int64_t>(number)), number};
    case Kind::yes_no: return {number != 0 ? "true" : "false", number};
    default: return {std::to_string(number), number};
  }
}

Error outside(std::string_view text, const Value& min, const Value& max) {
  return {ErrorCode::invalid_argument,
          fmt::format("{} is not from {} to {}", base::quoted(text), min.text, max.text)};
}

Result<Value> parse_number(const Setting& setting, std::string_view text) {
  std::uint64_t number = 0;
  if (setting.kind == Kind::size) {
    const auto size = base::parse_size(text);
    if (!size) return size.error();
    number = *size;
  } else {
    const auto ms = base::parse_duration_ms(text);
    if (!ms) return ms.error();
    number = static_cast<std::uint64_t>(*ms);
  }
  if (number < setting.min || number > setting.max) {
    return outside(text, value_of(setting, setting.min), value_of(setting, setting.max));
  }
  return value_of(setting, number);
}

}  // namespace

std::string Setting::name() const { return fmt::format("{}.{}", section, key); }

const std::vector<Setting>& serve_settings() {
  static const std::vector<Setting> kSettings = make_settings();
  TARRY_ASSERT(kSettings.size() == static_cast<std::size_t>(Which::count_));
  return kSettings;
}

const Setting& setting_of(Which which) { return serve_settings()[static_cast<std::size_t>(which)]; }

Result<Value> parse_value(const Setting& setting, std::string_view text) {
  if (text.empty()) return Error{ErrorCode::invalid_argument, "must not be empty"};
  switch (setting.kind) {
    case Kind::text:
    case Kind::addresses:
    case Kind::names:
    case Kind::url: return Value{std::string(text), 0};
    case Kind::choice: {
      const auto known = check_choice(text, setting.choices);
      if (!known) return known.error();
      return Value{std::string(text), 0};
    }
    case Kind::yes_no:
      if (text == "true" || text == "1") return value_of(setting, 1);
      if (text == "false" || text == "0") return value_of(setting, 0);
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{} is neither true nor false", base::quoted(text))};
    case Kind::count: {
      const auto number = base::parse_u64(text, "number", setting.min, setting.max);
      if (!number) return number.error();
      return value_of(setting, *number);
    }
    case Kind::size:
    case Kind::duration: return parse_number(setting, text);
  }
  return Error{ErrorCode::misuse, "a setting of no kind"};
}

std::optional<Value> read_value(const Setting& setting, Section& section) {
  const auto of = [&](std::optional<std::uint64_t> number) -> std::optional<Value> {
    if (!number) return std::nullopt;
    return value_of(setting, *number);
  };
  switch (setting.kind) {
    case Kind::addresses:
    case Kind::names: {
      const auto texts = section.one_or_more_texts(setting.key);
      if (!texts) return std::nullopt;
      return Value{fmt::format("{}", fmt::join(*texts, ",")), 0};
    }
    case Kind::text:
    case Kind::url:
    case Kind::choice: {
      auto text = setting.kind == Kind::choice ? section.choice(setting.key, setting.choices)
                                               : section.text(setting.key);
      if (!text) return std::nullopt;
      return Value{std::move(*text), 0};
    }
    case Kind::yes_no: {
      const auto yes = section.boolean(setting.key);
      return of(yes ? std::optional<std::uint64_t>(*yes ? 1 : 0) : std::nullopt);
    }
    case Kind::count: return of(section.count(setting.key, setting.min, setting.max));
    case Kind::size: return of(section.size(setting.key, setting.min, setting.max));
    case Kind::duration: {
      const auto ms = section.duration(setting.key, Millis(setting.min), Millis(setting.max));
      return of(ms ? std::optional(static_cast<std::uint64_t>(ms->count())) : std::nullopt);
    }
  }
  return std::nullopt;
}

std::string shown(const Setting& setting, const Value& value) {
  return setting.kind == Kind::url ? detail::masked_url(value.text) : value.text;
}

}  // namespace tarry::app::config
