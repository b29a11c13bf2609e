#include "server/listening/reserved_port.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include <boost/asio/ip/tcp.hpp>

#include "base/assert.h"
#include "server/listening/ip_address.h"

namespace tarry::listening {
namespace {

using boost::asio::ip::tcp;

std::string text_of(const tcp::endpoint& endpoint) {
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

bool listens(int socket) {
  int type = 0;
  int accepts = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return false;
  size = sizeof accepts;
  if (::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) != 0) return false;
  return type == SOCK_STREAM && accepts != 0;
}

/// The path of a unix socket; an abstract one begins with @.
std::string path_of(const sockaddr_storage& storage, socklen_t size) {
  sockaddr_un address{};
  std::memcpy(&address, &storage, sizeof address);
  const std::size_t length = size - offsetof(sockaddr_un, sun_path);
  if (length > 0 && address.sun_path[0] == '\0') {
    return "@" + std::string(address.sun_path + 1, length - 1);
  }
  return {address.sun_path, ::strnlen(address.sun_path, length)};
}

}  // namespace

Result<ReservedPort> ReservedPort::adopt(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const int flags = ::fcntl(socket, F_GETFL);
  const Error wrong{ErrorCode::invalid_argument,
                    "descriptor " + std::to_string(socket) + " is no stream socket that listens"};
  if (!listens(socket) ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) {
    return wrong;
  }
  if (address.ss_family == AF_UNIX) {
    return ReservedPort(socket, AF_UNIX, "unix:" + path_of(address, size));
  }
  tcp::endpoint endpoint;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return wrong;
  std::memcpy(endpoint.data(), &address, size);
  endpoint.resize(size);
  ReservedPort adopted(socket, address.ss_family, text_of(endpoint));
  adopted.port_ = endpoint.port();
  return adopted;
}

Result<ReservedPort> ReservedPort::reserve(const std::string& address, std::uint16_t port) {
  const auto parsed = parse_listen_address(address);
  if (!parsed) return parsed.error();
  tcp::endpoint endpoint(*parsed, port);
  const int family = endpoint.protocol().family();
  ReservedPort reserved(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), family,
                        text_of(endpoint));
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
  reserved.shown_ = text_of(endpoint);
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
