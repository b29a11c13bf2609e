// The layout `redisson` on a real server, with Redisson's own scripts at work on the same keys.
#include "engines/redis/layouts/keys/layout_find.h"
#include "engines/redis/layouts/redisson/redisson_value.h"
#include "support/layout_rig.h"

namespace tarry::redis {
namespace {

using core::SettleAction;

// The scripts of RedissonDelayedQueue.offerAsync: of versions since 2024, and of versions before.
constexpr std::string_view kOffer =
    "local value = struct.pack('Bc0Lc0', string.len(ARGV[2]), ARGV[2], string.len(ARGV[3]), "
    "ARGV[3]);"
    "redis.call('zadd', KEYS[2], ARGV[1], value); redis.call('rpush', KEYS[3], value);"
    "local v = redis.call('zrange', KEYS[2], 0, 0);"
    "if v[1] == value then redis.call('publish', KEYS[4], ARGV[1]); end;";
constexpr std::string_view kOldOffer =
    "local value = struct.pack('dLc0', tonumber(ARGV[2]), string.len(ARGV[3]), ARGV[3]);"
    "redis.call('zadd', KEYS[2], ARGV[1], value); redis.call('rpush', KEYS[3], value);"
    "local v = redis.call('zrange', KEYS[2], 0, 0);"
    "if v[1] == value then redis.call('publish', KEYS[4], ARGV[1]); end;";
// Redisson's script that moves due entries to the list, for both forms. It answers the next head's
// score.
constexpr std::string_view kTransfer =
    "local expired = redis.call('zrangebyscore', KEYS[2], 0, ARGV[1], 'limit', 0, ARGV[2]);"
    "if #expired > 0 then for i, v in ipairs(expired) do "
    "local id, value = struct.unpack(ARGV[3], v);"
    "redis.call('rpush', KEYS[1], value); redis.call('lrem', KEYS[3], 1, v); end;"
    "redis.call('zrem', KEYS[2], unpack(expired)); end;"
    "local v = redis.call('zrange', KEYS[2], 0, 0, 'WITHSCORES');"
    "if v[1] ~= nil then return v[2]; end return nil;";

constexpr const char* kTimeouts = "redisson_delay_queue_timeout:{dest}";
constexpr const char* kEntries = "redisson_delay_queue:{dest}";
constexpr const char* kHeads = "redisson_delay_queue_channel:{dest}";

class RedissonLayout : public LayoutTest {
 protected:
  static LayoutEngineOptions redisson(Decode decode = Decode::raw, bool through_list = false,
                                      std::string list = "dest") {
    LayoutSpec spec;
    spec.layout = Layout::redisson;
    spec.list = std::move(list);
    spec.decode = decode;
    spec.through_list = through_list;
    return options_of(std::move(spec));
  }
  static void offer(std::int64_t due, const std::string& value, bool old = false) {
    static int number = 0;
    const std::string id =
        old ? std::to_string(++number) : "id" + std::to_string(100000 + ++number);
    (void)redis({"EVAL", std::string(old ? kOldOffer : kOffer), "4", "dest", kTimeouts, kEntries,
                 kHeads, std::to_string(due), id, value});
  }
  static std::string transfer(bool old = false) {
    return redis({"EVAL", std::string(kTransfer), "3", "dest", kTimeouts, kEntries,
                  std::to_string(now_ms()), "100", old ? "dLc0" : "Bc0Lc0"});
  }
  static std::string sizes() {
    return redis({"ZCARD", kTimeouts}) + " " + redis({"LLEN", kEntries}) + " " +
           redis({"LLEN", "dest"});
  }
};

TEST_F(RedissonLayout, WhatAJavaClientOfferedIsClaimedAndAcked) {
  for (const bool old : {false, true}) {
    LayoutStore store(redisson());
    offer(1000, "first", old);
    offer(2000, "second", old);
    offer(4'000'000'000'000, "later", old);
    EXPECT_EQ(sizes(), "3 3 0");
    const auto taken = store.claim("dest");
    ASSERT_EQ(taken.size(), 2u);
    EXPECT_EQ(taken[0].payload, "first");
    EXPECT_EQ(taken[0].due_ms, 1000);
    EXPECT_EQ(taken[0].key.size(), 16u);
    EXPECT_NE(taken[0].id, taken[1].id);
    (void)transfer(old);
    EXPECT_EQ(sizes(), "3 3 0") << "a Java timer must not move what is leased";
    for (const Taken& each : taken) EXPECT_EQ(store.settle(each.receipt).outcome, Outcome::done);
    EXPECT_EQ(sizes(), "1 1 0");
    EXPECT_EQ(store.cancel("dest", "later").outcome, Outcome::cancelled);
    EXPECT_EQ(sizes(), "0 0 0");
  }
}

TEST_F(RedissonLayout, WhatIsPushedAJavaClientTransfersInTheFormThatItKnows) {
  for (const bool old : {false, true}) {
    (void)server().ask({"FLUSHALL"});
    LayoutStore store(redisson());
    if (old) offer(1, "there before", true);
    const auto pushed = store.push("dest", "hello", "", Due::at(Time(Millis(5))));
    EXPECT_EQ(pushed.outcome, Outcome::pushed);
    EXPECT_EQ(pushed.key.size(), 16u);
    EXPECT_NE(pushed.id, 0u);
    EXPECT_EQ(transfer(old), "");
    EXPECT_EQ(redis({"LINDEX", "dest", "-1"}), "hello");
    EXPECT_EQ(sizes(), old ? "0 0 2" : "0 0 1");
  }
}

// Each change of the head publishes once. Other changes publish nothing.
TEST_F(RedissonLayout, TheNewHeadIsPublishedForJavaTimers) {
  LayoutStore store(redisson());
  const auto published = [] {
    const std::string stats = server().ask({"INFO", "commandstats"});
    const std::string_view calls = "cmdstat_publish:calls=";
    const std::size_t at = stats.find(calls);
    const int count = at == std::string::npos ? 0 : std::stoi(stats.substr(at + calls.size()));
    (void)redis({"CONFIG", "RESETSTAT"});
    return count;
  };
  (void)published();
  const auto far = store.push("dest", "far", "", Due::after(Millis(7'200'000)));
  EXPECT_EQ(published(), 1);
  (void)store.push("dest", "farther", "", Due::after(Millis(9'000'000)));
  EXPECT_EQ(published(), 0);
  (void)store.reschedule("dest", far.key, Due::after(Millis(3'600'000)));
  EXPECT_EQ(published(), 1);
  (void)store.push("dest", "soon");
  EXPECT_EQ(published(), 1);
  // A new lease becomes the head, and so does an extended one.
  const auto taken = store.claim("dest");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(published(), 1);
  EXPECT_EQ(store.extend(taken[0].receipt, 60'000).outcome, Outcome::done);
  EXPECT_EQ(published(), 1);
  EXPECT_EQ(store.settle(taken[0].receipt, SettleAction::retry, 90'000).outcome, Outcome::done);
  EXPECT_EQ(published(), 1);
  EXPECT_TRUE(store.claim("dest").empty());
  EXPECT_EQ(published(), 0);
}

// After its transfer a Java timer sees an empty queue. Then tarry claims the value, and dies.
TEST_F(RedissonLayout, ALeaseOfWhatWasMovedIsPublished) {
  LayoutStore listener(redisson());
  LayoutStore store(redisson());
  offer(1000, "moved");
  EXPECT_EQ(transfer(), "");
  (void)redis({"CONFIG", "RESETSTAT"});
  ASSERT_EQ(store.claim("dest").size(), 1u);
  EXPECT_NE(server().ask({"INFO", "commandstats"}).find("cmdstat_publish:calls=1"),
            std::string::npos);
}

TEST_F(RedissonLayout, ScoresStayWholeNumbersAsJavaTimersReadThem) {
  LayoutStore store(redisson());
  offer(1000, "a");
  const auto taken = store.claim("dest");
  ASSERT_EQ(taken.size(), 1u);
  const std::string leased = transfer();
  EXPECT_EQ(leased.find_first_not_of("0123456789"), std::string::npos) << leased;
  EXPECT_EQ(store.extend(taken[0].receipt, 90'000).outcome, Outcome::done);
  EXPECT_GT(std::stoll(transfer()), std::stoll(leased));
  EXPECT_EQ(store.settle(taken[0].receipt, SettleAction::retry, 1'000'000).outcome, Outcome::done);
  EXPECT_EQ(transfer().find_first_not_of("0123456789"), std::string::npos);
}

TEST_F(RedissonLayout, WhatAJavaTimerMovedIsClaimedUnderALeaseToo) {
  offer(1000, "moved");
  (void)transfer();
  EXPECT_EQ(sizes(), "0 0 1");
  LayoutStore other(redisson());
  {
    LayoutStore store(redisson());
    const auto lost = store.claim(LayoutStore::claim_of("dest", 0, 250));
    ASSERT_EQ(lost.size(), 1u);
    EXPECT_EQ(lost[0].payload, "moved");
    EXPECT_EQ(sizes(), "1 1 0");
  }
  // The claiming process died. Redisson would have lost the message.
  const auto taken = other.claim("dest", kLong);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].payload, "moved");
  EXPECT_EQ(other.settle(taken[0].receipt).outcome, Outcome::done);
  EXPECT_EQ(sizes(), "0 0 0");
}

TEST_F(RedissonLayout, ThroughTheListEverythingPassesWhereJavaConsumersPop) {
  LayoutStore store(redisson(Decode::raw, true));
  for (int i = 0; i < 3; ++i) offer(1000 + i, "v" + std::to_string(i));
  const auto taken = store.claim(LayoutStore::claim_of("dest", 0, 30'000, 1));
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].payload, "v0");
  EXPECT_EQ(sizes(), "1 1 2");
  EXPECT_EQ(redis({"LPOP", "dest"}), "v1");
  EXPECT_EQ(store.settle(taken[0].receipt, SettleAction::release).outcome, Outcome::done);
  const auto rest = store.claim("dest");
  ASSERT_EQ(rest.size(), 2u);
  for (const Taken& each : rest) EXPECT_EQ(store.settle(each.receipt).outcome, Outcome::done);
  EXPECT_EQ(sizes(), "0 0 0");
}

TEST_F(RedissonLayout, EntriesThatDoNotUnpackAreSetAsideAndTold) {
  for (const bool through_list : {false, true}) {
    (void)server().ask({"FLUSHALL"});
    LayoutStore store(redisson(Decode::raw, through_list));
    ASSERT_EQ(redis({"ZADD", kTimeouts, "1", "garbage"}), "1");
    ASSERT_EQ(redis({"RPUSH", kEntries, "garbage"}), "1");
    offer(2000, "good");
    const auto taken = store.claim("dest");
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].payload, "good");
    EXPECT_EQ(redis({"ZSCORE", "tarry:aside:dest", "garbage"}), "1");
    EXPECT_EQ(sizes(), "1 1 0");
    EXPECT_EQ(store.stats("dest").dead, 1u);
    const auto dead = store.list("dest", 10, State::dead);
    ASSERT_EQ(dead.size(), 1u);
    EXPECT_NE(dead[0].reason.find("cannot be unpacked"), std::string::npos);
    bool told = false;
    for (const std::string& line : store.lines()) {
      told = told || line.find("tarry:aside:dest") != std::string::npos;
    }
    EXPECT_TRUE(told);
    // A Java timer's script fails on such an entry. Once it is set aside, the timer works again.
    (void)transfer();
  }
}

TEST_F(RedissonLayout, KeysAreIdsAndValues) {
  LayoutStore store(redisson(Decode::string));
  const auto pushed = store.push("dest", "mine", "", Due::after(Millis(3'600'000)));
  offer(4'000'000'000'000, "\x04>\x05order");
  const auto info = store.get("dest", pushed.key);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->payload, "mine");
  EXPECT_EQ(info->id, pushed.id);
  const auto by_value = store.get("dest", "order");
  ASSERT_TRUE(by_value);
  EXPECT_EQ(by_value->payload, "order");
  EXPECT_EQ(store.reschedule("dest", "order", Due::at(Time(Millis(1)))).outcome,
            Outcome::rescheduled);
  const auto taken = store.claim("dest");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].payload, "order");
  EXPECT_EQ(taken[0].key, by_value->key);
  EXPECT_EQ(store.cancel("dest", "order").outcome, Outcome::stopping);
  EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
  core::ClaimRequest claim = LayoutStore::claim_of("dest");
  claim.keys = {pushed.key, "none"};
  claim.any_state = true;
  EXPECT_EQ(store.claim(claim).at(0).payload, "mine");
  EXPECT_EQ(store.cancel("dest", "none").outcome, Outcome::unknown);
  EXPECT_FALSE(store.get("dest", "none"));
}

TEST_F(RedissonLayout, AnEntryIsFoundAmongMany) {
  LayoutStore store(redisson());
  core::PushRequest many;
  many.queue = "dest";
  for (int i = 0; i < 5'000; ++i) {
    core::PushItem item;
    item.payload = core::append(many.bytes, "value" + std::to_string(i));
    item.due = Due::after(Millis(3'600'000 + i));
    many.items.push_back(item);
  }
  const auto pushed = store.ask<core::PushReply>(many);
  ASSERT_EQ(redis({"ZCARD", kTimeouts}), "5000");
  for (const std::size_t i : {std::size_t{0}, std::size_t{2'500}, std::size_t{4'999}}) {
    const std::string key(core::view(pushed.bytes, pushed.items[i].key));
    EXPECT_EQ(store.get("dest", key)->payload, "value" + std::to_string(i));
    EXPECT_EQ(store.cancel("dest", key).outcome, Outcome::cancelled);
    EXPECT_EQ(store.cancel("dest", key).outcome, Outcome::unknown);
  }
  EXPECT_EQ(sizes(), "4997 4997 0");
  EXPECT_EQ(store.list("dest", 1'000).size(), 4'997u);
}

TEST_F(RedissonLayout, TextsAreFramedAsTheQueuesOthersAre) {
  LayoutStore store(redisson(Decode::string));
  ASSERT_EQ(store.push("dest", "bare", "", Due::at(Time(Millis(1)))).outcome, Outcome::pushed);
  offer(2, "\x04>\x04java");
  ASSERT_EQ(store.push("dest", "ours", "", Due::at(Time(Millis(3)))).outcome, Outcome::pushed);
  const auto refused = store.push("dest", "\xFF");
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, ErrorCode::invalid_argument) << refused.error->message;
  const auto taken = store.claim("dest");
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].payload, "bare");
  EXPECT_EQ(taken[1].payload, "java");
  EXPECT_EQ(taken[2].payload, "ours");
  EXPECT_EQ(redis({"EVAL",
                   "return struct.unpack('Bc0Lc0', redis.call('LINDEX', KEYS[1], -1)) and "
                   "string.sub(redis.call('LINDEX', KEYS[1], -1), -7)",
                   "1", kEntries}),
            "\x04>\x04ours");
}

TEST_F(RedissonLayout, JsonIsWrittenAndReadAsJacksonDoes) {
  LayoutStore store(redisson(Decode::json));
  offer(1, "\"text\"");
  offer(2, "{\"@class\":\"shop.Order\",\"id\":7}");
  offer(3, "no json");
  EXPECT_TRUE(store.push("dest", "mine").error) << "no json is there";
  offer(4, "\"last\"");
  const auto pushed = store.push("dest", "mine", "", Due::at(Time(Millis(5))));
  EXPECT_EQ(store.get("dest", pushed.key)->payload, "mine");
  const auto taken = store.claim("dest");
  ASSERT_EQ(taken.size(), 5u);
  EXPECT_EQ(taken[0].payload, "text");
  EXPECT_EQ(taken[1].payload, "{\"@class\":\"shop.Order\",\"id\":7}");
  EXPECT_EQ(taken[2].payload, "no json");  // handed out unchanged, and reported
  EXPECT_EQ(taken[4].payload, "mine");
  bool told = false;
  for (const std::string& line : store.lines()) {
    told = told || line.find("cannot be read with decode=json") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

std::string form_of_last() {
  return "local e = redis.call('LINDEX', KEYS[1], -1); "
         "return #e >= 17 and struct.unpack('L', e, 10) == #e - 17 and 'new' or 'old'";
}

// A client that knows only one form fails for ever on an entry of the other form. So the form is
// remembered.
TEST_F(RedissonLayout, TheFormIsRememberedWhileTheQueueIsEmpty) {
  for (const bool old : {true, false}) {
    (void)server().ask({"FLUSHALL"});
    {
      LayoutStore store(redisson(Decode::automatic));
      offer(1, "first", old);
      const auto taken = store.claim("dest");
      ASSERT_EQ(taken.size(), 1u);
      EXPECT_EQ(store.settle(taken[0].receipt).outcome, Outcome::done);
      EXPECT_EQ(sizes(), "0 0 0");
    }
    // Another process opens the queue, and the queue's keys show neither form nor codec.
    LayoutStore store(redisson(Decode::automatic));
    const auto pushed = store.push("dest", "ours", "", Due::at(Time(Millis(5))));
    EXPECT_EQ(pushed.outcome, Outcome::pushed) << (pushed.error ? pushed.error->message : "");
    EXPECT_EQ(redis({"EVAL", form_of_last(), "1", kEntries}), old ? "old" : "new");
    EXPECT_EQ(redis({"GET", "tarry:lease:dest:seen"}), old ? "old string text" : "new string text");
    EXPECT_EQ(transfer(old), "");
    EXPECT_EQ(sizes(), "0 0 1");
    // While a value that was claimed from the list is leased, its entry has that form too.
    const auto moved = store.claim("dest");
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(redis({"EVAL", form_of_last(), "1", kEntries}), old ? "old" : "new");
  }
}

// Scripts must tell the forms apart too: one in 256 old entries begins with a 7, as new entries do.
TEST_F(RedissonLayout, AnOldEntryIsOldWhateverItsIdBeginsWith) {
  LayoutStore store(redisson(Decode::string));
  constexpr std::string_view kAdd =
      "local entry = string.char(7) .. '1234567' .. struct.pack('Lc0', 4, 'java');"
      "redis.call('ZADD', KEYS[1], 1, entry); return redis.call('RPUSH', KEYS[2], entry)";
  EXPECT_EQ(redis({"EVAL", std::string(kAdd), "2", kTimeouts, kEntries}), "1");
  EXPECT_EQ(store.push("dest", "ours", "", Due::at(Time(Millis(2)))).outcome, Outcome::pushed);
  EXPECT_EQ(redis({"EVAL", form_of_last(), "1", kEntries}), "old");
  EXPECT_EQ(transfer(true), "");
  EXPECT_EQ(sizes(), "0 0 2");
}

TEST_F(RedissonLayout, TheUrlMaySayTheForm) {
  for (const EntryForm form : {EntryForm::old, EntryForm::newer}) {
    (void)server().ask({"FLUSHALL"});
    LayoutEngineOptions options = redisson(Decode::string);
    options.layout.entry = form;
    LayoutStore store(std::move(options));
    EXPECT_EQ(store.push("dest", "x").outcome, Outcome::pushed);
    EXPECT_EQ(redis({"EVAL", form_of_last(), "1", kEntries}), to_string(form));
    (void)server().ask({"FLUSHALL"});
    ASSERT_EQ(redis({"RPUSH", "dest", "moved"}), "1");
    ASSERT_EQ(store.claim("dest").size(), 1u);
    EXPECT_EQ(redis({"EVAL", form_of_last(), "1", kEntries}), to_string(form));
  }
}

// FST and Marshalling are the default codecs of versions 3.10.5 and 3.16.8, which know only the old
// form.
TEST_F(RedissonLayout, WhereNothingWasSeenTheFormGoesWithTheCodec) {
  for (const auto& [decode, form] :
       {std::pair(Decode::fst, "old"), std::pair(Decode::marshalling, "old"),
        std::pair(Decode::kryo5, "new"), std::pair(Decode::string, "new")}) {
    (void)server().ask({"FLUSHALL"});
    LayoutStore store(redisson(decode));
    EXPECT_EQ(store.push("dest", "x").outcome, Outcome::pushed);
    EXPECT_EQ(redis({"EVAL", form_of_last(), "1", kEntries}), form);
    const std::string value =
        redis({"EVAL", "return string.sub(redis.call('LINDEX', KEYS[1], -1), ARGV[1])", "1",
               kEntries, std::string_view(form) == "old" ? "17" : "18"});
    (void)server().ask({"FLUSHALL"});
    ASSERT_EQ(redis({"RPUSH", "dest", value}), "1");
    ASSERT_EQ(store.claim("dest").size(), 1u);
    EXPECT_EQ(redis({"EVAL", form_of_last(), "1", kEntries}), form);
  }
}

TEST_F(RedissonLayout, TextsOfBinaryCodecsAreFoundByTheirText) {
  for (const std::string& order : {std::string("\x03orde\xF2"), std::string("\xFC\x05order"),
                                   std::string("\x04>\x05order"), std::string("\"order\"")}) {
    for (const Decode decode : {Decode::automatic, Decode::raw}) {
      (void)server().ask({"FLUSHALL"});
      LayoutStore store(redisson(decode));
      offer(4'000'000'000'000, order);
      ASSERT_TRUE(store.get("dest", "order"));
      EXPECT_EQ(store.get("dest", "order")->payload, decode == Decode::raw ? order : "order");
      EXPECT_EQ(store.cancel("dest", "order").outcome, Outcome::cancelled);
      EXPECT_EQ(sizes(), "0 0 0");
    }
  }
}

TEST_F(RedissonLayout, APushThatDoesNotFitIsRefusedAndChangesNothing) {
  LayoutStore store(redisson(Decode::automatic));
  const auto empty = store.push("dest", "x");
  ASSERT_TRUE(empty.error);
  EXPECT_EQ(empty.error->code, ErrorCode::invalid_argument);
  EXPECT_NE(empty.error->message.find("decode=kryo5"), std::string::npos) << empty.error->message;
  offer(4'000'000'000'000, "\x03orde\xF2");
  LayoutStore raw(redisson(Decode::raw));
  const auto refused = raw.push("dest", "x");
  ASSERT_TRUE(refused.error);
  EXPECT_NE(refused.error->message.find("decode=kryo5"), std::string::npos);
  EXPECT_EQ(sizes(), "1 1 0");
  EXPECT_EQ(store.push("dest", "x").outcome, Outcome::pushed);
  EXPECT_EQ(sizes(), "2 2 0");
}

TEST_F(RedissonLayout, WhatItsKeysCannotExpressIsRefused) {
  LayoutStore store(redisson());
  const auto keyed = store.push("dest", "p", "key");
  ASSERT_TRUE(keyed.error);
  EXPECT_EQ(keyed.error->code, ErrorCode::unsupported);
  EXPECT_NE(keyed.error->message.find("\"key\""), std::string::npos) << keyed.error->message;
  const auto replaced = store.push("dest", "p", "", {}, IfExists::replace);
  ASSERT_TRUE(replaced.error);
  EXPECT_EQ(replaced.error->code, ErrorCode::unsupported);
  EXPECT_EQ(sizes(), "0 0 0");
  ASSERT_EQ(redis({"SET", kEntries, "mine"}), "OK");
  const auto misfit = store.push("dest", "p");
  ASSERT_TRUE(misfit.error);
  EXPECT_EQ(misfit.error->code, ErrorCode::damaged);
  EXPECT_EQ(redis({"EXISTS", kTimeouts}), "0");
}

}  // namespace
}  // namespace tarry::redis
