#include "server/sqs/front.h"

#include <utility>

#include "server/identity/identity.h"
#include "server/sqs/connection.h"

namespace tarry::sqs {

Front::Front(session::ServerContext& context, FrontOptions options)
    : session::Front(context, "sqs"),
      options_(std::move(options)),
      service_{context.engine.capabilities(), options_.strict,
               options_.now ? options_.now : identity::now, &queues_, &moves_} {}

std::shared_ptr<session::Connection> Front::connect(listening::Stream stream) {
  return std::make_shared<Connection>(*this, std::move(stream));
}

session::MakeFront make_front(FrontOptions options) {
  return [options = std::move(options)](session::ServerContext& context) {
    return std::make_unique<Front>(context, options);
  };
}

}  // namespace tarry::sqs
