#include <chrono>
#include <optional>
#include <utility>

#include "server/console/assets.h"
#include "server/http/handlers/handlers.h"
#include "server/http/handlers/openapi.h"
#include "server/metrics/metrics.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"
#include "wire/service.h"
#include "wire/stats.h"

namespace tarry::http {
namespace {

// Nobody has a queue of this name. Listing it is cheap on every engine and never an error. Still,
// each shard of an embedded store, or the Redis of other stores, must answer.
constexpr std::string_view kNobodys = "readyz";

// The queues that /metrics shows the client; empty: all, and the figures of the whole store.
metrics::Shown shown_to(const identity::IdentityPtr& identity) {
  using identity::Scope;
  if (identity->may_everywhere(Scope::read)) return {};
  return [identity](std::string_view queue) { return identity->may(Scope::read, queue); };
}

Response no_test_clock() {
  return problem(404, ErrorCode::not_found,
                 "this server has no test clock; start it with --test-clock");
}

}  // namespace

// Tells users who have found the port what this server is.
Routed about(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  return ok(wire::encode_about(TARRY_VERSION, !console::assets().empty()));
}

Routed health(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  core::Capabilities can = asked.service.capabilities;
  can.joins = true;  // whatever the store is
  auto well = [can = std::move(can)] { return ok(wire::encode_health({TARRY_VERSION, can})); };
  if (!asked.service.engine_suspect) return well();
  // Asks for all queues, because one shard may have stopped while the others work.
  Submission submission{core::StatsRequest{}, [well](core::Reply&) { return well(); },
                        Check::health};
  return submission;
}

// In contrast to /healthz, this asks the store each time. So it also fails if the store cannot be
// reached at the moment.
Routed ready(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  if (asked.service.draining) return unwell({ErrorCode::closed, "the server is stopping"});
  core::ListRequest look;
  look.queue = kNobodys;
  look.limit = 1;
  return Submission{std::move(look), [](core::Reply&) { return ok(wire::encode_ready()); },
                    Check::readiness};
}

void tell_objectives(StoreStats& stats, metrics::Meter* meter) {
  if (meter != nullptr) meter->store().lateness().tell(stats.queues);
}

Routed stats(Asked& asked) {
  core::StatsRequest request{asked.query.text("queue").value_or("")};
  request.names_only = asked.query.flag("names_only");
  if (auto error = asked.query.finish()) return problem(*error);
  if (!request.queue.empty()) {
    if (auto refused = check_queue(*asked.identity, identity::Scope::read, request.queue)) {
      return *std::move(refused);
    }
  }
  return ask<StoreStats>(std::move(request), [identity = asked.identity,
                                              meter = asked.service.meter](StoreStats& stats) {
    leave_out_unseen(stats, *identity);
    tell_objectives(stats, meter);
    return ok(wire::encode_store_stats(stats));
  });
}

Routed metrics_page(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  const Service& service = asked.service;
  const std::uint64_t replies =
      service.meter == nullptr ? 0 : service.meter->store().lateness().replies();
  return ask<StoreStats>(core::StatsRequest{}, [&service, replies, identity = asked.identity](
                                                   const StoreStats& stats) {
    const Time now =
        service.now ? service.now() : std::chrono::floor<Millis>(std::chrono::system_clock::now());
    static constexpr std::string_view kType = "text/plain; version=0.0.4; charset=utf-8";
    metrics::Meter none;
    auto relays = service.relays ? service.relays() : std::vector<metrics::RelayFigures>();
    leave_out_unseen(relays, *identity);
    metrics::Meter& meter = service.meter == nullptr ? none : *service.meter;
    const auto limits = service.limits ? service.limits() : limits::Figures();
    const auto schedules = service.schedules ? std::optional(service.schedules()) : std::nullopt;
    Response page =
        ok(metrics::metrics_text(stats, meter, limits, replies, now, TARRY_VERSION, relays,
                                 shown_to(identity), schedules ? &*schedules : nullptr));
    page.content_type = kType;
    return page;
  });
}

Routed openapi(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  return ok(openapi_document());
}

Routed advance_clock(Asked& asked) {
  if (!asked.service.advance_clock) return no_test_clock();
  const auto by = wire::decode_advance(asked.body);
  if (!by) return problem(by.error());
  asked.service.advance_clock(by->count());
  return ok(wire::encode_advanced(*by));
}

Routed step_clock(Asked& asked) {
  if (!asked.service.step_clock) return no_test_clock();
  const auto by = wire::decode_step(asked.body);
  if (!by) return problem(by.error());
  if (const auto stepped = asked.service.step_clock(by->count()); !stepped) {
    return problem(stepped.error());
  }
  return ok(wire::encode_stepped(*by));
}

}  // namespace tarry::http
