#include "app/listen.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include <fmt/format.h>

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

Result<void> write_port_file(const std::string& path, std::uint16_t port) {
  const std::string draft = fmt::format("{}.{}", path, ::getpid());
  {
    std::ofstream file(draft);
    file << port << "\n";
    file.close();
    if (file && std::rename(draft.c_str(), path.c_str()) == 0) return {};
  }
  std::remove(draft.c_str());
  return Error{ErrorCode::invalid_argument,
               fmt::format("--port-file {}: cannot be written", base::quoted(path))};
}

}  // namespace tarry::app
