#include "server/metrics/metrics.h"

#include <utility>

#include "metrics/exposition.h"

namespace tarry::metrics {
namespace {

struct RelayCounter {
  std::string_view name;
  std::uint64_t RelayFigures::* value;
  Kind kind;
  std::string_view help;
};

constexpr RelayCounter kRelayCounters[] = {
    {"tarry_relay_claims_total", &RelayFigures::claimed, Kind::counter,
     "Messages that the relay has claimed."},
    {"tarry_relay_confirmed_total", &RelayFigures::confirmed, Kind::counter,
     "Messages that its sink has confirmed."},
    {"tarry_relay_failed_total", &RelayFigures::failed, Kind::counter,
     "Answers of its sink that ask for another attempt."},
    {"tarry_relay_in_flight", &RelayFigures::in_flight, Kind::gauge,
     "Messages that are claimed and not settled yet."},
    {"tarry_relay_queues", &RelayFigures::queues, Kind::gauge, "Queues that the relay serves."},
    {"tarry_relay_breaker_openings_total", &RelayFigures::breaker_openings, Kind::counter,
     "Times that claiming began to rest because the sink was down."},
};

constexpr std::pair<std::string_view, std::uint64_t RelayFigures::*> kRelaySettles[] = {
    {"ack", &RelayFigures::acked},   {"retry", &RelayFigures::retried},
    {"bury", &RelayFigures::buried}, {"release", &RelayFigures::released},
    {"stale", &RelayFigures::stale},
};

void write_relays(Exposition& out, std::span<const RelayFigures> relays) {
  if (relays.empty()) return;
  for (const RelayCounter& counter : kRelayCounters) {
    out.family(counter.name, counter.kind, counter.help);
    for (const RelayFigures& relay : relays) {
      out.sample({{"relay", relay.name}}, relay.*counter.value);
    }
  }
  out.family("tarry_relay_up", Kind::gauge, "0 once the relay has ended by an error.");
  for (const RelayFigures& relay : relays) {
    out.sample({{"relay", relay.name}}, std::uint64_t{relay.up ? 1u : 0u});
  }
  out.family(
      "tarry_relay_settles_total", Kind::counter,
      "The relay's claims ended, by how; stale: too late, the lease had run out, or the store "
      "refused.");
  for (const RelayFigures& relay : relays) {
    for (const auto& [outcome, value] : kRelaySettles) {
      out.sample({{"relay", relay.name}, {"outcome", outcome}}, relay.*value);
    }
  }
  out.family("tarry_relay_breaker_open", Kind::gauge,
             "1 while claiming rests because the sink is down.");
  for (const RelayFigures& relay : relays) {
    out.sample({{"relay", relay.name}}, std::uint64_t{relay.breaker_open ? 1u : 0u});
  }
  out.family("tarry_relay_lag_seconds", Kind::histogram,
             "From due time to the sink's confirmation.");
  for (const RelayFigures& relay : relays) {
    write_histogram(out, {"relay", relay.name}, relay.lag);
  }
}

void write_schedules(Exposition& out, const ScheduleFigures& schedules) {
  out.family("tarry_schedule_up", Kind::gauge,
             "0 while schedules wait because the store cannot be reached.");
  out.sample({}, std::uint64_t{schedules.up ? 1u : 0u});
  const auto counter = [&out](std::string_view name, std::string_view help, std::uint64_t value) {
    out.family(name, Kind::counter, help);
    out.sample({}, value);
  };
  counter("tarry_schedule_pushed_total", "Occurrences that this server has pushed.",
          schedules.pushed);
  counter("tarry_schedule_repeated_total",
          "Occurrences that had been pushed already, when this server repeated a turn.",
          schedules.repeated);
  counter("tarry_schedule_skipped_total",
          "Missed occurrences that were not pushed, as their schedules say.", schedules.skipped);
  counter("tarry_schedule_failed_total", "Turns of schedules that failed; they are tried again.",
          schedules.failed);
}

void write_front(Exposition& out, std::string_view name, const FrontMeter& front) {
  const std::string prefix = "tarry_" + std::string(name);
  out.family(prefix + "_requests_total", Kind::counter, "Requests answered, by route and status.");
  for (const auto& [answer, count] : front.answers()) {
    const std::string code = std::to_string(answer.second);
    out.sample({{"route", answer.first}, {"code", code}}, count);
  }
  out.family(prefix + "_connections", Kind::gauge, "Connections that are open.");
  out.sample({}, front.connections());
}

void write_server(Exposition& out, const Meter& meter) {
  for (const auto& [name, front] : meter.fronts()) write_front(out, name, front);
  out.family("tarry_http_held_bytes", Kind::gauge,
             "Memory for requests that come in and answers that go out.");
  out.sample({{"held", "requests"}}, meter.held_requests());
  out.sample({{"held", "answers"}}, meter.held_answers());
  out.family("tarry_audit_lines_total", Kind::counter, "Lines written to the audit log.");
  out.sample({}, meter.audit_lines());
  out.family("tarry_audit_lost_total", Kind::counter,
             "Lines that could not be written to the audit log.");
  out.sample({}, meter.audit_lost());
}

struct LimitFamilies {
  limits::Limit limit;
  std::string_view name;
  std::string_view help;
  std::string_view used;
  std::string_view used_help;
};

constexpr LimitFamilies kLimitFamilies[] = {
    {limits::Limit::connections, "tarry_limit_connections",
     "Connections that may be open; 0: no limit.", "tarry_used_connections",
     "Connections that are open, of all clients."},
    {limits::Limit::held_bytes, "tarry_limit_held_bytes",
     "Memory that requests and answers may take; 0: no limit.", "tarry_used_held_bytes",
     "Memory that requests and answers take, of all clients."},
    {limits::Limit::requests, "tarry_limit_requests_per_second",
     "Requests that may begin in a second; 0: no limit.", "tarry_used_requests_per_second",
     "Requests of the last second that count for the limit of all clients; 0 without that limit."},
    {limits::Limit::waiting_claims, "tarry_limit_waiting_claims",
     "Claims that may wait; 0: no limit.", "tarry_used_waiting_claims",
     "Claims that wait, of all clients."},
};

void write_limits(Exposition& out, const limits::Figures& figures) {
  for (const LimitFamilies& family : kLimitFamilies) {
    const limits::Figures::One& one = figures.of[index_of(family.limit)];
    out.family(family.name, Kind::gauge, family.help);
    for (const limits::Scope scope : limits::kScopes) {
      out.sample({{"scope", to_string(scope)}}, one.limit.of(scope));
    }
    out.family(family.used, Kind::gauge, family.used_help);
    out.sample({}, one.used);
  }
  out.family("tarry_limit_refusals_total", Kind::counter,
             "Requests and connections refused because a limit was reached.");
  for (const limits::Limit limit : limits::kLimits) {
    for (const limits::Scope scope : limits::kScopes) {
      out.sample({{"limit", to_string(limit)}, {"scope", to_string(scope)}},
                 figures.refusals.of(limit, scope));
    }
  }
  if (figures.of_tokens.empty()) return;
  out.family("tarry_token_refusals_total", Kind::counter, "Of these, refusals of a token.");
  for (const auto& [token, refusals] : figures.of_tokens) {
    for (const limits::Limit limit : limits::kLimits) {
      std::uint64_t sum = 0;
      for (const limits::Scope scope : limits::kScopes) sum += refusals.of(limit, scope);
      out.sample({{"token", token}, {"limit", to_string(limit)}}, sum);
    }
  }
}

}  // namespace

std::string metrics_text(const StoreStats& stats, Meter& meter, const limits::Figures& limits,
                         std::uint64_t replies, Time now, std::string_view version,
                         std::span<const RelayFigures> relays, const Shown& shown,
                         const ScheduleFigures* schedules) {
  Exposition out;
  write_store_metrics(out, stats, meter.store(), replies, now, version, shown);
  write_relays(out, relays);
  if (!shown) {
    if (schedules != nullptr) write_schedules(out, *schedules);
    write_server(out, meter);
    write_limits(out, limits);
  }
  return std::move(out).take();
}

}  // namespace tarry::metrics
