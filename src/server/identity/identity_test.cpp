#include "server/identity/identity.h"

#include <gtest/gtest.h>

#include "server/identity/tokens.h"

namespace tarry::identity {
namespace {

Identity shop() {
  Identity identity{"shop", {}, {"shop.*", "mails"}};
  identity.scopes.add(Scope::push);
  identity.scopes.add(Scope::read);
  return identity;
}

TEST(Identity, may_use_its_scopes_on_its_queues_and_no_other) {
  const Identity identity = shop();
  for (const char* queue : {"shop.eu", "mails"}) {
    EXPECT_TRUE(identity.may(Scope::push, queue)) << queue;
    EXPECT_TRUE(identity.may(Scope::read, queue)) << queue;
    EXPECT_FALSE(identity.may(Scope::consume, queue)) << queue;
    EXPECT_FALSE(identity.may(Scope::admin, queue)) << queue;
  }
  for (const char* queue : {"shop", "mails.eu", "bank", "", "*"}) {
    EXPECT_FALSE(identity.may(Scope::read, queue)) << queue;
  }
  EXPECT_FALSE(identity.may_everywhere(Scope::read));
}

TEST(Identity, has_every_queue_with_a_star_alone) {
  Identity identity = shop();
  identity.queues.emplace_back("*");
  EXPECT_TRUE(identity.may_everywhere(Scope::read));
  EXPECT_FALSE(identity.may_everywhere(Scope::admin));
  EXPECT_TRUE(identity.may(Scope::read, "bank"));
}

TEST(Identity, of_anyone_is_all_and_of_nobody_nothing) {
  for (const Scope scope : kScopes) {
    EXPECT_TRUE(anyone()->may_everywhere(scope));
    EXPECT_FALSE(nobody()->may(scope, "q"));
  }
}

TEST(Identity, ends_at_its_end) {
  Identity identity = shop();
  EXPECT_FALSE(identity.has_ended(Time::max()));
  identity.ends = Time(Millis(1'000));
  EXPECT_FALSE(identity.has_ended(Time(Millis(999))));
  EXPECT_TRUE(identity.has_ended(Time(Millis(1'000))));
}

Identity with(Identity identity, std::string_view secret) {
  identity.digest = digest_of(secret);
  return identity;
}

TEST(Tokens, none_is_required_until_there_is_one) {
  Tokens tokens;
  EXPECT_EQ(tokens.find("anything"), anyone());
  tokens.require();
  EXPECT_EQ(tokens.find("anything"), nullptr);
  EXPECT_EQ(tokens.find(""), nullptr);
  EXPECT_FALSE(Tokens::of("").required());
}

TEST(Tokens, each_is_found_by_its_secret) {
  Tokens tokens = Tokens::of("everything");
  tokens.add(with(shop(), "s3cret"));
  EXPECT_EQ(tokens.find("everything")->name, kTokenFile);
  EXPECT_TRUE(tokens.find("everything")->may_everywhere(Scope::admin));
  EXPECT_EQ(tokens.find("s3cret")->name, "shop");
  for (const char* other : {"", "s3cre", "s3crets", "S3cret"}) {
    EXPECT_EQ(tokens.find(other), nullptr) << other;
  }
  // The hash of a secret is no secret.
  EXPECT_EQ(tokens.find(digest_of("s3cret")), nullptr);
}

TEST(Tokens, know_an_identity_only_while_nothing_of_it_has_changed) {
  Tokens tokens;
  tokens.add(with(shop(), "s3cret"));
  const IdentityPtr before = tokens.find("s3cret");
  EXPECT_TRUE(tokens.still_know(*before));
  EXPECT_FALSE(tokens.still_know(*anyone()));
  EXPECT_TRUE(Tokens().still_know(*before));

  Tokens other_secret;
  other_secret.add(with(shop(), "other"));
  EXPECT_FALSE(other_secret.still_know(*before));
  Identity less = with(shop(), "s3cret");
  less.queues.pop_back();
  Tokens other_rights;
  other_rights.add(less);
  EXPECT_FALSE(other_rights.still_know(*before));
}

}  // namespace
}  // namespace tarry::identity
