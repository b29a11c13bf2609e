#include "server/listening/ip_address.h"

#include <utility>

#include <gtest/gtest.h>

namespace tarry::listening {
namespace {

TEST(IpAddress, only_this_machine_reaches_loopback) {
  for (const char* address : {"127.0.0.1", "127.9.9.9", "::1", "localhost"}) {
    EXPECT_TRUE(is_loopback(address)) << address;
  }
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "::2", "::ffff:10.0.0.1",
                              "", "example", "127.0.0.1:80", "[::1]"}) {
    EXPECT_FALSE(is_loopback(address)) << address;
  }
}

TEST(IpAddress, two_servers_have_no_port_in_common_where_they_collide) {
  EXPECT_TRUE(collide("10.0.0.1", "10.0.0.1"));
  EXPECT_TRUE(collide("0.0.0.0", "10.0.0.1"));
  EXPECT_TRUE(collide("10.0.0.1", "0.0.0.0"));
  EXPECT_TRUE(collide("localhost", "127.0.0.1"));
  EXPECT_TRUE(collide("2001:db8::1", "2001:db8:0::1"));
  EXPECT_TRUE(collide("::", "::1"));
  EXPECT_FALSE(collide("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(collide("0.0.0.0", "::"));
  EXPECT_FALSE(collide("127.0.0.1", "::1"));
}

TEST(IpAddress, has_one_form_in_a_url) {
  EXPECT_EQ(ip_in_url("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(ip_in_url("2001:DB8:0::1"), "[2001:db8::1]");
  EXPECT_EQ(ip_in_url("[2001:db8::1]"), "[2001:db8::1]");
  for (const char* other : {"", "[]", "[192.0.2.7]", "192.0.2", "example", "[::1", "::1]", "[x]"}) {
    EXPECT_EQ(ip_in_url(other), std::nullopt) << other;
  }
}

TEST(IpAddress, limits_treat_a_network_of_64_bits_as_one_client) {
  const std::pair<const char*, const char*> peers[] = {
      {"10.0.0.7", "10.0.0.7"},
      {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
      {"2001:db8:1:2::", "2001:db8:1:2::/64"},
      {"2001:db8:1:3::1", "2001:db8:1:3::/64"},
      {"::1", "::1"},
      {"fe80::1:2:3:4", "fe80::1:2:3:4"},
      {"::ffff:10.0.0.7", "10.0.0.7"},
      {"user 1000", "user 1000"},
      {"gone", "gone"},
  };
  for (const auto& [address, peer] : peers) EXPECT_EQ(peer_of(address), peer);
}

}  // namespace
}  // namespace tarry::listening
