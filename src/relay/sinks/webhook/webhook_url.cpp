#include "relay/sinks/webhook/webhook_url.h"

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/secrets/secret_file.h"
#include "base/secrets/token.h"
#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "relay/sinks/webhook/webhook_sink.h"

namespace tarry::relay {
namespace {

using WebhookUrlOption = base::UrlOption<WebhookOptions>;

Unexpected wrong_webhook(std::string message) {
  return Unexpected(ErrorCode::invalid_argument, std::move(message));
}

template <std::string WebhookOptions::* kField>
Result<void> set_text(std::string_view value, WebhookOptions& options) {
  options.*kField = value;
  return {};
}

template <Millis WebhookOptions::* kField>
Result<void> set_time(std::string_view value, WebhookOptions& options) {
  const auto ms = base::parse_duration_ms(value);
  if (!ms) return ms.error();
  options.*kField = Millis(*ms);
  return {};
}

Result<void> set_connections(std::string_view value, WebhookOptions& options) {
  const auto number = base::parse_u64(value, "connections", 1, kMaxWebhookConnections);
  if (!number) return number.error();
  options.connections = static_cast<std::uint32_t>(*number);
  return {};
}

// Both options set the list; more than one of them would be ambiguous.
Result<void> take_allow(AllowList list, WebhookOptions& options) {
  if (!options.allow.is_default()) {
    return wrong_webhook(
        "allow and allow_private exclude each other; allow=0.0.0.0/0,::/0 permits what "
        "allow_private=yes does");
  }
  options.allow = std::move(list);
  return {};
}

Result<void> set_allow(std::string_view value, WebhookOptions& options) {
  auto list = AllowList::parse(value);
  if (!list) return list.error();
  return take_allow(*std::move(list), options);
}

Result<void> set_allow_private(std::string_view value, WebhookOptions& options) {
  if (value != "yes" && value != "no") {
    return wrong_webhook(fmt::format("allow_private {} must be yes or no", base::quoted(value)));
  }
  return value == "yes" ? take_allow(AllowList::everything(), options) : Result<void>();
}

Result<void> set_content_type(std::string_view value, WebhookOptions& options) {
  for (const char c : value) {
    if (c < 0x20 || c == 0x7f) {
      return wrong_webhook(
          fmt::format("content_type {} must be one line of ASCII", base::quoted(value)));
    }
  }
  options.content_type = value;
  return {};
}

Result<void> set_signature(std::string_view value, WebhookOptions& options) {
  if (value != "v1" && value != "v2") {
    return wrong_webhook(fmt::format("signature {} must be v2 or v1", base::quoted(value)));
  }
  options.signature = value == "v1" ? WebhookSignature::v1 : WebhookSignature::v2;
  return {};
}

Result<void> take_secret(std::string_view from, std::string secret, WebhookOptions& options) {
  if (!options.secret.empty())
    return wrong_webhook("secret_file and secret_env exclude each other");
  if (secret.size() < kMinWebhookSecret) {
    return wrong_webhook(fmt::format("the secret of {} has {} bytes; it needs {}",
                                     base::quoted(from), secret.size(), kMinWebhookSecret));
  }
  options.secret = std::move(secret);
  return {};
}

Result<void> set_secret_file(std::string_view value, WebhookOptions& options) {
  auto line = base::read_secret("secret_file", std::string(value));
  if (!line) return line.error();
  return take_secret(value, *std::move(line), options);
}

Result<void> set_secret_env(std::string_view value, WebhookOptions& options) {
  const char* secret = std::getenv(std::string(value).c_str());
  if (secret == nullptr) {
    return wrong_webhook(
        fmt::format("secret_env {} is not set in the environment", base::quoted(value)));
  }
  return take_secret(value, secret, options);
}

Result<void> set_token_file(std::string_view value, WebhookOptions& options) {
  auto line = base::read_secret("token_file", std::string(value));
  if (!line) return line.error();
  if (!base::is_token(*line)) {
    return wrong_webhook(
        fmt::format("token_file {} holds none: {}", base::quoted(value), base::kTokenRule));
  }
  options.token = *std::move(line);
  return {};
}

constexpr std::array<WebhookUrlOption, 14> kWebhookOptions{{
    {"allow", set_allow},
    {"allow_private", set_allow_private},
    {"secret_file", set_secret_file},
    {"secret_env", set_secret_env},
    {"signature", set_signature},
    {"token_file", set_token_file},
    {"content_type", set_content_type},
    {"path_from", set_text<&WebhookOptions::path_header>},
    {"connections", set_connections},
    {"connect_timeout", set_time<&WebhookOptions::connect_timeout>},
    {"timeout", set_time<&WebhookOptions::timeout>},
    {"ca", set_text<&WebhookOptions::ca_file>},
    {"cert", set_text<&WebhookOptions::certificate_file>},
    {"key", set_text<&WebhookOptions::key_file>},
}};

}  // namespace

Result<std::unique_ptr<Sink>> make_webhook_sink(std::string_view url) {
  WebhookOptions options;
  const std::size_t hash = url.find('#');
  options.url = url.substr(0, hash);
  if (hash != std::string_view::npos) {
    if (auto set = base::parse_options<WebhookOptions>(
            url.substr(hash + 1), url.substr(0, url.find(':')), kWebhookOptions, options);
        !set) {
      // The text after a # may be the end of a password that contains one.
      if (url.find('@', hash) != std::string_view::npos) return base::misplaced_login();
      return set.error();
    }
  }
  auto sink = WebhookSink::make(std::move(options));
  if (!sink) return wrong_webhook(sink.error().message);
  return sink;
}

}  // namespace tarry::relay
