#include "relay/sinks/redis/kind.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "relay/sinks/redis/redis_sink.h"

namespace tarry::relay {
namespace {

/// Reads the options that say where on the server messages go. Options that describe the server
/// itself are appended to `rest`.
Result<RedisTarget> take_target(std::string_view query, std::string& rest) {
  static constexpr std::array<std::string_view, 10> kOfServers{
      "user",          "password_file",         "ca", "cert", "key", "name", "db", "master",
      "sentinel_user", "sentinel_password_file"};
  static constexpr std::array<std::string_view, 3> kKinds{"list", "stream", "channel"};
  std::optional<RedisTarget> target;
  std::optional<std::uint64_t> max_length;
  for (const std::string_view part : base::split(query, '&')) {
    const std::string_view name = part.substr(0, part.find('='));
    if (part.empty()) continue;
    if (std::ranges::find(kOfServers, name) != kOfServers.end()) {
      rest.append(rest.empty() ? "?" : "&").append(part);
      continue;
    }
    const auto kind = std::ranges::find(kKinds, name);
    if (kind == kKinds.end() && name != "maxlen") {
      std::vector<std::string_view> known(kKinds.begin(), kKinds.end());
      known.push_back("maxlen");
      known.insert(known.end(), kOfServers.begin(), kOfServers.end());
      return base::invalid_url(
          fmt::format("option {} is not one of a sink in Redis, which are {}{}", base::quoted(name),
                      fmt::join(known, ", "), base::did_you_mean(name, known)));
    }
    const std::size_t equals = part.find('=');
    const auto value = base::percent_decoded(
        name, equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!value) return value.error();
    if (value->empty())
      return base::invalid_url(fmt::format("option {0} needs a value: {0}=VALUE", name));
    if (name == "maxlen") {
      const auto number = base::parse_u64(*value, "maxlen", 1, 1'000'000'000'000);
      if (!number) return number.error();
      max_length = *number;
      continue;
    }
    if (target) return base::invalid_url("list, stream and channel exclude each other");
    target.emplace();
    target->kind = static_cast<RedisTarget::Kind>(kind - kKinds.begin());
    target->name = *value;
  }
  if (!target)
    return base::invalid_url("a sink in Redis needs list=NAME, stream=NAME or channel=NAME");
  if (max_length && target->kind != RedisTarget::Kind::stream) {
    return base::invalid_url("maxlen goes with stream= only");
  }
  target->max_length = max_length.value_or(0);
  return *target;
}

MadeSink make_redis_sink(const SinkWish& wish, const RedisServerOf& server_of) {
  const base::BodyAndQuery parts = base::split_query(wish.rest());
  std::string options;
  auto target = take_target(parts.query, options);
  // The text after a ? may be the end of a password that contains one.
  if (!target && parts.query.find('@') != std::string_view::npos) return base::misplaced_login();
  if (!target) return target.error();
  auto server = server_of(wish.scheme(), std::string(parts.body) + options);
  if (!server) return server.error();
  return MadeSink(redis_sink(*std::move(server), *std::move(target)));
}

}  // namespace

SinkKind redis_kind(std::vector<std::string_view> schemes, RedisServerOf server_of) {
  return {.name = "redis",
          .schemes = std::move(schemes),
          .forms = {"redis://"},
          .help = "redis://HOST/DB?list=NAME, stream=NAME[&maxlen=N] or channel=NAME",
          .make = [server_of = std::move(server_of)](const SinkWish& wish) {
            return make_redis_sink(wish, server_of);
          }};
}

}  // namespace tarry::relay
