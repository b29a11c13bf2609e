#include "app/commands/service/serve_fronts.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "app/commands/service/relay_figures.h"
#include "app/output/printable.h"
#include "base/text/text.h"
#include "core/limits.h"
#include "open/urls/store_url.h"
#include "server/beanstalk/front.h"
#include "server/http/front.h"
#include "server/http_session/front.h"
#include "server/listening/ip_address.h"
#include "server/listening/unix_listener.h"
#include "server/sqs/front.h"

namespace tarry::app {
namespace {

using config::Config;
using config::Which;

// Called on the server's thread only, so nothing else moves the clock in between.
Result<void> step(ManualClock& clock, std::int64_t ms) {
  const std::int64_t to = clock.now().time_since_epoch().count() + ms;
  if (to < 0 || to > base::kMaxTimeMs) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("a step of {} ms would leave the years from 1970 to 2200", ms)};
  }
  clock.step(Millis(ms));
  return {};
}

http_session::MakeHttpFront make_sqs_front(const FrontMaking& making) {
  const Config& config = making.config;
  sqs::FrontOptions options;
  if (auto names = parse_names(config.text(Which::names))) options.hosts = std::move(*names);
  options.strict = config.number(Which::sqs_strict) != 0;
  if (const auto clock = making.clock) options.now = [clock] { return clock->now(); };
  return sqs::make_front(std::move(options));
}

session::MakeFront make_sqs(const FrontMaking& making) { return make_sqs_front(making); }

session::MakeFront make_http(const FrontMaking& making) {
  const Config& config = making.config;
  http::FrontOptions options;
  if (auto names = parse_names(config.text(Which::names))) options.hosts = std::move(*names);
  options.relays = [&relays = making.relays, patterns = patterns_of(config.relays)] {
    return figures_of(relays, patterns);
  };
  options.measures_objectives = true;
  if (const auto* scheduler = making.scheduler) {
    options.schedules = [scheduler]() -> metrics::ScheduleFigures {
      const schedule::SchedulerStats stats = scheduler->stats();
      return {!stats.is_away, stats.pushed, stats.repeated, stats.skipped, stats.failed};
    };
  }
  if (auto clock = making.clock) {
    options.now = [clock] { return clock->now(); };
    options.advance_clock = [clock](std::int64_t ms) mutable { clock->advance(Millis(ms)); };
    options.step_clock = [clock](std::int64_t ms) mutable { return step(*clock, ms); };
  }
  auto front = http::make_front(std::move(options));
  if (config.number(Which::sqs_on_http) == 0) return front;
  return http_session::with_guest(std::move(front), make_sqs_front(making));
}

session::MakeFront make_beanstalk(const FrontMaking& making) {
  beanstalk::FrontOptions options;
  if (const auto parts = detail::parse_store_url(making.config.text(Which::store_url))) {
    const auto most = std::visit(
        [](const auto& store) -> std::optional<std::uint64_t> {
          if constexpr (requires { store.max_payload; }) return store.max_payload;
          return std::nullopt;
        },
        *parts);
    options.max_job = most.value_or(core::kDefaultMaxPayload);
  }
  if (const auto clock = making.clock) {
    const auto now = [clock] { return clock->now().time_since_epoch().count(); };
    options.clocks = {now, now};
  }
  return beanstalk::make_front(std::move(options));
}

/// The address as a socket shows it that is bound to it.
std::string bound_text(const Address& address) {
  const auto ip = listening::parse_listen_address(address.host);
  return ip ? Address{ip->to_string(), address.port, address.path}.text() : address.text();
}

Error poor_store(const FrontKind& kind, std::string_view engine) {
  return Error{ErrorCode::invalid_argument,
               fmt::format("{}: a store of the engine {} cannot serve {}, which needs keys, leases "
                           "and headers: use file:, memory: or redis: without a layout",
                           config::setting_of(kind.setting).name(), engine, kind.protocol)};
}

/// SQS at the addresses of HTTP.
const FrontKind kSqsOnHttp{Which::sqs_on_http, "SQS's protocols", true, nullptr, make_sqs};

/// The protocols that the configuration asks for.
std::vector<const FrontKind*> asked_for(const Config& config) {
  std::vector<const FrontKind*> kinds;
  for (const FrontKind& kind : front_kinds()) {
    if (!config.text(kind.setting).empty()) kinds.push_back(&kind);
  }
  if (config.number(Which::sqs_on_http) != 0) kinds.push_back(&kSqsOnHttp);
  return kinds;
}

/// The engine of a URL whose stores lack keys, leases or headers; empty for all others.
std::string poor_engine(std::string_view url) {
  const auto parts = detail::parse_store_url(url);
  if (!parts) return {};
  if (std::holds_alternative<detail::RabbitUrl>(*parts)) return "rabbitmq";
  const auto* redis = std::get_if<detail::RedisUrl>(&*parts);
  if (redis == nullptr || redis->native) return {};
  return "redis " + std::string(to_string(redis->layout.layout));
}

}  // namespace

const std::vector<FrontKind>& front_kinds() {
  static const std::vector<FrontKind> kinds{
      {Which::listen, "HTTP", false,
       [](const Address& address, bool has_tls) { return address.url(has_tls); }, make_http},
      {Which::sqs, "SQS's protocols", true,
       [](const Address& address, bool has_tls) { return "sqs+" + address.url(has_tls); },
       make_sqs},
      {Which::beanstalk, "beanstalkd's protocol", true,
       [](const Address& address, bool) { return "beanstalk://" + address.text(); },
       make_beanstalk},
  };
  return kinds;
}

Result<void> check_front_stores(const Config& config) {
  const std::string engine = poor_engine(config.text(Which::store_url));
  if (engine.empty()) return {};
  for (const FrontKind* kind : asked_for(config)) {
    if (kind->needs_rich_store) return poor_store(*kind, engine);
  }
  return {};
}

Result<ServeFronts> ServeFronts::reserve(const Config& config,
                                         listening::InheritedSockets inherited) {
  ServeFronts all;
  all.asked_for_ = asked_for(config);
  for (const auto& socket : inherited.left()) all.inherited_.push_back(socket.shown());
  for (const FrontKind& kind : front_kinds()) {
    if (config.text(kind.setting).empty()) continue;
    auto reserved = reserve(kind, config, inherited);
    if (!reserved) return reserved.error();
    all.fronts_.push_back(*std::move(reserved));
  }
  if (!inherited.left().empty()) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("LISTEN_FDS has a socket at {}, which is no address of server.listen, "
                             "server.sqs or server.beanstalk; server.listen is {}",
                             printable(inherited.left().front().shown()),
                             base::quoted(config.text(Which::listen)))};
  }
  return all;
}

Result<ServeFronts::Reserved> ServeFronts::reserve(const FrontKind& kind, const Config& config,
                                                   listening::InheritedSockets& inherited) {
  auto addresses = parse_listen(config.text(kind.setting));
  if (!addresses) return addresses.error();
  Reserved front{&kind, {}, {}};
  for (Address& address : *addresses) {
    auto place = reserve(address, inherited);
    if (!place) return place.error();
    front.places.push_back(*std::move(place));
    front.addresses.push_back(std::move(address));
  }
  return front;
}

Result<ServeFronts::Place> ServeFronts::reserve(Address& address,
                                                listening::InheritedSockets& inherited) {
  if (auto socket = inherited.give(bound_text(address))) return Place(*std::move(socket));
  if (address.is_unix()) {
    if (auto good = listening::UnixListener::check(address.path); !good) {
      // Another path is needed, or another server must end: neither is a matter of time.
      return Error{ErrorCode::invalid_argument, std::move(good).error().message};
    }
    return Place(address.path);
  }
  auto port = listening::ReservedPort::reserve(address.host, address.port);
  if (!port) return port.error();
  address.port = port->port();
  return Place(std::move(*port));
}

Result<void> ServeFronts::check(const core::Capabilities& can) const {
  if (can.by_key && can.leases && can.headers) return {};
  for (const FrontKind* kind : asked_for_) {
    if (kind->needs_rich_store) return poor_store(*kind, can.keeper());
  }
  return {};
}

std::vector<session::Listening> ServeFronts::listening(const FrontMaking& making) {
  std::vector<session::Listening> all;
  for (Reserved& front : fronts_) {
    const session::MakeFront make = front.kind->make(making);
    for (Place& place : front.places) all.push_back({make, std::move(place)});
    front.places.clear();
  }
  return all;
}

std::vector<Address> ServeFronts::addresses() const {
  std::vector<Address> all;
  for (const Reserved& front : fronts_) {
    all.insert(all.end(), front.addresses.begin(), front.addresses.end());
  }
  return all;
}

std::vector<std::string> ServeFronts::urls(bool has_tls) const {
  std::vector<std::string> all;
  for (const Reserved& front : fronts_) {
    for (const Address& address : front.addresses) all.push_back(front.kind->url(address, has_tls));
  }
  return all;
}

}  // namespace tarry::app
