#include "server/http/front.h"

#include <utility>

#include "server/http/exchange.h"

namespace tarry::http {

Front::Front(session::ServerContext& context, FrontOptions options,
             std::shared_ptr<console::Sessions> sessions)
    : http_session::Front(context, "http", options),
      options_(std::move(options)),
      sessions_(std::move(sessions)),
      feed_(std::make_shared<console::StatsFeed>(context.engine)),
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

http_session::MakeHttpFront make_front(FrontOptions options) {
  return [options = std::move(options),
          sessions = std::make_shared<console::Sessions>()](session::ServerContext& context) {
    return std::make_unique<Front>(context, options, sessions);
  };
}

}  // namespace tarry::http
