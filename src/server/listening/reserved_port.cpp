#include "server/listening/reserved_port.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/assert.h"
#include "base/text.h"

namespace tarry::listening {
namespace {

using boost::asio::ip::tcp;

Result<boost::asio::ip::address> parse_address(const std::string& text) {
  boost::system::error_code error;
  const auto address =
      boost::asio::ip::make_address(text == "localhost" ? "127.0.0.1" : text, error);
  if (error) {
    return Unexpected(ErrorCode::invalid_argument,
                      "listen address " + base::quoted(text) + " is not an IP address");
  }
  if (!address.is_loopback()) {
    return Unexpected(ErrorCode::invalid_argument,
                      "listen address " + base::quoted(text) +
                          " is not loopback: without encryption tarry serves only its own "
                          "machine, on 127.0.0.1 or ::1");
  }
  return address;
}

std::string shown(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" +
         std::to_string(endpoint.port());
}

}  // namespace

Result<void> check_listen_address(const std::string& address) {
  if (const auto parsed = parse_address(address); !parsed) return parsed.error();
  return {};
}

Result<ReservedPort> ReservedPort::reserve(const std::string& address, std::uint16_t port) {
  const auto parsed = parse_address(address);
  if (!parsed) return parsed.error();
  tcp::endpoint endpoint(*parsed, port);
  const int family = endpoint.protocol().family();
  ReservedPort reserved(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), family,
                        shown(endpoint));
  // With SO_REUSEADDR, lingering connections of a former server do not prevent the bind. A server
  // that listens there does.
  const int on = 1;
  if (reserved.socket_ < 0 ||
      ::setsockopt(reserved.socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(reserved.socket_, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    return reserved.failed(errno);
  }
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (::getsockname(reserved.socket_, endpoint.data(), &size) != 0) return reserved.failed(errno);
  reserved.port_ = endpoint.port();
  reserved.shown_ = shown(endpoint);
  return reserved;
}

ReservedPort::~ReservedPort() {
  if (socket_ >= 0) ::close(socket_);
}

Result<int> ReservedPort::listen() && {
  TARRY_ASSERT(socket_ >= 0);
  if (::listen(socket_, SOMAXCONN) != 0) return failed(errno);
  return std::exchange(socket_, -1);
}

Error ReservedPort::failed(int error) const {
  ErrorCode code = ErrorCode::io_error;
  if (error == EADDRINUSE) code = ErrorCode::conflict;
  if (error == EACCES || error == EPERM) code = ErrorCode::permission_denied;
  return {code, "cannot listen on " + shown_ + ": " + std::generic_category().message(error)};
}

}  // namespace tarry::listening
