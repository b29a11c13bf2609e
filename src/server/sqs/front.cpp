#include "server/sqs/front.h"

#include <utility>

#include "server/identity/identity.h"
#include "server/sqs/exchange.h"
#include "server/sqs/protocol/protocol.h"

namespace tarry::sqs {

Front::Front(session::ServerContext& context, FrontOptions options)
    : http_session::Front(context, "sqs", options),
      options_(std::move(options)),
      service_{context.engine.capabilities(), options_.strict,
               options_.now ? options_.now : identity::now, &queues_, &moves_} {}

std::unique_ptr<http_session::Exchange> Front::make_exchange(http_session::Connection& connection) {
  return std::make_unique<Exchange>(*this, connection);
}

bool Front::wants(const net::HttpMessage& head) const { return is_for_sqs(head); }

http_session::MakeHttpFront make_front(FrontOptions options) {
  return [options = std::move(options)](session::ServerContext& context) {
    return std::make_unique<Front>(context, options);
  };
}

}  // namespace tarry::sqs
