#include "relay/sinks/webhook/allow_list.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>

namespace tarry::relay {
namespace {

bool permits_text(const AllowList& list, const std::string& text) {
  sockaddr_storage address{};
  auto& in = reinterpret_cast<sockaddr_in&>(address);
  auto& in6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, text.c_str(), &in.sin_addr) == 1) {
    address.ss_family = AF_INET;
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &in6.sin6_addr), 1) << text;
    address.ss_family = AF_INET6;
    in6.sin6_scope_id = 7;  // a zone, which does not matter
  }
  return list.permits(reinterpret_cast<const sockaddr&>(address));
}

AllowList parsed(const std::string& text) {
  auto list = AllowList::parse(text);
  EXPECT_TRUE(list) << list.error().message;
  return list ? *std::move(list) : AllowList();
}

std::string parse_error(const std::string& text) {
  const auto list = AllowList::parse(text);
  EXPECT_FALSE(list) << text;
  return list ? "" : list.error().message;
}

TEST(AllowList, WithoutOneOnlyPublicAddresses) {
  const AllowList list;
  EXPECT_TRUE(list.is_default());
  EXPECT_FALSE(list.has_only_names());
  EXPECT_FALSE(list.permits_host("shop.example"));
  EXPECT_TRUE(permits_text(list, "8.8.8.8"));
  EXPECT_TRUE(permits_text(list, "2606:4700::1111"));
  for (const char* text : {"10.0.0.1", "127.0.0.1", "0.0.0.0", "::", "::1", "fe80::1", "fd00::1",
                           "::ffff:10.0.0.1", "::ffff:0.0.0.0", "169.254.169.254"}) {
    EXPECT_FALSE(permits_text(list, text)) << text;
  }
}

TEST(AllowList, PublicIsTheDefaultWritten) {
  const AllowList list = parsed("public");
  EXPECT_TRUE(list.is_default());
  EXPECT_TRUE(permits_text(list, "8.8.8.8"));
  EXPECT_FALSE(permits_text(list, "10.0.0.1"));
}

TEST(AllowList, AListWithoutPublicPermitsNoOtherPublicAddress) {
  const AllowList list = parsed("10.0.0.0/8");
  EXPECT_TRUE(permits_text(list, "10.255.0.1"));
  EXPECT_FALSE(permits_text(list, "11.0.0.0"));
  EXPECT_FALSE(permits_text(list, "8.8.8.8"));
  const AllowList both = parsed("public,10.0.0.0/8");
  EXPECT_TRUE(permits_text(both, "10.255.0.1"));
  EXPECT_TRUE(permits_text(both, "8.8.8.8"));
  EXPECT_FALSE(permits_text(both, "192.168.0.1"));
}

TEST(AllowList, NetworksEndWhereTheyEnd) {
  const AllowList list = parsed("10.1.2.0/23,172.16.0.1,fd00:1::/33,fd77::7,203.0.113.128/25");
  for (const char* text : {"10.1.2.0", "10.1.3.255", "172.16.0.1", "fd00:1::1",
                           "fd00:1:7fff::", "fd77::7", "203.0.113.255"}) {
    EXPECT_TRUE(permits_text(list, text)) << text;
  }
  for (const char* text : {"10.1.1.255", "10.1.4.0", "172.16.0.2", "172.16.0.0", "fd00:1:8000::",
                           "fd00:2::", "fd77::8", "203.0.113.127", "0.0.0.0", "::"}) {
    EXPECT_FALSE(permits_text(list, text)) << text;
  }
}

TEST(AllowList, AMappedAddressIsTheIpv4AddressInIt) {
  const AllowList list = parsed("10.0.0.0/8");
  EXPECT_TRUE(permits_text(list, "::ffff:10.0.0.1"));
  EXPECT_FALSE(permits_text(list, "::ffff:11.0.0.1"));
  EXPECT_FALSE(permits_text(list, "::a00:1"));         // the old form, which leads nowhere
  EXPECT_FALSE(permits_text(list, "64:ff9b::a00:1"));  // through a translator: another network
  const AllowList mapped = parsed("::ffff:10.0.0.0/104");
  EXPECT_TRUE(permits_text(mapped, "10.0.0.1"));
  EXPECT_TRUE(permits_text(mapped, "::ffff:10.0.0.1"));
  EXPECT_FALSE(permits_text(mapped, "11.0.0.1"));
  const AllowList all6 = parsed("::/0");
  EXPECT_TRUE(permits_text(all6, "fe80::1"));
  EXPECT_FALSE(permits_text(all6, "10.0.0.1"));
  EXPECT_FALSE(permits_text(all6, "::ffff:10.0.0.1"));
}

TEST(AllowList, TheUnspecifiedAddressIsNotLoopback) {
  // Linux connects 0.0.0.0 and :: to this machine.
  const AllowList list = parsed("127.0.0.0/8,::1");
  EXPECT_TRUE(permits_text(list, "127.0.0.1"));
  EXPECT_FALSE(permits_text(list, "0.0.0.0"));
  EXPECT_FALSE(permits_text(list, "::"));
  EXPECT_TRUE(permits_text(parsed("0.0.0.0"), "0.0.0.0"));
}

TEST(AllowList, EverythingIsEverything) {
  for (const AllowList& list : {AllowList::everything(), parsed("0.0.0.0/0,::/0")}) {
    for (const char* text : {"0.0.0.0", "255.255.255.255", "::", "ff02::1", "::ffff:10.0.0.1"}) {
      EXPECT_TRUE(permits_text(list, text)) << text;
    }
    EXPECT_FALSE(list.is_default());
  }
  sockaddr local{};
  local.sa_family = AF_UNIX;
  EXPECT_FALSE(AllowList::everything().permits(local));
}

TEST(AllowList, ANamePermitsItselfAndAStarWhatIsBelow) {
  const AllowList list = parsed("Hooks.example,*.shop.example");
  EXPECT_TRUE(list.has_only_names());
  for (const char* host : {"hooks.example", "HOOKS.EXAMPLE", "hooks.example.", "a.shop.example",
                           "a.b.Shop.example."}) {
    EXPECT_TRUE(list.permits_host(host)) << host;
  }
  for (const char* host : {"shop.example", ".shop.example", "ashop.example", "a.hooks.example",
                           "hooks.example.org", "hooks.example..", "", "."}) {
    EXPECT_FALSE(list.permits_host(host)) << host;
  }
  EXPECT_FALSE(permits_text(list, "8.8.8.8"));
  EXPECT_FALSE(parsed("a.example,10.0.0.1").has_only_names());
}

TEST(AllowList, WhatIsNoEntryIsNamed) {
  for (const char* text :
       {"", "10.0.0.0/8,", "*", "*.", "a b", "häuser.example", "a..b", "-/8", "10.0.0.0/33",
        "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "fd00::/129", "[::1]", "127.0.0.1:80",
        "shop.example:443", "https://shop.example/", "/8", "10.0/8"}) {
    EXPECT_NE(parse_error(text).find("allow: entry \""), std::string::npos) << text;
  }
  EXPECT_EQ(parse_error("public,10.0.0.1/8"),
            "allow: entry \"10.0.0.1/8\" is no network: its address has bits after the first 8");
  EXPECT_NE(parse_error("10.0.0.0/33").find("0 to 32"), std::string::npos);
  EXPECT_NE(parse_error("fe80::1%eth0").find("has a zone"), std::string::npos);
  for (const char* text : {"2130706433", "127.1", "0x7f000001", "0x7f.1", "1.2.3.4.5", "*.1"}) {
    EXPECT_NE(parse_error(text).find("looks like a number"), std::string::npos) << text;
  }
  EXPECT_NE(parse_error(std::string(64, 'a') + ".example").find("is none"), std::string::npos);
  std::string many = "a.example";
  for (std::size_t i = 0; i < AllowList::kMost; ++i) many += ",a.example";
  EXPECT_EQ(parse_error(many), "allow has 257 entries; the limit is 256");
}

TEST(AllowList, ARefusalNamesHostAddressAndSetting) {
  EXPECT_EQ(AllowList().refusal("shop.example", "10.0.0.1"),
            "host \"shop.example\" leads to 10.0.0.1, which is not permitted by allow=public (the "
            "default); allow=10.0.0.1 permits it");
  EXPECT_EQ(parsed("10.0.0.0/8,*.example").refusal("::1", "::1"),
            "host \"::1\" is not permitted by allow=10.0.0.0/8,*.example");
  EXPECT_EQ(parsed("*.example").refusal("example.org"),
            "host \"example.org\" is not permitted by allow=*.example, which has only names");
}

}  // namespace
}  // namespace tarry::relay
