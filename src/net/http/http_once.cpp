#include "net/http/http_once.h"

#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/assert.h"

namespace tarry::net {

HttpAnswer http_once(HttpClientOptions options, HttpCall call) {
  boost::asio::io_context io(1);
  HttpClient client(io, std::move(options));
  std::optional<HttpAnswer> answered;
  client.send(std::move(call), [&](HttpAnswer answer) {
    answered = std::move(answer);
    client.close();  // otherwise the kept connection would prevent `run` from returning
  });
  io.run();
  TARRY_ASSERT(answered.has_value());
  return *std::move(answered);
}

}  // namespace tarry::net
