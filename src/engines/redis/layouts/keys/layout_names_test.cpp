#include "engines/redis/layouts/keys/layout_names.h"

#include <gtest/gtest.h>

namespace tarry::redis {
namespace {

LayoutSpec spec_of(Layout layout, std::string zset = {}, std::string hash = {}) {
  LayoutSpec spec;
  spec.layout = layout;
  spec.zset = std::move(zset);
  spec.hash = std::move(hash);
  return spec;
}

LayoutKeys keys_in(const LayoutSpec& spec, std::string_view queue) {
  const auto names = LayoutNames::make(spec);
  EXPECT_TRUE(names) << (names ? "" : names.error().message);
  if (!names) return {};
  const auto keys = names->keys_of(queue);
  EXPECT_TRUE(keys) << (keys ? "" : keys.error().message);
  return keys ? **keys : LayoutKeys();
}

Error wrong(const LayoutSpec& spec) {
  const auto names = LayoutNames::make(spec);
  EXPECT_FALSE(names);
  return names ? Error{} : names.error();
}

TEST(LayoutNames, AQueueIsTheZsetOfItsNameUnlessTheUrlSaysOtherwise) {
  EXPECT_EQ(keys_in(spec_of(Layout::plain), "orders").zsets, std::vector<std::string>{"orders"});
  EXPECT_EQ(keys_in(spec_of(Layout::plain, "app:{queue}:due"), "orders").zsets,
            std::vector<std::string>{"app:orders:due"});
  EXPECT_EQ(keys_in(spec_of(Layout::plain, "delayqueue"), "delayqueue").zsets,
            std::vector<std::string>{"delayqueue"});
}

TEST(LayoutNames, ManyKeysAreOneQueue) {
  const LayoutKeys keys = keys_in(spec_of(Layout::hash, "dq:{8..10}", "body:{0..2}"), "dq");
  EXPECT_EQ(keys.zsets, (std::vector<std::string>{"dq:8", "dq:9", "dq:10"}));
  EXPECT_EQ(keys.bodies, (std::vector<std::string>{"body:0", "body:1", "body:2"}));
  EXPECT_EQ(keys_in(spec_of(Layout::hash, "{queue}:{0..1}", "{queue}:h"), "a").bodies,
            std::vector<std::string>{"a:h"});
}

TEST(LayoutNames, NumbersKeepTheirZeros) {
  EXPECT_EQ(keys_in(spec_of(Layout::plain, "dq:{08..11}"), "dq").zsets,
            (std::vector<std::string>{"dq:08", "dq:09", "dq:10", "dq:11"}));
  EXPECT_EQ(keys_in(spec_of(Layout::plain, "dq:{0..1}"), "dq").zsets,
            (std::vector<std::string>{"dq:0", "dq:1"}));
}

TEST(LayoutNames, RedissonsNamesAreNotWrappedTwice) {
  LayoutSpec spec = spec_of(Layout::redisson);
  const LayoutKeys keys = keys_in(spec, "dest");
  EXPECT_EQ(keys.zsets, std::vector<std::string>{"redisson_delay_queue_timeout:{dest}"});
  EXPECT_EQ(keys.bodies, (std::vector<std::string>{"redisson_delay_queue:{dest}", "dest"}));
  EXPECT_EQ(keys.channel, "redisson_delay_queue_channel:{dest}");
  spec.list = "{app}:dest";
  spec.queue = "q";
  EXPECT_EQ(keys_in(spec, "q").zsets,
            std::vector<std::string>{"redisson_delay_queue_timeout:{app}:dest"});
}

TEST(LayoutNames, AnotherQueueIsNotInTheStore) {
  const auto names = LayoutNames::make(spec_of(Layout::plain, "due tasks", ""));
  EXPECT_FALSE(names);  // no queue has that name
  LayoutSpec named = spec_of(Layout::plain, "due tasks");
  named.queue = "tasks";
  const auto made = LayoutNames::make(named);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->only(), "tasks");
  const auto other = made->keys_of("orders");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::not_found);
  for (const std::string_view word : {"orders", "due tasks", "tasks"}) {
    EXPECT_NE(other.error().message.find(word), std::string::npos) << other.error().message;
  }
}

TEST(LayoutNames, WhatMakesNoSenseIsNamed) {
  struct Case {
    LayoutSpec spec;
    std::string_view names;
  };
  std::vector<Case> cases = {
      {spec_of(Layout::hash, "z"), "hash=NAME"},
      {spec_of(Layout::plain, "z", "h"), "option hash goes with layout=hash"},
      {spec_of(Layout::redisson, "z"), "option zset"},
      {spec_of(Layout::plain, "z:{5..1}"), "backwards"},
      {spec_of(Layout::plain, "z:{0..256}"), "257 keys; 256 is the limit"},
      {spec_of(Layout::plain, "{0..1}:{0..1}"), "twice"},
      {spec_of(Layout::hash, "z:{0..3}", "h:{0..1}"), "names 2 keys, and zset 4"},
      {spec_of(Layout::hash, "{queue}", "h"), "share bodies"},
      {spec_of(Layout::plain, "due tasks"), "due tasks"},
  };
  LayoutSpec list = spec_of(Layout::plain);
  list.list = "l";
  cases.push_back({list, "option list"});
  LayoutSpec unit = spec_of(Layout::redisson);
  unit.seconds = true;
  cases.push_back({unit, "option unit"});
  LayoutSpec decode = spec_of(Layout::plain);
  decode.decode = Decode::json;
  cases.push_back({decode, "option decode"});
  LayoutSpec claim = spec_of(Layout::hash, "z", "h");
  claim.through_list = true;
  cases.push_back({claim, "option claim"});
  LayoutSpec both = spec_of(Layout::plain, "{queue}");
  both.queue = "q";
  cases.push_back({both, "{queue}"});
  LayoutSpec lists = spec_of(Layout::redisson);
  lists.list = "l:{0..3}";
  cases.push_back({lists, "several lists"});
  for (const Case& each : cases) {
    const Error error = wrong(each.spec);
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_NE(error.message.find(each.names), std::string::npos) << error.message;
  }
}

}  // namespace
}  // namespace tarry::redis
