#include "wire/bulk.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace tarry::wire {
namespace {

/// The smallest number that is read as milliseconds: smaller ones could be seconds.
constexpr std::int64_t kT = 1'000'000'000'000;

Time at(std::int64_t ms) { return Time(Millis(ms)); }

MessageInfo info_of(std::string key, std::int64_t due_ms, State state = State::scheduled) {
  MessageInfo info;
  info.key = std::move(key);
  info.due = at(due_ms);
  info.state = state;
  return info;
}

BulkRequest decoded(std::string_view body) {
  auto bulk = decode_bulk("q", body);
  EXPECT_TRUE(bulk) << bulk.error().message;
  return bulk ? *std::move(bulk) : BulkRequest{};
}

std::string refusal(std::string_view body) {
  const auto bulk = decode_bulk("q", body);
  return bulk ? "taken" : bulk.error().message;
}

TEST(Bulk, EveryFieldIsRead) {
  const auto bulk = decoded(
      R"({"action":"reschedule","state":"ready","prefix":"k","due_from_ms":1000000000001,)"
      R"("due_to_ms":1000000000005,)"
      R"("headers":{"shop":"eu"},"reason":"*x","by_ms":-4,"dry_run":true,"limit":7,"after":"c"})");
  EXPECT_EQ(bulk.action, BulkAction::reschedule);
  EXPECT_EQ(bulk.page.queue, "q");
  EXPECT_EQ(bulk.page.state, State::ready);
  EXPECT_EQ(bulk.page.prefix, "k");
  EXPECT_EQ(bulk.page.after, "c");
  EXPECT_EQ(bulk.page.limit, 7u);
  EXPECT_TRUE(bulk.page.whole);
  EXPECT_EQ(bulk.filter.prefix, "k");
  EXPECT_EQ(bulk.filter.due_from, at(1'000'000'000'001));
  EXPECT_EQ(bulk.filter.due_to, at(1'000'000'000'005));
  EXPECT_EQ(bulk.filter.headers, (Headers{{"shop", "eu"}}));
  EXPECT_EQ(bulk.filter.reason, "*x");
  EXPECT_EQ(bulk.by, Millis(-4));
  EXPECT_TRUE(bulk.dry_run);
}

TEST(Bulk, VerbsOfTheDeadAndReasonsLookAtTheDead) {
  EXPECT_EQ(decoded(R"({"action":"revive"})").page.state, State::dead);
  EXPECT_EQ(decoded(R"({"action":"remove"})").page.state, State::dead);
  EXPECT_EQ(decoded(R"({"action":"cancel","reason":"x"})").page.state, State::dead);
  EXPECT_EQ(decoded(R"({"action":"cancel"})").page.state, std::nullopt);
  EXPECT_NE(refusal(R"({"action":"revive","state":"leased"})").find("dead"), std::string::npos);
}

TEST(Bulk, AStepThatCouldBeTakenTwiceIsRefused) {
  const std::string between = R"(,"due_from_ms":1000000000001,"due_to_ms":1000000000006})";
  const std::string begun = R"({"action":"reschedule","by)";
  for (const std::string& body :
       {begun + R"(":"1h"})", begun + R"(":"1h","due_to_ms":1000000000005})",
        begun + R"(_ms":4)" + between, begun + R"(_ms":-4)" + between,
        begun + R"(_ms":0)" + between}) {
    EXPECT_NE(refusal(body).find("moved twice"), std::string::npos) << body;
  }
  for (const char* body :
       {R"({"action":"reschedule"})", R"({"action":"reschedule","due_ms":1000000000007,"by":"1h"})",
        R"({"action":"cancel","due_ms":1000000000007})"}) {
    EXPECT_NE(refusal(body).find("\"due\""), std::string::npos) << body;
  }
}

TEST(Bulk, NumbersAfter2200AreRefused) {
  EXPECT_EQ(refusal(R"({"action":"revive","due_from_ms":141540583284924})"),
            "\"due_from_ms\" is 141540583284924, which is after the limit of "
            "7289654399999 (the end of the year 2200)");
  EXPECT_NE(refusal(R"({"action":"cancel","due_to_ms":-1})").find("before 1970"),
            std::string::npos);
}

TEST(Bulk, OfAPageThoseAreChosenThatMatchEachOnce) {
  core::ListReply page;
  page.messages = {info_of("k1", kT + 1),
                   info_of("k2", kT + 2),
                   info_of("k1", kT + 1),
                   info_of("l", kT + 2),
                   info_of("k3", kT + 3, State::dead),
                   info_of("k4", kT + 3, State::remembered)};
  const auto keys = [&](std::string_view body) {
    std::string all;
    for (const MessageInfo* one : chosen(decoded(body), page)) all += one->key + " ";
    return all;
  };
  EXPECT_EQ(keys(R"({"action":"cancel","prefix":"k"})"), "k1 k2 ");
  EXPECT_EQ(keys(R"({"action":"cancel","due_from_ms":1000000000002})"), "k2 l ");
  EXPECT_EQ(keys(R"({"action":"reschedule","due_ms":1000000000002})"),
            "k1 ");  // the other messages have that time
}

TEST(Bulk, AMessageIsMovedFromItsOwnTime) {
  const auto bulk = decoded(R"({"action":"reschedule","by":"-20000d","due_from_ms":1000000000001,)"
                            R"("due_to_ms":1000000000011})");
  const MessageInfo early = info_of("a", kT + 3);
  const MessageInfo late = info_of("b", kT + 10);
  const auto verb = verb_of(bulk, {&early, &late});
  const auto& items = std::get<core::RescheduleRequest>(verb).items;
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].due.millis(), 0);  // a due time is never moved to before 1970
  EXPECT_EQ(items[1].due.millis(), 0);
  EXPECT_FALSE(items[0].due.is_relative());
}

TEST(Bulk, TheAnswerCountsWhatBecameOfThem) {
  core::ItemsReply items;
  for (const Outcome outcome : {Outcome::cancelled, Outcome::stopping, Outcome::cancelled}) {
    items.items.emplace_back().outcome = outcome;
  }
  items.items.emplace_back().error = Error{ErrorCode::no_space, "full"};
  core::Reply reply(items);
  EXPECT_EQ(encode_bulk_reply({9, 4, "n"}, &reply),
            R"({"looked":9,"matched":4,"outcomes":{"cancelled":2,"stopping":1},"failed":1,)"
            R"("error":{"code":"no_space","message":"full"},"next":"n"})");
  core::Reply revived(core::CountReply{3});
  EXPECT_EQ(
      encode_bulk_reply({9, 4, ""}, &revived),
      R"({"looked":9,"matched":4,"outcomes":{"revived":3,"unknown":1},"failed":0,"next":""})");
  EXPECT_EQ(encode_bulk_reply({9, 4, ""}, nullptr),
            R"({"looked":9,"matched":4,"outcomes":{},"failed":0,"next":""})");
}

}  // namespace
}  // namespace tarry::wire
