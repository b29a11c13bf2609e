#include "app/config/listen.h"

#include <fmt/format.h>

#include "app/system/replace_file.h"
#include "base/text.h"

namespace tarry::app {

std::string Address::url() const {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

Result<Address> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("address {} must be HOST:PORT, as 127.0.0.1:7733", base::quoted(text))};
  }
  const auto port = base::parse_u64(text.substr(colon + 1), "port", 0, 65535);
  if (!port) return port.error();
  Address address{text.substr(0, colon), static_cast<std::uint16_t>(*port)};
  if (address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  return address;
}

namespace {

Result<void> of_port_file(Result<void> done) {
  if (done) return done;
  return Error{ErrorCode::invalid_argument, "--port-file: " + done.error().message};
}

}  // namespace

Result<void> check_port_file(const std::string& path) {
  return of_port_file(check_replaceable(path));
}

Result<void> write_port_file(const std::string& path, std::uint16_t port) {
  return of_port_file(replace_file(path, fmt::format("{}\n", port)));
}

}  // namespace tarry::app
