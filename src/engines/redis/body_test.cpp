#include "engines/redis/records/body.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engines/redis/queues/directory.h"

namespace tarry::redis {
namespace {

constexpr std::int64_t kPushedFrom = 1'577'836'800'000;                         // 2020-01-01
constexpr std::int64_t kPushedUpTo = kPushedFrom + ((1 << 24) - 1) * 60'000LL;  // 2051-11-24

std::string bytes_of(const Body& body, std::string_view member) {
  std::string bytes;
  append_head(bytes, body, member);
  bytes += body.payload;
  return bytes;
}

void expect_same(const Body& want, std::string_view member) {
  const std::string bytes = bytes_of(want, member);
  const auto got = read_body(bytes);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->id, want.id);
  EXPECT_EQ(got->priority, want.priority);
  EXPECT_EQ(got->max_attempts, want.max_attempts);
  EXPECT_EQ(got->expiry, want.expiry);
  EXPECT_EQ(got->pushed_ms, want.pushed_ms);
  EXPECT_EQ(got->headers, want.headers);
  EXPECT_EQ(got->payload, want.payload);
  EXPECT_TRUE(is_sound(*got, member));
}

TEST(Body, OfAMadeKeyHasFiveBytesBeforeItsPayload) {
  EXPECT_EQ(bytes_of({.payload = "x"}, "123456").size(), 6u);
  expect_same({.payload = "x"}, "123456");
}

TEST(Body, HoldsEveryField) {
  expect_same({.id = 5, .payload = "p"}, "k");
  expect_same({.priority = 0}, "k");
  expect_same({.max_attempts = 3, .payload = "p"}, "k");
  expect_same({.expiry = {1'767'225'600'000, 0}, .payload = "p"}, "k");
  expect_same({.expiry = {7'289'654'399'999, 3'155'760'000'000}, .payload = "p"}, "k");
  expect_same({.pushed_ms = kPushedFrom, .payload = "p"}, "k");
  expect_same({.pushed_ms = kPushedUpTo, .headers = "h", .payload = "p"}, "k");
  expect_same({.headers = "headers", .payload = std::string_view("\0\xff", 2)}, "k");
  expect_same({.id = 1'000'000'000'000,
               .priority = 4'294'967'295,
               .max_attempts = 65'535,
               .expiry = {1, 2},
               .pushed_ms = kPushedFrom + 60'000,
               .headers = "h",
               .payload = "p"},
              "k");
}

TEST(Body, KeepsThePushTimeToTheMinuteWhereItFits) {
  const auto kept = [](std::int64_t pushed_ms) {
    return read_body(bytes_of({.pushed_ms = pushed_ms, .payload = "p"}, "k"))->pushed_ms;
  };
  EXPECT_EQ(kept(kPushedFrom + 59'999), kPushedFrom);
  EXPECT_EQ(kept(kPushedUpTo + 59'999), kPushedUpTo);
  EXPECT_FALSE(kept(kPushedFrom - 1));
  EXPECT_FALSE(kept(kPushedUpTo + 60'000));
  EXPECT_EQ(bytes_of({.pushed_ms = kPushedFrom, .payload = "p"}, "k").size(), 9u);
}

TEST(Body, ThatWasChangedDoesNotCheck) {
  const std::string whole = bytes_of({.id = 5, .headers = "head", .payload = "payload"}, "key");
  EXPECT_FALSE(is_sound(*read_body(whole), "kez"));
  std::string bytes = whole;
  bytes.back() ^= 1;
  EXPECT_FALSE(is_sound(*read_body(bytes), "key"));
}

TEST(Body, OfAnyBytesIsReadOrRefused) {
  const std::string whole = bytes_of({.id = 5,
                                      .priority = 1,
                                      .max_attempts = 2,
                                      .pushed_ms = kPushedFrom,
                                      .headers = "head",
                                      .payload = ""},
                                     "key");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_body(std::string_view(whole).substr(0, size))) << size;
  }
  EXPECT_FALSE(read_body("\x80\x01\x02\x03\x04\x05"));  // remembered
}

RC_GTEST_PROP(Remembered, OfAnyBytesIsReadOrRefused, (const std::string& bytes)) {
  (void)read_remembered(bytes);
  (void)read_past(bytes);
  (void)read_dead(bytes);
  (void)read_body(bytes);
}

TEST(Past, ComesBackAsItWas) {
  std::string bytes;
  append_past(bytes, {7, {9, 1, 2, 3, 4}});
  EXPECT_EQ(bytes.size(), kPastSize);
  const Past past = read_past(bytes);
  EXPECT_EQ(past.attempt, 7u);
  EXPECT_EQ(past.tallies, (Tallies{9, 1, 2, 3, 4}));
  EXPECT_EQ(read_past("short").attempt, 0u);
}

TEST(Settings, ComeBackAsTheyWere) {
  QueueSettings settings;
  settings.lease = Millis(1);
  settings.max_attempts = 65'535;
  settings.backoff_min = Millis(0);
  settings.backoff_max = Millis(31'536'000'000);
  settings.remember = Millis(5);
  settings.dead_keep = Millis(1'000);
  for (const IfExists rule :
       {IfExists::reject, IfExists::keep, IfExists::replace, IfExists::earlier, IfExists::later}) {
    settings.if_exists = rule;
    EXPECT_EQ(read_settings(spell_settings(settings)), settings);
  }
  EXPECT_EQ(read_settings(""), QueueSettings());
  EXPECT_EQ(read_settings("1 2 x"), QueueSettings());
}

}  // namespace
}  // namespace tarry::redis
