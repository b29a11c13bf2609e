#include "server/listening/reserved_port.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace
}  // namespace tarry::listening
