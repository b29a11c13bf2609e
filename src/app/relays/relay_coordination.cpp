#include "app/relays/relay_coordination.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/loaded_library.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "open/redis/redis_connect.h"
#include "open/urls/redis_url.h"
#include "open/urls/store_url.h"
#include "relay/coordination/redis_coordination.h"
#ifdef TARRY_WITH_ZOOKEEPER
#include "relay/coordination/zookeeper_coordination.h"
#include "relay/coordination/zookeeper_library.h"
#endif

namespace tarry::app {
namespace {

using Made = Result<std::unique_ptr<relay::Coordination>>;

constexpr std::uint16_t kZooKeeperPort = 2181;
constexpr Millis kMostPatience{10'000};

Unexpected no_coordination(std::string message) {
  return Unexpected(ErrorCode::invalid_argument, "coordination " + std::move(message));
}

struct Url {
  std::string_view scheme;  // empty: no URL
  std::string_view rest;
};

Url split_url(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool is_on_this_machine(std::string_view url) {
  constexpr std::array<std::string_view, 5> kSigns{"+unix:", "localhost", "127.0.0.1", "[::1]",
                                                   "0.0.0.0"};
  return std::ranges::any_of(
      kSigns, [url](std::string_view sign) { return url.find(sign) != std::string_view::npos; });
}

std::string machine() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Names the group of relays that share the shards. Relays of different stores must not be in one
// group: some shards would then have no relay. So if a store does not give its identity, the name
// rather separates too much: relays that do not find each other still share claim by claim.
std::string group_of(const RelayPlan& plan, const SharedStore& store) {
  std::vector<std::string> queues = plan.options.relay.queues;
  std::ranges::sort(queues);
  std::string place = store.name;
  if (place.empty()) {
    place = detail::masked_url(store.url);
    if (is_on_this_machine(store.url)) place += " on " + machine();
  }
  const std::string all = fmt::format("{} {}", place, fmt::join(queues, " "));
  return fmt::format("{}-{:016x}", queues.front(), base::keyed_hash(all, 0));
}

Result<detail::RedisUrl> redis_url(const RelayPlan& plan, std::string_view store) {
  const Url url = split_url(plan.coordination == "redis" ? store : plan.coordination);
  if (!detail::is_redis_scheme(url.scheme)) {
    return no_coordination(fmt::format(
        "redis needs a store in Redis, which {} is not; a URL redis://HOST may be given instead",
        base::quoted(detail::masked_url(store))));
  }
  auto parsed = detail::parse_redis_url(url.scheme, url.rest);
  if (!parsed) return no_coordination(parsed.error().message);
  return parsed;
}

Made make_redis(const RelayPlan& plan, const SharedStore& store) {
  const auto url = redis_url(plan, store.url);
  if (!url) return url.error();
  // A server that is silent must be noticed before the session ends.
  auto connect = detail::redis_connect_of(*url, std::min(kMostPatience, plan.session));
  if (!connect) return no_coordination(connect.error().message);
  relay::RedisCoordinationOptions options;
  options.connect = *std::move(connect);
  options.group = group_of(plan, store);
  options.session = plan.session;
  return Made(relay::redis_coordination(std::move(options)));
}

#ifdef TARRY_WITH_ZOOKEEPER
Made make_zookeeper(const RelayPlan& plan, const SharedStore& store) {
  std::string_view rest = split_url(plan.coordination).rest;
  if (!rest.starts_with("//") || rest.find_first_of("?#@") != std::string_view::npos) {
    return no_coordination(base::quoted(plan.coordination) +
                           " must be written zookeeper://HOST[:PORT][,HOST...][/PATH]");
  }
  rest.remove_prefix(2);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  relay::ZooKeeperOptions options;
  for (const std::string_view each : base::split(rest.substr(0, slash), ',')) {
    const auto host = base::parse_authority(each, kZooKeeperPort);
    if (!host) return no_coordination(host.error().message);
    const bool is_v6 = host->host.find(':') != std::string::npos;
    options.hosts += fmt::format("{}{}{}{}:{}", options.hosts.empty() ? "" : ",", is_v6 ? "[" : "",
                                 host->host, is_v6 ? "]" : "", host->port);
  }
  options.path = rest.substr(slash);
  while (options.path.ends_with('/')) options.path.pop_back();
  if (options.path.empty()) options.path = "/tarry";
  const bool has_gap = options.path.find("//") != std::string::npos ||
                       (options.path + "/").find("/./") != std::string::npos ||
                       (options.path + "/").find("/../") != std::string::npos;
  if (has_gap) return no_coordination(base::quoted(options.path) + " is no path in ZooKeeper");
  options.group = group_of(plan, store);
  options.session = plan.session;
  if (const auto loaded = base::load(relay::kZooKeeperLibrary); !loaded) {
    return Unexpected(loaded.error().code, "coordination zookeeper " + loaded.error().message);
  }
  return Made(relay::zookeeper_coordination(std::move(options)));
}
#endif

}  // namespace

std::vector<std::string_view> coordination_kinds() {
  std::vector<std::string_view> kinds{"redis"};
#ifdef TARRY_WITH_ZOOKEEPER
  kinds.push_back("zookeeper");
#endif
  return kinds;
}

const base::LoadedLibrary* zookeeper_library() {
#ifdef TARRY_WITH_ZOOKEEPER
  return &relay::kZooKeeperLibrary;
#else
  return nullptr;
#endif
}

Result<void> check_coordination(const RelayPlan& plan, std::string_view store) {
  if (plan.session < relay::kLeastSession || plan.session > relay::kMostSession) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("session {} must be from {} to {}",
                             base::format_duration_ms(plan.session.count()),
                             base::format_duration_ms(relay::kLeastSession.count()),
                             base::format_duration_ms(relay::kMostSession.count()))};
  }
  if (plan.coordination == "redis" && store.empty()) return {};
  if (plan.options.relay.queues.empty()) return {};  // this was reported already
  const auto made = make_coordination(plan, {store, ""});
  if (!made) return made.error();
  return {};
}

Made make_coordination(const RelayPlan& plan, const SharedStore& store) {
  if (plan.coordination == "all") return Made(nullptr);
  const Url url = split_url(plan.coordination);
  const std::string_view engine = split_url(store.url).scheme;
  if (url.scheme.size() > 0 && (engine == "file" || engine == "memory")) {
    return no_coordination(
        fmt::format("{} needs a store that several processes can open; {} is not one",
                    base::quoted(detail::masked_url(plan.coordination)),
                    base::quoted(detail::masked_url(store.url))));
  }
  if (plan.coordination == "redis" || detail::is_redis_scheme(url.scheme)) {
    return make_redis(plan, store);
  }
  if (url.scheme == "zookeeper") {
#ifdef TARRY_WITH_ZOOKEEPER
    return make_zookeeper(plan, store);
#else
    return Unexpected(ErrorCode::unsupported,
                      "coordination zookeeper: is not built in: tarry version lists what is");
#endif
  }
  std::vector<std::string_view> known = detail::redis_schemes();
  known.insert(known.begin(), {"all", "zookeeper"});
  return no_coordination(
      fmt::format("{} must be all, redis, redis://HOST or zookeeper://HOST{}",
                  base::quoted(detail::masked_url(plan.coordination)),
                  base::did_you_mean(url.scheme.empty() ? plan.coordination : url.scheme, known)));
}

}  // namespace tarry::app
