#include <optional>
#include <utility>

#include <tarry/projection.h>

#include "base/text/text.h"
#include "server/http/handlers/handlers.h"
#include "wire/forecast.h"
#include "wire/queue.h"
#include "wire/stats.h"

namespace tarry::http {
namespace {

Response counted(const core::CountReply& reply) { return ok(wire::encode_count(reply)); }

}  // namespace

Routed queue_list(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  return ask<StoreStats>(core::StatsRequest{}, [identity = asked.identity,
                                                meter = asked.service.meter](StoreStats& stats) {
    leave_out_unseen(stats, *identity);
    tell_objectives(stats, meter);
    return ok(wire::encode_queues(stats));
  });
}

Routed queue_info(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  std::string name = asked.name;
  return ask<StoreStats>(core::StatsRequest{std::move(asked.name)},
                         [name = std::move(name), meter = asked.service.meter](StoreStats& stats) {
                           tell_objectives(stats, meter);
                           for (const QueueStats& queue : stats.queues) {
                             if (queue.queue == name) return ok(wire::encode_queue_stats(queue));
                           }
                           return problem(404, ErrorCode::not_found,
                                          "there is no queue " + base::quoted(name));
                         });
}

Routed configure(Asked& asked) {
  std::string name = asked.name;
  return ask<core::ConfigureReply>(
      wire::decode_configure(std::move(asked.name), asked.body),
      [name = std::move(name), meter = asked.service.meter](const core::ConfigureReply& reply) {
        if (meter != nullptr) meter->store().lateness().configured(name, reply.settings);
        return ok(wire::encode_configure_reply(reply));
      });
}

Routed pause(Asked& asked) {
  return ask<core::CountReply>(
      wire::decode_pause(std::move(asked.name), asked.body),
      [](const core::CountReply& reply) { return ok(wire::encode_paused(reply.count > 0)); });
}

Routed resume(Asked& asked) {
  if (auto error = wire::decode_nothing(asked.body)) return problem(*error);
  return ask<core::CountReply>(
      core::ResumeRequest{std::move(asked.name)},
      [](const core::CountReply&) { return ok(wire::encode_paused(false)); });
}

Routed purge(Asked& asked) {
  if (auto error = wire::decode_nothing(asked.body)) return problem(*error);
  return ask<core::CountReply>(core::PurgeRequest{std::move(asked.name)}, counted);
}

Routed remove_queue(Asked& asked) {
  const bool force = asked.query.flag("force");
  if (auto error = asked.query.finish()) return problem(*error);
  if (auto error = wire::decode_nothing(asked.body)) return problem(*error);
  return ask<core::CountReply>(core::RemoveRequest{std::move(asked.name), force}, counted);
}

Routed revive(Asked& asked) {
  return ask<core::CountReply>(wire::decode_revive(std::move(asked.name), asked.body), counted);
}

Routed reshard(Asked& asked) {
  return ask<ReshardStep>(
      wire::decode_reshard(std::move(asked.name), asked.body),
      [](const ReshardStep& step) { return ok(wire::encode_reshard_reply(step)); });
}

Routed forecast(Asked& asked) {
  const auto options = wire::read_projection(asked.query);
  auto forecast = wire::decode_forecast(std::move(asked.name), asked.query);
  if (!forecast) return problem(forecast.error());
  if (options && forecast->from) {
    return problem({ErrorCode::invalid_argument,
                    "from and rate: give one of them; what is foreseen at a rate begins now"});
  }
  const Millis width = forecast->width;
  return ask<core::ForecastReply>(
      std::move(*forecast), [width, options](const core::ForecastReply& reply) {
        if (!options) return ok(wire::encode_forecast_reply(reply, width));
        auto projection = project({width, reply.due_now, reply.buckets, reply.later}, *options);
        if (!projection) return problem(projection.error());
        return ok(wire::encode_forecast_reply(reply, width,
                                              wire::Projected{*options, *std::move(projection)}));
      });
}

}  // namespace tarry::http
