#include "relay/sinks/webhook/public_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace tarry::relay {
namespace {

// Whether the address is public. Also checks that its text is the same after reading and writing
// it.
bool belongs_to_all(const char* text) {
  sockaddr_storage address{};
  auto& in = reinterpret_cast<sockaddr_in&>(address);
  auto& in6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, text, &in.sin_addr) == 1) {
    address.ss_family = AF_INET;
  } else if (::inet_pton(AF_INET6, text, &in6.sin6_addr) == 1) {
    address.ss_family = AF_INET6;
  }
  const auto& plain = reinterpret_cast<const sockaddr&>(address);
  EXPECT_EQ(address_text(plain), text);
  return is_public(plain);
}

TEST(PublicAddress, TheWorlds) {
  for (const char* text :
       {"1.1.1.1",         "8.8.8.8",        "9.255.255.255",   "11.0.0.0",
        "100.63.255.255",  "100.128.0.0",    "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "172.15.255.255", "172.32.0.0",      "192.167.255.255",
        "192.169.0.0",     "198.17.255.255", "198.20.0.0",      "223.255.255.255",
        "2606:4700::1111", "2a00:1450::1",   "::ffff:8.8.8.8",  "64:ff9b::808:808",
        "2002:808:808::1"}) {
    EXPECT_TRUE(belongs_to_all(text)) << text;
  }
}

TEST(PublicAddress, SomebodysOwn) {
  for (const char* text : {"0.0.0.0",
                           "0.255.255.255",
                           "10.0.0.0",
                           "10.255.255.255",
                           "100.64.0.0",
                           "100.127.255.255",
                           "127.0.0.1",
                           "127.255.255.255",
                           "169.254.169.254",
                           "172.16.0.0",
                           "172.31.255.255",
                           "192.0.0.1",
                           "192.0.2.1",
                           "192.168.0.0",
                           "192.168.255.255",
                           "198.18.0.0",
                           "198.19.255.255",
                           "198.51.100.7",
                           "203.0.113.7",
                           "224.0.0.1",
                           "239.255.255.255",
                           "240.0.0.0",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.1.2.3",
                           "64:ff9b::a00:1",
                           "64:ff9b:1::1",
                           "100::1",
                           "2001::1",
                           "2001:db8::1",
                           "2002:a00:1::1",
                           "2002:7f00:1::1",
                           "3fff::1",
                           "fc00::1",
                           "fd12:3456::1",
                           "fe80::1",
                           "fec0::1",
                           "ff02::1",
                           "4000::1"}) {
    EXPECT_FALSE(belongs_to_all(text)) << text;
  }
}

TEST(PublicAddress, WhatIsNoAddressIsNobodys) {
  sockaddr address{};
  address.sa_family = AF_UNIX;
  EXPECT_FALSE(is_public(address));
  EXPECT_EQ(address_text(address), "");
}

}  // namespace
}  // namespace tarry::relay
