// Store URLs, and the queries and percent-codes of HTTP targets.
#include <cstdint>
#include <string>
#include <variant>

#include "base/assert.h"
#include "base/text/text.h"
#include "core/limits.h"
#include "fuzz/input.h"
#include "open/urls/store_url.h"
#include "wire/parts/query.h"

namespace tarry::fuzz {
namespace {

void check_store_url(std::string_view text) {
  const auto url = detail::parse_store_url(text);
  if (!url) {
    TARRY_ASSERT(url.error().code == ErrorCode::invalid_argument ||
                 url.error().code == ErrorCode::unsupported);
    const std::string& message = url.error().message;
    TARRY_ASSERT(!message.empty() && message.find('\n') == std::string::npos);
    return;
  }
  if (const auto* remote = std::get_if<detail::RemoteUrl>(&*url)) {
    TARRY_ASSERT(remote->host.empty() != remote->unix_path.empty());
    TARRY_ASSERT(remote->host.size() <= 253 && remote->port != 0);
    TARRY_ASSERT(remote->certificate_file.empty() == remote->key_file.empty());
    TARRY_ASSERT(remote->tls || (remote->ca_file.empty() && remote->key_file.empty()));
    return;
  }
  if (const auto* redis = std::get_if<detail::RedisUrl>(&*url)) {
    TARRY_ASSERT(redis->hosts.empty() != redis->unix_path.empty());
    for (const base::HostAndPort& at : redis->hosts) {
      TARRY_ASSERT(!at.host.empty() && at.host.size() <= 253 && at.port != 0);
    }
    TARRY_ASSERT(redis->hosts.size() <= 64);
    TARRY_ASSERT(redis->shards.value_or(1) >= 1 && redis->shards.value_or(1) <= core::kMaxShards);
    TARRY_ASSERT(redis->certificate_file.empty() == redis->key_file.empty());
    return;
  }
  if (const auto* rabbit = std::get_if<detail::RabbitUrl>(&*url)) {
    TARRY_ASSERT(rabbit->scheme == "amqp" || rabbit->scheme == "amqps");
    TARRY_ASSERT(text.ends_with(rabbit->rest));
    return;
  }
  const auto& embedded = std::get<detail::EmbeddedUrl>(*url);
  TARRY_ASSERT(embedded.path.find('\0') == std::string::npos);
  TARRY_ASSERT(embedded.path.size() <= text.size());
  TARRY_ASSERT(embedded.shards.value_or(1) >= 1 && embedded.shards.value_or(1) <= core::kMaxShards);
  TARRY_ASSERT(embedded.max_payload.value_or(1) >= 1 &&
               embedded.max_payload.value_or(1) <= core::kMaxMaxPayload);
  TARRY_ASSERT(embedded.path.empty() || !embedded.memory_bytes);
}

// A password is shown neither by the mask nor by an error.
void check_mask(std::string_view text) {
  constexpr std::string_view kSecret = "s3cr3t-Pa55word";
  if (text.find(kSecret) != std::string_view::npos) return;
  for (const std::string_view scheme : {"http://", "https://", "redis://", "amqp://", "//"}) {
    const std::string url =
        std::string(scheme) + "user:" + std::string(kSecret) + "@" + std::string(text);
    TARRY_ASSERT(detail::masked_url(url).find(kSecret) == std::string::npos);
    const auto parsed = detail::parse_store_url(url);
    TARRY_ASSERT(parsed || parsed.error().message.find(kSecret) == std::string::npos);
  }
}

void check_percent(std::string_view text) {
  const std::string encoded = wire::percent_encode(text);
  const auto back = wire::percent_decode(encoded);
  TARRY_ASSERT(back && *back == text);
  const auto decoded = wire::percent_decode(text);
  if (!decoded) {
    TARRY_ASSERT(!decoded.error().message.empty());
    return;
  }
  TARRY_ASSERT(decoded->size() <= text.size());
}

void check_query(std::string_view text) {
  auto query = wire::Query::parse(text);
  if (!query) {
    TARRY_ASSERT(!query.error().message.empty());
    return;
  }
  const auto key = query->bytes("key", "key_base64");
  const auto after = query->text("after");
  const auto limit = query->number("limit", 1, 1000);
  TARRY_ASSERT(!limit || (*limit >= 1 && *limit <= 1000));
  if (query->finish()) return;

  // Writing the query that was read, and reading it again, gives the same.
  std::string written;
  wire::QueryWriter to(written);
  if (key && base::is_valid_utf8(*key)) to.add("key", *key);
  if (after) to.add("after", *after);
  if (limit) to.add("limit", std::to_string(*limit));
  auto again = wire::Query::parse(written.empty() ? written : written.substr(1));
  TARRY_ASSERT(again);
  if (key && base::is_valid_utf8(*key)) TARRY_ASSERT(again->bytes("key", "key_base64") == key);
  TARRY_ASSERT(again->text("after") == after);
  TARRY_ASSERT(again->number("limit", 1, 1000) == limit);
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tarry::fuzz::Input input(data, size);
  tarry::fuzz::check_store_url(input.rest());
  tarry::fuzz::check_mask(input.rest());
  tarry::fuzz::check_percent(input.rest());
  tarry::fuzz::check_query(input.rest());
  return 0;
}
