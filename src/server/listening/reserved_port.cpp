#include "server/listening/reserved_port.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <boost/asio/ip/tcp.hpp>

#include "base/assert.h"
#include "server/listening/ip_address.h"

namespace tarry::listening {
namespace {

using boost::asio::ip::tcp;

std::string shown(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" +
         std::to_string(endpoint.port());
}

std::string reason(int error, std::uint16_t port) {
  constexpr std::uint16_t kFirstOpenPort = 1024;
  std::string text = std::generic_category().message(error);
  if (error == EACCES && port < kFirstOpenPort) {
    text += "; a port below 1024 needs root or the capability CAP_NET_BIND_SERVICE";
  }
  if (error == EADDRNOTAVAIL) text += "; this machine has no such address";
  return text;
}

}  // namespace

Result<ReservedPort> ReservedPort::reserve(const std::string& address, std::uint16_t port) {
  const auto parsed = parse_listen_address(address);
  if (!parsed) return parsed.error();
  tcp::endpoint endpoint(*parsed, port);
  const int family = endpoint.protocol().family();
  ReservedPort reserved(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), family,
                        shown(endpoint));
  reserved.port_ = port;
  // With SO_REUSEADDR, lingering connections of a former server do not prevent the bind. A server
  // that listens there does.
  const int on = 1;
  if (reserved.socket_ < 0 ||
      ::setsockopt(reserved.socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      (family == AF_INET6 &&
       ::setsockopt(reserved.socket_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) ||
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
  if (error == EADDRNOTAVAIL) code = ErrorCode::invalid_argument;
  return {code, "cannot listen on " + shown_ + ": " + reason(error, port_)};
}

}  // namespace tarry::listening
