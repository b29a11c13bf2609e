#include "server/session_parts/holders.h"

#include <gtest/gtest.h>

namespace tarry::session {
namespace {

core::ClaimReply claimed(std::uint64_t first, std::size_t count, std::uint32_t claims = 1) {
  core::ClaimReply reply;
  for (std::size_t i = 0; i < count; ++i) {
    core::ClaimedItem& item = reply.items.emplace_back();
    item.id = first + i;
    item.tallies.claims = claims;
  }
  return reply;
}

std::string holder_of(const Holders& holders, std::uint64_t id, std::uint32_t claims = 1,
                      State state = State::leased) {
  MessageInfo info;
  info.id = id;
  info.state = state;
  info.tallies.claims = claims;
  holders.tell(info);
  return info.holder;
}

TEST(Holders, tell_who_made_that_very_claim) {
  Holders holders;
  holders.note(claimed(1, 2), "ann");
  holders.note(claimed(2, 1, 2), "ben");  // ann's lease had run out before
  holders.note({}, "nobody");
  EXPECT_EQ(holder_of(holders, 1), "ann");
  EXPECT_EQ(holder_of(holders, 2, 2), "ben");
  EXPECT_EQ(holder_of(holders, 1, 2), "") << "somebody claimed it elsewhere";
  EXPECT_EQ(holder_of(holders, 3), "");
  EXPECT_EQ(holder_of(holders, 1, 1, State::ready), "");
}

TEST(Holders, forget_the_oldest_claims) {
  Holders holders;
  holders.note(claimed(1, 1), "first");
  holders.note(claimed(2, Holders::kMost), "many");
  EXPECT_EQ(holder_of(holders, 1), "");
  EXPECT_EQ(holder_of(holders, 2), "many");
  for (std::size_t i = 0; i < Holders::kMostClaims; ++i) holders.note(claimed(i, 1, 7), "ann");
  EXPECT_EQ(holder_of(holders, 2), "");
  EXPECT_EQ(holder_of(holders, 0, 7), "ann");
  holders.note(claimed(1, Holders::kMost + 1, 8), "more than are kept");
  EXPECT_EQ(holder_of(holders, 1, 8), "");
  EXPECT_EQ(holder_of(holders, 2, 8), "more than are kept");
}

TEST(Holders, are_named_by_address_and_user_agent) {
  const std::string agent = "curl/7.88.1";
  EXPECT_EQ(holder_name("127.0.0.1:40112", &agent), "127.0.0.1:40112 curl/7.88.1");
  EXPECT_EQ(holder_name("user 1000", nullptr), "user 1000");
  const std::string wild = "a\tb\xff" + std::string(200, 'c');
  EXPECT_EQ(holder_name("x", &wild), "x a?b?" + std::string(124, 'c'));
}

}  // namespace
}  // namespace tarry::session
