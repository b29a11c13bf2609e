#include "server/listening/reserved_port.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace tarry::listening {
namespace {

// Returns 0, or the error of connect().
int connect_to(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected =
      ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = connected ? 0 : errno;
  ::close(client);
  return error;
}

TEST(ReservedPort, lets_nobody_in_before_it_listens) {
  auto place = ReservedPort::reserve("localhost", 0);
  ASSERT_TRUE(place) << place.error().message;
  const std::uint16_t port = place->port();
  ASSERT_NE(port, 0);
  EXPECT_EQ(connect_to(port), ECONNREFUSED);
  const auto socket = std::move(*place).listen();
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_EQ(connect_to(port), 0);
  ::close(*socket);
}

TEST(ReservedPort, names_a_port_on_which_somebody_listens) {
  auto first = ReservedPort::reserve("127.0.0.1", 0);
  ASSERT_TRUE(first);
  const std::uint16_t port = first->port();
  const auto socket = std::move(*first).listen();
  ASSERT_TRUE(socket);
  const auto second = ReservedPort::reserve("127.0.0.1", port);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_EQ(second.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(port) + ": Address already in use");
  ::close(*socket);
}

TEST(ReservedPort, who_reserved_it_too_hears_that_it_came_second) {
  auto first = ReservedPort::reserve("127.0.0.1", 0);
  ASSERT_TRUE(first);
  const std::uint16_t port = first->port();
  auto second = ReservedPort::reserve("127.0.0.1", port);
  ASSERT_TRUE(second) << second.error().message;
  const auto socket = std::move(*first).listen();
  ASSERT_TRUE(socket);
  const auto late = std::move(*second).listen();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::conflict);
  ::close(*socket);
}

TEST(ReservedPort, takes_over_a_socket_that_listens) {
  auto first = ReservedPort::reserve("127.0.0.1", 0);
  ASSERT_TRUE(first) << first.error().message;
  const std::uint16_t port = first->port();
  const auto socket = std::move(*first).listen();
  ASSERT_TRUE(socket);
  auto second = ReservedPort::adopt(*socket);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->shown(), "127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(second->port(), port);
  EXPECT_EQ(second->family(), AF_INET);
  const auto again = std::move(*second).listen();
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *socket);
  ::close(*again);
}

TEST(ReservedPort, shows_an_abstract_unix_socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "tarry-test-" + std::to_string(::getpid());
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(socket, 1), 0);
  const auto adopted = ReservedPort::adopt(socket);
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_EQ(adopted->shown(), "unix:@" + name);
  EXPECT_EQ(adopted->family(), AF_UNIX);
}

TEST(ReservedPort, takes_over_nothing_else) {
  const int unconnected = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int datagrams = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  constexpr int kClosed = 9999;
  for (const int descriptor : {unconnected, datagrams, kClosed}) {
    const auto adopted = ReservedPort::adopt(descriptor);
    ASSERT_FALSE(adopted);
    EXPECT_EQ(adopted.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(adopted.error().message,
              "descriptor " + std::to_string(descriptor) + " is no stream socket that listens");
  }
  ::close(unconnected);
  ::close(datagrams);
}

}  // namespace
}  // namespace tarry::listening
