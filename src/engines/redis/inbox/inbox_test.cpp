// A foreign producer's entries in an inbox, and their results.
#include "engines/redis/inbox/inbox.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/inbox_rig.h"

namespace tarry::redis {
namespace {

using Rig = tarry::testing::InboxRig;
using Words = Rig::Words;

constexpr std::int64_t kSentMs = 1'767'225'600'000;  // 2026-01-01
constexpr std::int64_t kFarMs = 4'000'000'000'000;   // 2096

std::int64_t due_of(const Result<MessageInfo>& info) {
  return info ? info->due.time_since_epoch().count() : -1;
}

TEST(InboxEntryIds, CompareAsTextsInTheirOrder) {
  const auto id = read_stream_id("1767225600000-12");
  ASSERT_TRUE(id);
  EXPECT_EQ(spell_in_order(*id), "00000001767225600000-00000000000000000012");
  EXPECT_EQ(spell_in_order(*read_stream_id("18446744073709551615-18446744073709551615")).size(),
            41u);
  EXPECT_LT(spell_in_order({9, 10}), spell_in_order({10, 9}));
  EXPECT_LT(spell_in_order({9, 9}), spell_in_order({9, 10}));
  for (const char* none : {"", "1", "-", "1-", "-1", "1-2 ", "x-1", "18446744073709551616-0"}) {
    EXPECT_FALSE(read_stream_id(none)) << none;
  }
}

TEST(Inbox, APushHasAllThatAPushMayHave) {
  Rig rig;
  const auto engine = rig.open();
  rig.add({"queue", "orders", "payload", "close it", "key", "order:42", "due",
           std::to_string(kFarMs), "priority", "7", "max_attempts", "3", "if_exists", "replace",
           "header.trace", "a1", "header.kind", ""});
  rig.wait_until_drained();
  const auto info = Rig::get(*engine, "orders", "order:42");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->payload, "close it");
  EXPECT_EQ(due_of(info), kFarMs);
  EXPECT_EQ(info->priority, 7u);
  EXPECT_EQ(info->headers, (Headers{{"trace", "a1"}, {"kind", ""}}));
  EXPECT_NE(info->id, 0u);
  EXPECT_EQ(rig.set_aside(), "");
}

TEST(Inbox, AnyPartitionAndAnyBytesWillDo) {
  Rig rig;
  const auto engine = rig.open();
  const std::string bytes("\0\x01\xff|\r\n", 6);
  for (int partition = 0; partition < 16; ++partition) {
    rig.add({"queue", "orders", "payload", bytes, "key", "k" + std::to_string(partition), "due",
             std::to_string(kFarMs)},
            partition);
  }
  for (int partition = 0; partition < 16; ++partition) {
    rig.wait_until_drained(partition);
    const auto info = Rig::get(*engine, "orders", "k" + std::to_string(partition));
    ASSERT_TRUE(info) << partition;
    EXPECT_EQ(info->payload, bytes);
  }
}

TEST(Inbox, DelaysCountFromTheEntrysOwnTime) {
  Rig rig;
  const std::string sent = std::to_string(kSentMs);
  rig.add({"queue", "q", "payload", "", "key", "hour", "delay", "1h"}, 0, sent + "-1");
  rig.add({"queue", "q", "payload", "", "key", "ms", "delay", "250"}, 0, sent + "-2");
  rig.add({"queue", "q", "payload", "", "key", "zero", "delay", "0s"}, 0, sent + "-3");
  rig.add({"queue", "q", "payload", "", "key", "now"}, 0, sent + "-4");
  rig.add({"queue", "q", "payload", "", "key", "at", "due", "2026-01-01T00:00:00.005Z"}, 0,
          sent + "-5");
  const auto engine = rig.open();
  rig.wait_until_drained();
  EXPECT_EQ(due_of(Rig::get(*engine, "q", "hour")), kSentMs + 1 + 3'600'000);
  EXPECT_EQ(due_of(Rig::get(*engine, "q", "ms")), kSentMs + 1 + 250);
  EXPECT_EQ(due_of(Rig::get(*engine, "q", "zero")), kSentMs);
  EXPECT_EQ(due_of(Rig::get(*engine, "q", "now")), kSentMs);
  EXPECT_EQ(due_of(Rig::get(*engine, "q", "at")), kSentMs + 5);
}

// The ids are ahead of the clock, as if it was set back: a stream's ids do not go back with the
// clock.
TEST(Inbox, AnIdAheadOfTheClockCountsFromNow) {
  Rig rig;
  rig.add({"queue", "q", "payload", "", "key", "k", "delay", "1h"}, 0, "9000000000000-0");
  rig.add({"queue", "q", "payload", "", "key", "now"}, 0, "18446744073709551615-0");
  const auto engine = rig.open();
  rig.wait_until_drained();
  const auto info = Rig::get(*engine, "q", "k");
  EXPECT_GT(due_of(info), kSentMs);
  EXPECT_LT(due_of(info), kFarMs);
  const auto now = Rig::get(*engine, "q", "now");
  ASSERT_TRUE(now);
  EXPECT_EQ(now->state, State::ready);
}

TEST(Inbox, CancelsAndReschedulesComeInTheirOrder) {
  Rig rig;
  const auto engine = rig.open();
  const auto push = [&](const std::string& key) {
    rig.add({"queue", "q", "payload", key, "key", key, "due", std::to_string(kFarMs)});
  };
  push("a");
  rig.add({"verb", "cancel", "queue", "q", "key", "a"});
  push("b");
  rig.add({"verb", "reschedule", "queue", "q", "key", "b", "due", std::to_string(kFarMs + 5),
           "priority", "1"});
  rig.add({"verb", "cancel", "queue", "q", "key", "c"});
  push("c");
  push("d");
  rig.add({"verb", "cancel", "queue", "q", "key", "d"});
  rig.add({"verb", "push", "queue", "q", "key", "d", "payload", "again", "due",
           std::to_string(kFarMs)});
  rig.add({"verb", "cancel", "queue", "never", "key", "made"});
  rig.add({"verb", "reschedule", "queue", "q", "key", "unknown", "delay", "1h"});
  rig.wait_until_drained();
  EXPECT_FALSE(Rig::get(*engine, "q", "a"));
  const auto moved = Rig::get(*engine, "q", "b");
  EXPECT_EQ(due_of(moved), kFarMs + 5);
  EXPECT_EQ(moved->priority, 1u);
  EXPECT_TRUE(Rig::get(*engine, "q", "c"));
  EXPECT_EQ(Rig::get(*engine, "q", "d")->payload, "again");
  EXPECT_EQ(rig.set_aside(), "");
  EXPECT_EQ(rig.ask({"HEXISTS", Rig::key(0, "queues"), "never"}), ":0\r\n");
}

TEST(Inbox, RulesForKeysThatAreTakenHold) {
  Rig rig;
  const auto engine = rig.open();
  const auto push = [&](const std::string& payload, int due, const Words& more) {
    Words words = {"queue",   "q",     "key", "k",
                   "payload", payload, "due", std::to_string(kFarMs + due)};
    words.insert(words.end(), more.begin(), more.end());
    rig.add(words);
    rig.wait_until_drained();
    const auto info = Rig::get(*engine, "q", "k");
    return (info ? info->payload : "") + " " + std::to_string(due_of(info) - kFarMs);
  };
  EXPECT_EQ(push("one", 10, {}), "one 10");
  EXPECT_EQ(push("two", 20, {}), "one 10");
  EXPECT_EQ(push("two", 20, {"if_exists", "keep"}), "one 10");
  EXPECT_EQ(push("two", 20, {"if_exists", "earlier"}), "one 10");
  EXPECT_EQ(push("two", 20, {"if_exists", "later"}), "one 20");
  EXPECT_EQ(push("two", 30, {"if_exists", "replace"}), "two 30");
  EXPECT_EQ(push("two", 5, {"if_exists", "earlier"}), "two 5");
  EXPECT_EQ(push("two", 6, {"if_exists", "reject"}), "two 5");
  EXPECT_EQ(rig.set_aside(), "");
}

TEST(Inbox, MadeKeysAreFoundOnTheirShards) {
  Rig rig;
  RedisEngineOptions options = rig.options();
  options.shards = 5;
  const auto engine = Rig::open(options);
  for (int i = 0; i < 300; ++i) rig.add({"queue", "q", "payload", std::to_string(i)});
  rig.wait_until_drained();
  const auto messages = Rig::list(*engine, "q");
  EXPECT_EQ(messages.size(), 300u);
  core::CancelRequest cancel;
  cancel.queue = "q";
  for (const MessageInfo& each : messages) {
    EXPECT_EQ(each.key.size(), 16u);
    cancel.keys.push_back(core::append(cancel.bytes, each.key));
  }
  const auto told = std::get<core::ItemsReply>(Rig::answer(*engine, cancel));
  for (const core::ItemResult& each : told.items) {
    EXPECT_EQ(each.outcome, Outcome::cancelled);
  }
}

struct BadEntry {
  Words fields;
  std::string_view says;
};

TEST(Inbox, BadEntriesAreSetAsideAndBlockNothing) {
  Rig rig;
  RedisEngineOptions options = rig.options();
  options.limits.max_payload = 1'000;
  const auto engine = Rig::open(options);
  const std::string long_key(513, 'k');
  const std::vector<BadEntry> bad = {
      {{"payload", "p"}, "a push needs the field queue"},
      {{"queue", "q"}, "a push needs the field payload"},
      {{"queue", "no spaces", "payload", "p"}, "queue name \"no spaces\" must be 1 to 127"},
      {{"queue", std::string(128, 'q'), "payload", "p"}, "is over the limit of 127 bytes"},
      {{"queue", "q", "payload", "p", "key", ""}, "key \"\" must be from 1 to 512 bytes"},
      {{"queue", "q", "payload", "p", "key", long_key}, "is over the limit of 512 bytes"},
      {{"queue", "q", "payload", std::string(1'001, 'p')},
       "payload of 1001 bytes is over the limit of 1000"},
      {{"queue", "q", "payload", std::string(70'000, 'p')}, "bytes is over the limit of 66536"},
      {{"queue", "q", "payload", "p", "colour", "red"}, "field \"colour\" is none of queue, verb"},
      {{"queue", "q", "payload", "p", "Delay", "1s"}, "field \"Delay\" is none of"},
      {{"queue", "q", "payload", "p", "payload", "r"}, "payload occurs twice, with \"p\""},
      {{"queue", "q", "payload", "p", "delay", "1s", "due", "1767225600000"},
       "due \"1767225600000\" and delay \"1s\" exclude each other"},
      {{"queue", "q", "payload", "p", "delay", "soon"}, "\"soon\" is not a duration"},
      {{"queue", "q", "payload", "p", "delay", ""}, "delay"},
      {{"queue", "q", "payload", "p", "delay", "-5"}, "\"-5\""},
      {{"queue", "q", "payload", "p", "delay", "3155760000001"}, "3155760000000"},
      {{"queue", "q", "payload", "p", "delay", "36526d"}, "36526d"},
      {{"queue", "q", "payload", "p", "due", "tomorrow"}, "due time \"tomorrow\""},
      {{"queue", "q", "payload", "p", "due", "1767225600"}, "1767225600"},
      {{"queue", "q", "payload", "p", "due", "7289654399999"},
       "due time 7289654399999 ms is more than 100 years from now"},
      {{"queue", "q", "payload", "p", "due", "7289654400000"}, "7289654400000"},
      {{"queue", "q", "payload", "p", "priority", "4294967296"}, "4294967296"},
      {{"queue", "q", "payload", "p", "priority", "high"}, "priority \"high\""},
      {{"queue", "q", "payload", "p", "max_attempts", "0"}, "max_attempts \"0\""},
      {{"queue", "q", "payload", "p", "max_attempts", "65536"}, "65535"},
      {{"queue", "q", "payload", "p", "if_exists", "maybe"}, "if_exists \"maybe\" must be reject"},
      {{"queue", "q", "payload", "p", "header.", "v"}, "header name \"\" must be"},
      {{"queue", "q", "payload", "p", "header.a b", "v"}, "header name \"a b\" must be"},
      {{"queue", "q", "payload", "p", "header.a", std::string(16'384, 'v')},
       "headers of 16385 bytes is over the limit of 16384"},
      {{"queue", "q", "payload", "p", "verb", "pop"}, "verb \"pop\" must be push, cancel or"},
      {{"queue", "q", "verb", "cancel"}, "a cancel needs the field key"},
      {{"queue", "q", "verb", "cancel", "key", "k", "payload", "p"},
       "field payload \"p\" does not go with cancel"},
      {{"queue", "q", "verb", "cancel", "key", "k", "delay", "1s"},
       "field delay \"1s\" does not go with cancel"},
      {{"queue", "q", "verb", "cancel", "key", "k", "header.a", "b"},
       "field \"header.a\" \"b\" does not go with cancel"},
      {{"queue", "q", "verb", "reschedule", "key", "k"},
       "a reschedule needs the field due or the field delay"},
      {{"queue", "q", "verb", "reschedule", "key", "k", "delay", "1s", "if_exists", "keep"},
       "field if_exists \"keep\" does not go with reschedule"},
      {{"verb", "reschedule", "key", "k", "delay", "1s"}, "a reschedule needs the field queue"},
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    (void)rig.ask({"DEL", Rig::key(0, "in:bad")});
    const std::string id = rig.add(bad[i].fields);
    const std::string good = "good" + std::to_string(i);
    rig.add({"queue", "q", "payload", "p", "key", good, "delay", "1h"});
    rig.wait_until_drained();
    EXPECT_TRUE(Rig::get(*engine, "q", good));
    const std::string told = rig.set_aside();
    EXPECT_TRUE(told.starts_with("|entry|" + id + "|error|")) << told;
    EXPECT_NE(told.find(bad[i].says), std::string::npos) << bad[i].says << "\n" << told;
    EXPECT_NE(told.find("|" + bad[i].fields[0] + "|"), std::string::npos) << told;
    EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
  }
  EXPECT_EQ(Rig::stats(*engine, "q").counters.accepted, bad.size());
  rig.wait_for_line("set aside 1 in tarry:{0}:in:bad");
}

TEST(Inbox, SetAsideTheLongAreCutAndTheOldestGo) {
  Rig rig;
  const auto engine = rig.open();
  rig.add({"queue", "q", "payload", std::string(65'536, 'x'), "wrong", "1"});
  Words many;
  for (int i = 0; i < 9'000; ++i) many.insert(many.end(), {"f" + std::to_string(i), "v"});
  rig.add(many);
  rig.add({"queue", "q", "payload", std::string(60'000, 'y'), "wrong", "1"});
  rig.wait_until_drained();
  const std::string told = rig.set_aside();
  EXPECT_NE(told.find("|cut|65555 bytes in 3 fields|queue|q|payload|" + std::string(256, 'x') +
                      "|wrong|1\n"),
            std::string::npos);
  EXPECT_NE(told.find("bytes in 9000 fields|f0|v|"), std::string::npos);
  EXPECT_EQ(told.find("|f50|"), std::string::npos);
  EXPECT_NE(told.find("|payload|" + std::string(60'000, 'y') + "|wrong|1\n"), std::string::npos);

  (void)rig.ask({"EVAL",
                 "for i = 1, 1200 do redis.call('XADD', KEYS[1], '*', 'queue', 'q', 'nr', i) end",
                 "1", Rig::key(0, "in")});
  rig.wait_until_drained();
  EXPECT_EQ(rig.ask({"XLEN", Rig::key(0, "in:bad")}), ":1000\r\n");
  EXPECT_NE(rig.set_aside().find("|nr|1200\n"), std::string::npos);
}

}  // namespace
}  // namespace tarry::redis
