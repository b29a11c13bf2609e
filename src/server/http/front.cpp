#include "server/http/front.h"

#include <utility>

#include "server/http/connection.h"

namespace tarry::http {

Front::Front(session::ServerContext& context, FrontOptions options,
             std::shared_ptr<console::Sessions> sessions)
    : session::Front(context, "http"),
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
               context.options.token_clock} {}

std::shared_ptr<session::Connection> Front::connect(listening::Stream stream) {
  return std::make_shared<Connection>(*this, std::move(stream));
}

const Service& Front::service() {
  service_.engine_suspect = context().engine_suspect;
  service_.draining = context().draining;
  return service_;
}

session::MakeFront make_front(FrontOptions options) {
  return [options = std::move(options),
          sessions = std::make_shared<console::Sessions>()](session::ServerContext& context) {
    return std::make_unique<Front>(context, options, sessions);
  };
}

}  // namespace tarry::http
