#include "server/http/server.h"

#include <vector>

#include "base/text/text.h"
#include "server/listening/ip_address.h"
#include "server/listening/reserved_port.h"

namespace tarry::http {

Result<std::uint16_t> Server::start() {
  std::vector<session::Listening> places;
  std::uint16_t port = 0;
  if (options_.unix_path.empty()) {
    if (const auto good = listening::parse_listen_address(options_.address); !good) {
      return good.error();
    }
    if (!listening::is_loopback(options_.address)) {
      return Unexpected(ErrorCode::invalid_argument,
                        "listen address " + base::quoted(options_.address) + " is not loopback");
    }
    auto place = listening::ReservedPort::reserve(options_.address, options_.port);
    if (!place) return std::move(place).error();
    port = place->port();
    places.push_back({make_front(options_), std::move(*place)});
  } else {
    places.push_back({make_front(options_), options_.unix_path});
  }
  if (const auto begun = fronts_.start(std::move(places)); !begun) return begun.error();
  return port;
}

}  // namespace tarry::http
