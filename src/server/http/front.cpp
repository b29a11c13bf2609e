#include "server/http/front.h"

#include <chrono>
#include <utility>
#include <vector>

#include "server/http/exchange.h"

namespace tarry::http {

Front::Front(session::ServerContext& context, FrontOptions options,
             std::shared_ptr<console::Sessions> sessions,
             std::shared_ptr<metrics::ObjectiveSampler> sampler)
    : http_session::Front(context, "http", options),
      options_(std::move(options)),
      sessions_(std::move(sessions)),
      feed_(std::make_shared<console::StatsFeed>(context.engine,
                                                 [&context](std::vector<QueueStats>& queues) {
                                                   context.meter.store().lateness().tell(queues);
                                                 })),
      sampler_(std::move(sampler)),
      service_{context.engine.capabilities(),
               options_.advance_clock,
               false,
               options_.step_clock,
               &context.meter,
               options_.now,
               false,
               options_.relays,
               options_.schedules,
               [&context] { return context.limit_figures(); },
               &context.holders,
               sessions_.get(),
               &context.options.tokens,
               context.options.token_clock,
               &context.trail,
               [&context] { return context.clients(); }} {}

std::unique_ptr<http_session::Exchange> Front::make_exchange(http_session::Connection& connection) {
  return std::make_unique<Exchange>(*this, connection);
}

bool Front::wants(const net::HttpMessage& /*head*/) const { return true; }

const Service& Front::service() {
  service_.engine_suspect = context().engine_suspect;
  service_.draining = context().draining;
  return service_;
}

namespace {

std::function<Time()> clock_of(const FrontOptions& options) {
  if (options.now) return options.now;
  return [] { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); };
}

}  // namespace

http_session::MakeHttpFront make_front(FrontOptions options) {
  return [options = std::move(options), sessions = std::make_shared<console::Sessions>(),
          sampler =
              std::weak_ptr<metrics::ObjectiveSampler>()](session::ServerContext& context) mutable {
    auto shared = sampler.lock();
    if (shared == nullptr && options.measures_objectives) {
      shared = std::make_shared<metrics::ObjectiveSampler>(
          context.engine, context.meter.store().lateness(), clock_of(options));
      sampler = shared;
    }
    return std::make_unique<Front>(context, options, sessions, std::move(shared));
  };
}

}  // namespace tarry::http
