// The server reads exactly what the remote engine has written, and the engine reads exactly what
// the server has answered.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/wire_samples.h"
#include "support/wire_text.h"
#include "wire/call.h"
#include "wire/claim.h"
#include "wire/forecast.h"
#include "wire/message.h"
#include "wire/move.h"
#include "wire/parts/items.h"
#include "wire/parts/problem.h"
#include "wire/push.h"
#include "wire/queue.h"
#include "wire/service.h"
#include "wire/stats.h"

namespace tarry::wire {
namespace {

using tarry::testing::text_of;

template <typename T>
core::Request request_of(Result<T> decoded) {
  if (!decoded) RC_FAIL(decoded.error().message);
  if constexpr (requires { decoded->bad; }) {
    RC_ASSERT(decoded->bad.empty());
    return std::move(decoded->request);
  } else {
    return std::move(*decoded);
  }
}

std::string queue_in(const Call& call) {
  constexpr std::string_view kBefore = "/v1/queues/";
  const std::string path = call.target.substr(0, call.target.find('?'));
  if (path.substr(0, kBefore.size()) != kBefore) return "";
  const std::string rest = path.substr(kBefore.size());
  return percent_decode(rest.substr(0, rest.find('/'))).value();
}

std::string query_in(const Call& call) {
  const std::size_t at = call.target.find('?');
  return at == std::string::npos ? "" : call.target.substr(at + 1);
}

// Decodes the call as the server does. The choice of the route is tested in src/server.
core::Request decode(const core::Request& sent, const Call& call) {
  struct Visitor {
    const Call& call;
    core::Request operator()(const core::PushRequest&) const {
      return request_of(decode_push(queue_in(call), call.body));
    }
    core::Request operator()(const core::CancelRequest& r) const {
      if (!r.seen.empty()) return request_of(decode_move_away(queue_in(call), call.body));
      return request_of(decode_cancel(queue_in(call), call.body));
    }
    core::Request operator()(const core::RescheduleRequest&) const {
      return request_of(decode_reschedule(queue_in(call), call.body));
    }
    core::Request operator()(const core::ClaimRequest&) const {
      return request_of(decode_claim(call.body));
    }
    core::Request operator()(const core::SettleRequest&) const {
      return request_of(decode_settle(call.body));
    }
    core::Request operator()(const core::ExtendRequest&) const {
      return request_of(decode_extend(call.body));
    }
    core::Request operator()(const core::GetRequest&) const {
      return request_of(decode_get(queue_in(call), call.body));
    }
    core::Request operator()(const core::ListRequest&) const {
      auto query = Query::parse(query_in(call));
      if (!query) RC_FAIL(query.error().message);
      return request_of(decode_list(queue_in(call), *query));
    }
    core::Request operator()(const core::StatsRequest&) const {
      auto query = Query::parse(query_in(call));
      if (!query) RC_FAIL(query.error().message);
      core::StatsRequest asked{query->text("queue").value_or("")};
      asked.names_only = query->flag("names_only");
      return asked;
    }
    core::Request operator()(const core::ConfigureRequest&) const {
      return request_of(decode_configure(queue_in(call), call.body));
    }
    core::Request operator()(const core::PauseRequest&) const {
      return request_of(decode_pause(queue_in(call), call.body));
    }
    core::Request operator()(const core::ResumeRequest&) const {
      RC_ASSERT(!decode_nothing(call.body));
      return core::ResumeRequest{queue_in(call)};
    }
    core::Request operator()(const core::PurgeRequest&) const {
      RC_ASSERT(!decode_nothing(call.body));
      return core::PurgeRequest{queue_in(call)};
    }
    core::Request operator()(const core::RemoveRequest&) const {
      auto query = Query::parse(query_in(call));
      if (!query) RC_FAIL(query.error().message);
      return core::RemoveRequest{queue_in(call), query->flag("force")};
    }
    core::Request operator()(const core::ReviveRequest&) const {
      return request_of(decode_revive(queue_in(call), call.body));
    }
    core::Request operator()(const core::ForecastRequest&) const {
      auto query = Query::parse(query_in(call));
      if (!query) RC_FAIL(query.error().message);
      return request_of(decode_forecast(queue_in(call), *query));
    }
    core::Request operator()(const core::MoveRequest&) const {
      return request_of(decode_move(queue_in(call), call.body));
    }
    core::Request operator()(const core::ReshardRequest&) const {
      return request_of(decode_reshard(queue_in(call), call.body));
    }
  };
  return std::visit(Visitor{call}, sent);
}

RC_GTEST_PROP(WireRequest, survives_the_way, ()) {
  const core::Request request = tarry::testing::any_request();
  const auto call = encode_call(request);
  if (!call) RC_FAIL(call.error().message);
  RC_ASSERT(text_of(decode(request, *call)) == text_of(request));
}

void check_reply(const core::Reply& reply, Answer answer, std::size_t items,
                 const std::string& body) {
  Call call;
  call.answer = answer;
  call.items = items;
  const auto decoded = decode_answer(call, body);
  if (!decoded) RC_FAIL(decoded.error().message);
  RC_ASSERT(text_of(*decoded) == text_of(reply));
}

RC_GTEST_PROP(WireReply, pushed_survives_the_way, ()) {
  const auto reply = tarry::testing::any_push_reply();
  check_reply(reply, Answer::pushed, reply.items.size(), encode_push_reply(reply, {}));
}

RC_GTEST_PROP(WireReply, items_survive_the_way, ()) {
  const auto reply = tarry::testing::any_items_reply();
  check_reply(reply, Answer::items, reply.items.size(), encode_items_reply(reply, {}, {}));
}

RC_GTEST_PROP(WireReply, claimed_survives_the_way, ()) {
  const auto reply = tarry::testing::any_claim_reply();
  check_reply(reply, Answer::claimed, reply.settled.size(), encode_claim_reply(reply));
}

TEST(WireReply, LeasesCountFromTheRequestAndHowLongItWaited) {
  using std::chrono::microseconds;
  const base::BootClock::time_point there(Millis(5'000'000));
  core::ClaimReply reply;
  reply.begun_at = there + microseconds(20'000'900);
  const std::string body = encode_claim_reply(reply, there);
  EXPECT_EQ(body, R"({"messages":[],"waited_ms":20000})");
  const base::BootClock::time_point here(Millis(7));
  EXPECT_EQ(decode_claim_reply(body, here)->begun_at, here + Millis(20'000));
  EXPECT_FALSE(decode_claim_reply(body)->begun_at);
  // An older server does not send "waited_ms".
  EXPECT_FALSE(decode_claim_reply(encode_claim_reply(reply), here)->begun_at);
  EXPECT_FALSE(
      decode_claim_reply(R"({"messages":[],"waited_ms":18446744073709551615})", here)->begun_at);
}

RC_GTEST_PROP(WireReply, got_survives_the_way, ()) {
  const bool payload = tarry::testing::any_flag();
  const auto reply = tarry::testing::any_get_reply(payload);
  check_reply(reply, Answer::got, reply.items.size(),
              encode_get_reply(reply, {}, payload ? Payload::shown : Payload::left_out));
}

RC_GTEST_PROP(WireReply, listed_survives_the_way, ()) {
  const auto reply = tarry::testing::any_list_reply();
  check_reply(reply, Answer::listed, 0, encode_list_reply(reply));
}

RC_GTEST_PROP(WireReply, stats_survive_the_way, ()) {
  const auto stats = tarry::testing::any_stats();
  check_reply(stats, Answer::stats, 0, encode_store_stats(stats));
}

RC_GTEST_PROP(WireReply, settings_survive_the_way, ()) {
  const core::ConfigureReply reply{tarry::testing::any_settings()};
  check_reply(reply, Answer::configured, 0, encode_configure_reply(reply));
}

RC_GTEST_PROP(WireReply, count_survives_the_way, ()) {
  const core::CountReply reply{tarry::testing::any_u64()};
  check_reply(reply, Answer::count, 0, encode_count(reply));
}

RC_GTEST_PROP(WireReply, a_reshards_step_survives_the_way, ()) {
  const ReshardStep step = tarry::testing::any_reshard_step();
  check_reply(step, Answer::resharded, 0, encode_reshard_reply(step));
}

TEST(WireReply, pause_says_whether_anything_is) {
  EXPECT_EQ(decode_count(encode_paused(true))->count, 1u);
  EXPECT_EQ(decode_count(encode_paused(false))->count, 0u);
}

// The bad items of a batch are put back in their places, wherever these are.
RC_GTEST_PROP(WireReply, bad_items_keep_their_places, (const std::vector<bool>& good)) {
  core::ItemsReply reply;
  BadItems bad;
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (good[i]) {
      core::ItemResult item;
      item.due_ms = static_cast<std::int64_t>(i);
      reply.items.push_back(item);
    } else {
      bad.push_back({i, {ErrorCode::invalid_argument, std::to_string(i)}});
    }
  }
  const auto decoded = decode_items_reply(encode_items_reply(reply, bad, {}));
  if (!decoded) RC_FAIL(decoded.error().message);
  RC_ASSERT(decoded->items.size() == good.size());
  for (std::size_t i = 0; i < good.size(); ++i) {
    RC_ASSERT(decoded->items[i].error.has_value() != good[i]);
    if (good[i]) RC_ASSERT(decoded->items[i].due_ms == static_cast<std::int64_t>(i));
    if (!good[i]) RC_ASSERT(decoded->items[i].error->message == std::to_string(i));
  }
}

TEST(WireReply, too_few_results_are_no_answer) {
  Call call;
  call.answer = Answer::items;
  call.items = 2;
  const auto decoded = decode_answer(call, R"({"results":[{"outcome":"done"}]})");
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "1 results for 2 items");
}

TEST(WireReply, what_a_newer_server_adds_is_ignored) {
  Call call;
  call.answer = Answer::items;
  call.items = 1;
  const auto decoded =
      decode_answer(call, R"({"results":[{"outcome":"done","new":1}],"newer":{}})");
  ASSERT_TRUE(decoded) << decoded.error().message;
}

// Whatever a server answers, the client neither crashes nor takes it for a valid answer.
TEST(WireReply, nonsense_is_an_error) {
  for (const Answer answer :
       {Answer::pushed, Answer::items, Answer::claimed, Answer::got, Answer::listed, Answer::stats,
        Answer::configured, Answer::count, Answer::forecast, Answer::resharded}) {
    Call call;
    call.answer = answer;
    for (const char* body :
         {"", "{}", "[]", "7", "{\"results\":7}", "{\"messages\":[7]}", "{\"results\":[7]}",
          "{\"count\":\"7\"}", "<html>", "null", "{\"messages\":[{}]}", "{\"results\":[{}]}"}) {
      const auto decoded = decode_answer(call, body);
      EXPECT_FALSE(decoded) << static_cast<int>(answer) << " " << body;
    }
  }
}

TEST(WireReply, a_forecast_has_whole_numbers_and_as_many_as_were_asked) {
  Call call;
  call.answer = Answer::forecast;
  call.items = 2;
  EXPECT_TRUE(decode_answer(call, R"({"due_now":1,"buckets":[2,3],"later":4})"));
  for (const char* buckets : {"[2]", "[2,3,4]", "[2,\"3\"]", "[2,-3]", "[2,3.5]", "[2,null]"}) {
    EXPECT_FALSE(
        decode_answer(call, "{\"due_now\":1,\"buckets\":" + std::string(buckets) + ",\"later\":4}"))
        << buckets;
  }
}

// The fields of get's answer can be given to import and move-away as they are, with the due time in
// both forms; unused fields are refused.
TEST(WireRequest, a_moved_message_is_spelt_as_get_spells_it) {
  const auto moved = decode_move("q", R"({"messages":[{"key":"k","state":"ready",)"
                                      R"("due":"2026-01-01T00:00:00Z","due_ms":1767225600000,)"
                                      R"("priority":7,"attempt":2,)"
                                      R"("tallies":{"claims":3},"headers":{},"payload":"p"}]})");
  ASSERT_TRUE(moved && moved->bad.empty());
  EXPECT_FALSE(moved->request.items.at(0).dead);
  EXPECT_EQ(moved->request.items.at(0).attempt, 2u);
  EXPECT_EQ(moved->request.items.at(0).tallies.claims, 3u);
  const auto text = decode_move("q", R"({"messages":[{"attempt":"3"}]})");
  ASSERT_TRUE(text && text->bad.size() == 1);
  EXPECT_EQ(text->bad[0].error.message,
            "\"attempt\" must be a whole number from 0 to 65535, not the string \"3\"");
  const auto away =
      decode_move_away("q", R"({"messages":[{"key":"k","id":"9007199254740993",)"
                            R"("due":"1970-01-01T00:00:00.005Z","due_ms":5,"priority":7,)"
                            R"("tallies":{"claims":3,"run_outs":1},"state":"dead"}]})");
  ASSERT_TRUE(away && away->bad.empty());
  EXPECT_EQ(away->request.seen.at(0).id, 9'007'199'254'740'993u);
  EXPECT_EQ(away->request.seen.at(0).claims, 3u);
  EXPECT_TRUE(away->request.seen.at(0).dead);
}

TEST(WireRequest, what_was_seen_is_said_whole) {
  const struct {
    const char* message;
    const char* says;
  } cases[] = {
      {R"({"id":"1","due_ms":0,"priority":7,"tallies":{}})", "lacks \"key\""},
      {R"({"key":"k","due_ms":0,"priority":7,"tallies":{}})", "lacks \"id\""},
      {R"({"key":"k","id":"1","priority":7,"tallies":{}})", "lacks \"due\""},
      {R"({"key":"k","id":"1","due_ms":0,"tallies":{}})", "lacks \"priority\""},
      {R"({"key":"k","id":"1","due_ms":0,"priority":7})", "lacks \"tallies\""},
      {R"({"key":"k","id":1,"due_ms":0,"priority":7,"tallies":{}})", "\"id\" must be a string"},
      {R"({"key":"k","id":"1","due_ms":0,"priority":7,"tallies":{"claim":1}})",
       "unknown field \"claim\"; known: claims, "},
      {R"({"key":"k","id":"1","due_ms":0,"priority":7,"tallies":{},"state":"leased"})",
       "it must be one of: scheduled, ready, dead"},
      {R"({"key":"k","id":"1","due_ms":0,"priority":7,"tallies":{},"dead":true})",
       "unknown field \"dead\"; known: key, "},
  };
  for (const auto& [message, says] : cases) {
    const auto away = decode_move_away("q", R"({"messages":[)" + std::string(message) + "]}");
    ASSERT_TRUE(away && away->bad.size() == 1) << message;
    EXPECT_NE(away->bad[0].error.message.find(says), std::string::npos)
        << away->bad[0].error.message;
    EXPECT_TRUE(away->request.keys.empty() && away->request.seen.empty());
  }
}

TEST(WireRequest, a_first_step_of_a_reshard_has_no_turn) {
  EXPECT_EQ(encode_reshard({"q", 4, 0}), R"({"shards":4})");
  EXPECT_EQ(encode_reshard({"q", 4, 18'014'398'509'481'985}),
            R"({"shards":4,"turn":"18014398509481985"})");
  EXPECT_EQ(decode_reshard("q", "{}").error().message, "the body lacks \"shards\"");
  EXPECT_FALSE(decode_reshard("q", R"({"shards":4,"turn":7})"));
  EXPECT_FALSE(decode_reshard("q", R"({"shards":-1})"));
}

TEST(Health, a_server_before_another_one_says_which_engine_that_has) {
  Health health;
  health.capabilities.engine = "remote";
  health.capabilities.served = "redis redisson";
  health.capabilities.moves = false;
  const auto read = decode_health(encode_health(health));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->capabilities.engine, "redis redisson");
  health.capabilities.served.clear();
  EXPECT_EQ(decode_health(encode_health(health))->capabilities.engine, "remote");
}

TEST(Problem, what_tells_of_no_such_method_is_what_a_server_says_of_it) {
  const Error said{ErrorCode::invalid_argument, no_method_text("DELETE", "GET, PUT")};
  EXPECT_EQ(said.message, "the method \"DELETE\" is not one of: GET, PUT");
  EXPECT_TRUE(tells_no_method(said));
  EXPECT_FALSE(tells_no_method({ErrorCode::unavailable, said.message}));
  EXPECT_FALSE(tells_no_method({ErrorCode::invalid_argument, "the method DELETE is not allowed"}));
}

TEST(WireRequest, only_what_changes_nothing_may_be_asked_again) {
  EXPECT_FALSE(encode_call(core::GetRequest{"q", {}, {}, true})->changes);
  EXPECT_FALSE(encode_call(core::ListRequest{})->changes);
  EXPECT_FALSE(encode_call(core::StatsRequest{})->changes);
  EXPECT_FALSE(encode_call(core::ForecastRequest{})->changes);
  EXPECT_TRUE(encode_call(core::PushRequest{"q", {}, {}})->changes);
  EXPECT_TRUE(encode_call(core::ClaimRequest{})->changes);
  EXPECT_TRUE(encode_call(core::PurgeRequest{"q"})->changes);
  EXPECT_TRUE(encode_call(core::RemoveRequest{"q", true})->changes);
  EXPECT_TRUE(encode_call(core::MoveRequest{"q", {}, {}})->changes);
  EXPECT_TRUE(encode_call(core::ReshardRequest{"q", 1, 0})->changes);
}

}  // namespace
}  // namespace tarry::wire
