#include "server/listening/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <utility>

#include <boost/asio/ip/tcp.hpp>

#include "server/listening/ip_address.h"

namespace tarry::listening {
namespace {

using boost::system::error_code;

// The endpoint's IP address; empty if it has none, and then the port stays 0.
std::string ip_of(const Socket::endpoint_type& endpoint, std::uint16_t& port) {
  const int family = endpoint.data()->sa_family;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* address = nullptr;
  if (family == AF_INET) {
    address = &reinterpret_cast<const sockaddr_in*>(endpoint.data())->sin_addr;
    port = ntohs(reinterpret_cast<const sockaddr_in*>(endpoint.data())->sin_port);
  } else if (family == AF_INET6) {
    address = &reinterpret_cast<const sockaddr_in6*>(endpoint.data())->sin6_addr;
    port = ntohs(reinterpret_cast<const sockaddr_in6*>(endpoint.data())->sin6_port);
  } else {
    return {};
  }
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? "?" : text.data();
}

std::string name_of(Socket& socket, std::uint16_t& port) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return "gone";
  std::string name = ip_of(endpoint, port);
  if (!name.empty()) return name;
  ucred user{};
  socklen_t size = sizeof user;
  ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &user, &size);
  return "user " + std::to_string(user.uid);
}

std::string in_url(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

}  // namespace

RemoteEnd remote_end_of(Socket& socket) {
  std::uint16_t port = 0;
  RemoteEnd end;
  const std::string name = name_of(socket, port);
  end.peer = peer_of(name);
  end.address = in_url(name);
  if (port != 0) end.address += ":" + std::to_string(port);
  return end;
}

std::string local_host_of(Socket& socket) {
  error_code error;
  const auto endpoint = socket.local_endpoint(error);
  std::uint16_t port = 0;
  return error ? std::string() : in_url(ip_of(endpoint, port));
}

void prepare(Socket& socket) {
  error_code ignored;
  // A unix socket has no such option.
  socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  socket.non_blocking(true, ignored);
}

bool has_hung_up(Socket& socket) {
  pollfd watched{socket.native_handle(), POLLRDHUP, 0};
  return ::poll(&watched, 1, 0) > 0;
}

void acknowledge(Socket& socket) {
  const int now = 1;
  // This fails for a unix socket, which does not need it.
  static_cast<void>(
      ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_QUICKACK, &now, sizeof now));
}

}  // namespace tarry::listening
