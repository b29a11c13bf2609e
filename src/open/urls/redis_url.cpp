#include "open/urls/redis_url.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "core/limits.h"
#include "open/urls/payload_option.h"
#include "open/urls/store_url.h"
#include "open/urls/tls_option.h"

namespace tarry::detail {
namespace {

constexpr std::uint32_t kMostPartitions = 1'024;
// Redis has 16 databases by default; it refuses numbers that it does not have.
constexpr std::uint32_t kMostDatabase = 1'000'000;

constexpr std::uint32_t kMostReplicas = 100;
// Half of the time after which a connection without an answer counts as dead.
constexpr std::int64_t kMostWaitMs = 5'000;

using RedisOption = base::UrlOption<RedisUrl>;

Result<void> set_number(std::string_view name, std::string_view value, std::uint32_t min,
                        std::uint32_t max, std::optional<std::uint32_t>& into) {
  const auto number = base::number_option(name, value, min, max);
  if (!number) return number.error();
  into = *number;
  return {};
}

template <typename Value>
struct Choice {
  std::string_view name;
  Value value;
};
template <typename Value, std::size_t N>
Result<void> set_choice(std::string_view option, std::string_view value,
                        const Choice<Value> (&choices)[N], Value& into) {
  std::string known;
  for (const Choice<Value>& choice : choices) {
    if (choice.name == value) {
      into = choice.value;
      return {};
    }
    known += (known.empty() ? "" : &choice == &choices[N - 1] ? " or " : ", ");
    known += choice.name;
  }
  return base::choice_error(option, value, known);
}

using redis::Decode;
using redis::EntryForm;
using redis::Layout;

Result<void> set_layout(std::string_view value, RedisUrl& url) {
  static constexpr Choice<std::optional<Layout>> kLayouts[] = {{"native", std::nullopt},
                                                               {"plain", Layout::plain},
                                                               {"hash", Layout::hash},
                                                               {"redisson", Layout::redisson}};
  std::optional<Layout> layout;
  auto done = set_choice("layout", value, kLayouts, layout);
  url.native = !layout;
  url.layout.layout = layout.value_or(Layout::plain);
  return done;
}

Result<void> set_unit(std::string_view value, RedisUrl& url) {
  static constexpr Choice<bool> kUnits[] = {{"ms", false}, {"s", true}};
  return set_choice("unit", value, kUnits, url.layout.seconds);
}

Result<void> set_decode(std::string_view value, RedisUrl& url) {
  static constexpr Choice<Decode> kDecodes[] = {{"auto", Decode::automatic},
                                                {"raw", Decode::raw},
                                                {"string", Decode::string},
                                                {"json", Decode::json},
                                                {"kryo5", Decode::kryo5},
                                                {"fst", Decode::fst},
                                                {"marshalling", Decode::marshalling}};
  return set_choice("decode", value, kDecodes, url.layout.decode);
}

Result<void> set_entry(std::string_view value, RedisUrl& url) {
  static constexpr Choice<EntryForm> kForms[] = {
      {"auto", EntryForm::automatic}, {"old", EntryForm::old}, {"new", EntryForm::newer}};
  return set_choice("entry", value, kForms, url.layout.entry);
}

Result<void> set_claim(std::string_view value, RedisUrl& url) {
  static constexpr Choice<bool> kClaims[] = {{"direct", false}, {"list", true}};
  return set_choice("claim", value, kClaims, url.layout.through_list);
}

Result<void> set_eviction(std::string_view value, RedisUrl& url) {
  if (value != "yes" && value != "no")
    return base::choice_error("allow_eviction", value, "yes or no");
  url.allow_eviction = value == "yes";
  return {};
}

// The form is "2" or "2,500ms".
Result<void> set_wait(std::string_view value, RedisUrl& url) {
  const std::size_t comma = value.find(',');
  const auto replicas = base::number_option("wait", value.substr(0, comma), 1, kMostReplicas);
  if (!replicas) return replicas.error();
  url.wait_replicas = *replicas;
  if (comma == std::string_view::npos) return {};
  const std::string_view text = value.substr(comma + 1);
  const auto timeout = base::parse_duration_ms(text);
  if (!timeout) return base::invalid_url("option wait: " + timeout.error().message);
  if (*timeout < 1 || *timeout > kMostWaitMs) {
    return base::invalid_url("option wait: " + base::quoted(text) + " must be from 1ms to 5s");
  }
  url.wait_timeout_ms = *timeout;
  return {};
}

constexpr RedisOption kPartitions = {"partitions", [](std::string_view value, RedisUrl& url) {
                                       return set_number("partitions", value, 1, kMostPartitions,
                                                         url.partitions);
                                     }};
constexpr RedisOption kShards = {"shards", [](std::string_view value, RedisUrl& url) {
                                   return set_number("shards", value, 1, core::kMaxShards,
                                                     url.shards);
                                 }};
constexpr RedisOption kLayout = {"layout", set_layout};
constexpr RedisOption kZset = {"zset", [](std::string_view value, RedisUrl& url) {
                                 return base::text_option("zset", value, url.layout.zset);
                               }};
constexpr RedisOption kHash = {"hash", [](std::string_view value, RedisUrl& url) {
                                 return base::text_option("hash", value, url.layout.hash);
                               }};
constexpr RedisOption kList = {"list", [](std::string_view value, RedisUrl& url) {
                                 return base::text_option("list", value, url.layout.list);
                               }};
constexpr RedisOption kQueue = {"queue", [](std::string_view value, RedisUrl& url) {
                                  return base::text_option("queue", value, url.layout.queue);
                                }};
constexpr RedisOption kUnit = {"unit", set_unit};
constexpr RedisOption kDecode = {"decode", set_decode};
constexpr RedisOption kEntry = {"entry", set_entry};
constexpr RedisOption kClaim = {"claim", set_claim};
constexpr RedisOption kMaxPayload = {"max_payload", set_max_payload<RedisUrl>};
constexpr RedisOption kAllowEviction = {"allow_eviction", set_eviction};
constexpr RedisOption kWait = {"wait", set_wait};
constexpr RedisOption kUser = {"user", [](std::string_view value, RedisUrl& url) {
                                 return base::text_option("user", value, url.user);
                               }};
constexpr RedisOption kPasswordFile = {"password_file", [](std::string_view value, RedisUrl& url) {
                                         return base::text_option("password_file", value,
                                                                  url.password_file);
                                       }};
constexpr RedisOption kDatabase = {"db", [](std::string_view value, RedisUrl& url) -> Result<void> {
                                     const auto number =
                                         base::number_option("db", value, 0, kMostDatabase);
                                     if (!number) return number.error();
                                     url.database = *number;
                                     return {};
                                   }};

constexpr RedisOption kMaster = {"master", [](std::string_view value, RedisUrl& url) {
                                   return base::text_option("master", value, url.master);
                                 }};
constexpr RedisOption kSentinelUser = {"sentinel_user", [](std::string_view value, RedisUrl& url) {
                                         return base::text_option("sentinel_user", value,
                                                                  url.sentinel_user);
                                       }};
constexpr RedisOption kSentinelPasswordFile = {
    "sentinel_password_file", [](std::string_view value, RedisUrl& url) {
      return base::text_option("sentinel_password_file", value, url.sentinel_password_file);
    }};

constexpr std::array kAnyOptions = {kPartitions,    kShards, kLayout, kMaxPayload,
                                    kAllowEviction, kWait,   kUser,   kPasswordFile};
constexpr std::array kLayoutOptions = {kZset, kHash, kList, kQueue, kUnit, kDecode, kEntry, kClaim};
constexpr std::array kSentinelOptions = {kMaster, kSentinelUser, kSentinelPasswordFile};

struct Scheme {
  std::string_view name;
  RedisUrl::Topology topology;
  bool tls;
  std::string_view form;  // the text after the scheme's name
};
constexpr std::string_view kOneHost = "://[USER:PASSWORD@]HOST[:PORT][/DB]";
constexpr std::string_view kClusterHosts = "://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]";
constexpr std::string_view kSentinelHosts =
    "://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]...][/DB]?master=NAME";
constexpr Scheme kSchemes[] = {
    {"redis", RedisUrl::Topology::single, false, kOneHost},
    {"rediss", RedisUrl::Topology::single, true, kOneHost},
    {"redis+unix", RedisUrl::Topology::single, false, "///PATH"},
    {"redis+cluster", RedisUrl::Topology::cluster, false, kClusterHosts},
    {"rediss+cluster", RedisUrl::Topology::cluster, true, kClusterHosts},
    {"redis+sentinel", RedisUrl::Topology::sentinel, false, kSentinelHosts},
    {"rediss+sentinel", RedisUrl::Topology::sentinel, true, kSentinelHosts},
};
constexpr std::uint16_t kRedisPort = 6379;
constexpr std::uint16_t kSentinelPort = 26379;
constexpr std::size_t kMostHosts = 64;

std::vector<RedisOption> options_of(const Scheme& scheme) {
  std::vector<RedisOption> options(kAnyOptions.begin(), kAnyOptions.end());
  options.insert(options.end(), kLayoutOptions.begin(), kLayoutOptions.end());
  if (scheme.name == "redis+unix") options.push_back(kDatabase);
  if (scheme.topology == RedisUrl::Topology::sentinel) {
    options.insert(options.end(), kSentinelOptions.begin(), kSentinelOptions.end());
  }
  if (scheme.tls) {
    options.insert(options.end(), kTlsOptions<RedisUrl>.begin(), kTlsOptions<RedisUrl>.end());
  }
  return options;
}

// Reads "USER:PASSWORD". An empty user means the server's default user.
Result<void> take_login(std::string_view text, RedisUrl& url) {
  if (text.find(':') == std::string_view::npos) {
    return base::invalid_url(
        "store URL holds a user without a password; write USER:PASSWORD@ or "
        ":PASSWORD@, or the option password_file=PATH");
  }
  auto login = base::parse_login("the store URL", text);
  if (!login) return std::move(login).error();
  url.user = std::move(login->user);
  url.password = std::move(login->password).value_or("");
  return {};
}

Result<void> check_layout(const RedisUrl& url) {
  const redis::LayoutSpec& layout = url.layout;
  if (url.native) {
    if (layout.zset.empty() && layout.hash.empty() && layout.list.empty() && layout.queue.empty() &&
        !layout.seconds && layout.decode == Decode::automatic &&
        layout.entry == EntryForm::automatic && !layout.through_list) {
      return {};
    }
    return base::invalid_url(
        "options zset, hash, list, queue, unit, decode, entry and claim go with layout=plain, hash "
        "or "
        "redisson, and this is layout=native");
  }
  const std::string name = "layout=" + std::string(to_string(layout.layout));
  if (url.partitions || url.shards) {
    return base::invalid_url("options partitions and shards go with layout=native, and this is " +
                             name);
  }
  if (url.wait_replicas > 0) {
    return Unexpected(ErrorCode::unsupported,
                      "option wait goes with layout=native, and this is " + name);
  }
  if (url.topology == RedisUrl::Topology::single) return {};
  return Unexpected(ErrorCode::unsupported,
                    name +
                        " works with one server only: redis:, rediss: or redis+unix:; clusters and "
                        "sentinels need layout=native");
}

Result<RedisUrl> checked(RedisUrl url) {
  if (auto done = check_layout(url); !done) return std::move(done).error();
  if (!url.password.empty() && !url.password_file.empty()) {
    return base::invalid_url(
        "store URL holds a password and names a password_file; one is the limit");
  }
  if (auto done = check_tls_options(url); !done) return std::move(done).error();
  if (url.topology == RedisUrl::Topology::sentinel && url.master.empty()) {
    return base::invalid_url(
        "store URL must name the master that the sentinels watch: ?master=NAME");
  }
  if (!url.sentinel_user.empty() && url.sentinel_password_file.empty()) {
    return base::invalid_url("option sentinel_user needs sentinel_password_file");
  }
  return url;
}

Result<void> parse_hosts(std::string_view text, RedisUrl& url) {
  const bool one = url.topology == RedisUrl::Topology::single;
  const std::uint16_t port =
      url.topology == RedisUrl::Topology::sentinel ? kSentinelPort : kRedisPort;
  const auto parts = one ? std::vector{text} : base::split(text, ',');
  if (parts.size() > kMostHosts) {
    return base::invalid_url("store URL names " + std::to_string(parts.size()) +
                             " hosts; 64 is the limit");
  }
  for (const std::string_view part : parts) {
    auto address = base::parse_authority(part, port);
    if (!address) return std::move(address).error();
    url.hosts.push_back(*std::move(address));
  }
  return {};
}

Result<RedisUrl> parse_unix(std::string_view rest, const Scheme& scheme) {
  const auto [body, query] = base::split_query(rest);
  if (!body.starts_with("///") || body.size() == 3) {
    return base::invalid_url("store URL " + base::quoted("redis+unix:" + masked_url(body), 256) +
                             " must be redis+unix:///PATH");
  }
  RedisUrl url;
  auto path = base::percent_decoded("path", body.substr(2));
  if (!path) return std::move(path).error();
  url.unix_path = *std::move(path);
  if (auto done = base::parse_options<RedisUrl>(query, scheme.name, options_of(scheme), url);
      !done) {
    return std::move(done).error();
  }
  return checked(std::move(url));
}

}  // namespace

bool is_redis_scheme(std::string_view scheme) noexcept {
  return std::ranges::find(kSchemes, scheme, &Scheme::name) != std::end(kSchemes);
}

std::vector<std::string_view> redis_schemes() {
  std::vector<std::string_view> names;
  for (const Scheme& scheme : kSchemes) names.push_back(scheme.name);
  return names;
}

Result<RedisUrl> parse_redis_url(std::string_view name, std::string_view rest) {
  const Scheme& scheme = *std::ranges::find(kSchemes, name, &Scheme::name);
  if (scheme.name == "redis+unix") return parse_unix(rest, scheme);
  const std::string form = std::string(name) + std::string(scheme.form);
  if (!rest.starts_with("//")) return base::invalid_url("store URL must be " + form);
  rest.remove_prefix(2);
  RedisUrl url;
  url.topology = scheme.topology;
  url.tls = scheme.tls;
  // A login ends at the last @ before the options.
  const std::size_t at = base::split_query(rest).body.rfind('@');
  if (at != std::string_view::npos) {
    if (auto done = take_login(rest.substr(0, at), url); !done) return std::move(done).error();
    rest.remove_prefix(at + 1);
  }
  const auto [body, query] = base::split_query(rest);
  const std::size_t slash = body.find('/');
  if (auto hosts = parse_hosts(body.substr(0, slash), url); !hosts) {
    if (query.find('@') == std::string_view::npos) return std::move(hosts).error();
    // The hosts may in fact be the beginning of a password that contains a ?.
    return base::invalid_url("store URL must be " + form +
                             "; a ? in user or password is written %3F");
  }
  if (slash != std::string_view::npos && slash + 1 < body.size()) {
    const std::uint32_t most = url.topology == RedisUrl::Topology::cluster ? 0 : kMostDatabase;
    const auto database = base::parse_u64(body.substr(slash + 1), "database", 0, most);
    if (!database) return database.error();
    url.database = static_cast<std::uint32_t>(*database);
  }
  auto done = base::parse_options<RedisUrl>(query, scheme.name, options_of(scheme), url);
  if (!done) return std::move(done).error();
  return checked(std::move(url));
}

}  // namespace tarry::detail
