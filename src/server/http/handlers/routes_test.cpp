#include "server/http/handlers/routes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>

#include <boost/json/parse.hpp>

#include "support/wire_samples.h"
#include "support/wire_text.h"
#include "wire/call.h"

namespace tarry::http {
namespace {

using tarry::testing::text_of;

net::HttpMessage message(std::string method, std::string target, std::string body = "") {
  net::HttpMessage m;
  m.method = std::move(method);
  m.target = std::move(target);
  m.fields = {{"Content-Type", "application/json"}};
  m.body = std::move(body);
  return m;
}

Routed route(const Service& service, net::HttpMessage& m) {
  std::string_view pattern;
  return http::route(service, m, pattern, {identity::anyone()});
}

Routed routed(std::string method, std::string target, std::string body = "") {
  auto m = message(std::move(method), std::move(target), std::move(body));
  return route({}, m);
}

// The response to a request that is not submitted to the engine.
Response refused(std::string method, std::string target, std::string body = "") {
  Routed r = routed(std::move(method), std::move(target), std::move(body));
  if (auto* response = std::get_if<Response>(&r)) return std::move(*response);
  ADD_FAILURE() << "was submitted";
  return {};
}

// The route that gets a call of the remote engine decodes it to the same request.
RC_GTEST_PROP(Routes, every_call_arrives_as_it_was_meant, ()) {
  core::Request request = tarry::testing::any_request();
  if (auto* claim = std::get_if<core::ClaimRequest>(&request)) claim->any_state = true;
  auto call = wire::encode_call(request);
  if (!call) RC_FAIL(call.error().message);
  Routed r = routed(std::string(call->method), call->target, call->body);
  if (const auto* response = std::get_if<Response>(&r)) RC_FAIL(response->body);
  RC_ASSERT(text_of(std::get<Submission>(r).request) == text_of(request));
}

// The remote engine decodes the route's answer to the same reply.
RC_GTEST_PROP(Routes, every_answer_arrives_as_it_was_meant, ()) {
  core::Request request = core::ResumeRequest{"q"};
  core::Reply reply = core::CountReply{0};
  switch (*rc::gen::inRange(0, 10)) {
    case 0: {
      core::PushReply pushed = tarry::testing::any_push_reply();
      core::PushRequest push{"q", {}, {}};
      push.items.resize(pushed.items.size());
      request = push;
      reply = pushed;
      break;
    }
    case 1: {
      core::ItemsReply items = tarry::testing::any_items_reply();
      core::CancelRequest cancel{"q", {}, "key"};
      cancel.keys.assign(items.items.size(), {0, 3});
      request = cancel;
      reply = items;
      break;
    }
    case 2: {
      core::ClaimReply claimed = tarry::testing::any_claim_reply();
      core::ClaimRequest claim{{"q"}, {}, false, 1, 1, {}, {}};
      claim.settle = tarry::testing::any_settle_request(static_cast<int>(claimed.settled.size()));
      request = claim;
      reply = claimed;
      break;
    }
    case 3: {
      core::GetReply got = tarry::testing::any_get_reply(true);
      core::GetRequest get{"q", {}, "key", true};
      get.keys.assign(got.items.size(), {0, 3});
      request = get;
      reply = got;
      break;
    }
    case 4:
      request = core::ListRequest{"q", {}, "", "", 1};
      reply = tarry::testing::any_list_reply();
      break;
    case 5:
      request = core::StatsRequest{"q"};
      reply = tarry::testing::any_stats();
      break;
    case 6:
      request = core::ConfigureRequest{"q", {}};
      reply = core::ConfigureReply{tarry::testing::any_settings()};
      break;
    case 7: {
      core::ForecastReply forecast{tarry::testing::any_u64(), {}, tarry::testing::any_u64()};
      for (std::uint32_t i = *rc::gen::inRange(0u, 4u); i > 0; --i) {
        forecast.buckets.push_back(tarry::testing::any_u64());
      }
      request = core::ForecastRequest{"q", Millis(1),
                                      static_cast<std::uint32_t>(forecast.buckets.size())};
      reply = forecast;
      break;
    }
    case 8:
      request = core::ReshardRequest{"q", 4, 0};
      reply = tarry::testing::any_reshard_step();
      break;
    default:
      request = core::PurgeRequest{"q"};
      reply = core::CountReply{tarry::testing::any_u64()};
      break;
  }
  auto call = wire::encode_call(request);
  if (!call) RC_FAIL(call.error().message);
  Routed r = routed(std::string(call->method), call->target, call->body);
  if (const auto* response = std::get_if<Response>(&r)) RC_FAIL(response->body);
  core::Reply given = reply;
  const Response response = std::get<Submission>(r).answer(given);
  RC_ASSERT(response.status == 200u);
  auto read = wire::decode_answer(*call, response.body);
  if (!read) RC_FAIL(read.error().message);
  RC_ASSERT(text_of(*read) == text_of(reply));
}

std::string text_of(Need need) {
  if (need.reach == Reach::open || need.reach == Reach::known) {
    return std::string(to_string(need.reach));
  }
  return std::string(identity::to_string(need.scope)) + " " + std::string(to_string(need.reach));
}

std::string need_of(const boost::json::object& operation) {
  const auto* need = operation.if_contains("x-tarry-needs");
  return need == nullptr ? "nothing" : std::string(need->as_string());
}

// The OpenAPI document names every route and what it needs, and no other.
TEST(Routes, are_those_of_the_document) {
  const auto answer = refused("GET", "/v1/openapi.json");
  ASSERT_EQ(answer.status, 200u);
  const boost::json::value document = boost::json::parse(answer.body);
  const boost::json::value& paths = document.as_object().at("paths");
  std::set<std::string> described;
  for (const auto& path : paths.as_object()) {
    for (const auto& method : path.value().as_object()) {
      if (method.key() == "parameters") continue;
      std::string name(method.key().data(), method.key().size());
      for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
      described.insert(name + " " + std::string(path.key().data(), path.key().size()) + " " +
                       need_of(method.value().as_object()));
    }
  }
  std::set<std::string> known;
  for (const RouteName& name : route_names()) {
    std::string path(name.pattern);
    if (const auto star = path.find('*'); star != std::string::npos) {
      const bool of_schedule = path.starts_with("/v1/schedules");
      const bool of_session = path.starts_with("/v1/sessions");
      path.replace(star, 1, of_schedule ? "{name}" : of_session ? "{id}" : "{queue}");
    }
    known.insert(std::string(name.method) + " " + path + " " + text_of(name.need));
  }
  EXPECT_EQ(described, known);
}

TEST(Routes, unknown_paths_and_methods) {
  for (const char* path :
       {"//", "/v1", "/v1/queues/", "/v1/queues/q/", "/v1/queues//messages", "/v1/queues/q/nothing",
        "/v1/queues/a/b/messages", "v1/claim", "*", "/healthz/", "http://localhost/nothing", ""}) {
    const Response response = refused("POST", path);
    EXPECT_EQ(response.status, 404u) << path;
  }
  const Response response = refused("DELETE", "/v1/queues/q/messages");
  EXPECT_EQ(response.status, 405u);
  EXPECT_EQ(response.allow, "POST, GET, HEAD");
  EXPECT_EQ(refused("POST", "/").status, 405u);
  EXPECT_EQ(refused("HEAD", "/healthz").status, 200u);
  EXPECT_EQ(refused("HEAD", "/v1/claim").status, 405u);
  EXPECT_EQ(refused("get", "/healthz").status, 405u);
  EXPECT_EQ(refused("GET", "http://localhost/healthz").status, 200u);
  EXPECT_EQ(refused("GET", "https://localhost/healthz").status, 200u);
}

TEST(Routes, a_forecast_says_how_wide_and_how_many) {
  const auto asked = [](const char* query) {
    Routed r = routed("GET", std::string("/v1/queues/q/forecast") + query);
    return std::get<core::ForecastRequest>(std::get<Submission>(r).request);
  };
  EXPECT_EQ(asked("").width, Millis(60'000));
  EXPECT_EQ(asked("").buckets, 60u);
  EXPECT_EQ(asked("?width=2h&buckets=3").width, Millis(7'200'000));
  EXPECT_EQ(asked("?width=2h&buckets=3").buckets, 3u);
  EXPECT_EQ(asked("?width_ms=5").width, Millis(5));
  for (const char* query : {"?width=5", "?width_ms=1h", "?width=1h&width_ms=1", "?buckets=-1",
                            "?buckets=many", "?bucket=1", "?buckets=1&buckets=2"}) {
    EXPECT_EQ(refused("GET", std::string("/v1/queues/q/forecast") + query).status, 400u) << query;
  }
  EXPECT_EQ(refused("POST", "/v1/queues/q/forecast").status, 405u);
}

TEST(Routes, statistics_may_be_of_the_names_only) {
  const auto asked = [](const char* query) {
    Routed r = routed("GET", std::string("/v1/stats") + query);
    return std::get<core::StatsRequest>(std::get<Submission>(r).request);
  };
  EXPECT_FALSE(asked("").names_only);
  EXPECT_FALSE(asked("?names_only=false").names_only);
  EXPECT_TRUE(asked("?names_only=true").names_only);
  EXPECT_EQ(asked("?names_only=true").queue, "");
  EXPECT_EQ(asked("?queue=q").queue, "q");
  EXPECT_EQ(refused("GET", "/v1/stats?names_only=1").status, 400u);
}

TEST(Routes, a_claim_takes_one_message_of_64_MiB_unless_it_says_more) {
  const auto asked = [](const char* body) {
    Routed r = routed("POST", "/v1/claim", body);
    return std::get<core::ClaimRequest>(std::get<Submission>(r).request);
  };
  const core::ClaimRequest bare = asked(R"({"queues":["q"]})");
  EXPECT_EQ(bare.max, 1u);
  EXPECT_EQ(bare.max_bytes, 64ull << 20);
  EXPECT_EQ(bare.lease, std::nullopt);
  EXPECT_EQ(bare.wait, Millis(0));
  const core::ClaimRequest full =
      asked(R"({"queues":["q"],"max":2,"max_bytes":3,"lease":"4s","wait":"5s"})");
  EXPECT_EQ(full.max, 2u);
  EXPECT_EQ(full.max_bytes, 3u);
  EXPECT_EQ(full.lease, Millis(4'000));
  EXPECT_EQ(full.wait, Millis(5'000));
}

TEST(Routes, a_name_of_a_queue_may_hold_a_slash) {
  Routed r = routed("PUT", "/v1/queues/a%2Fb%40", "{}");
  EXPECT_EQ(std::get<core::ConfigureRequest>(std::get<Submission>(r).request).queue, "a/b@");
  EXPECT_EQ(refused("PUT", "/v1/queues/a%2", "{}").status, 400u);
}

TEST(Routes, bodies_are_json_and_say_so) {
  auto form = message("POST", "/v1/claim", "queues=q");
  form.fields = {{"Content-Type", "application/x-www-form-urlencoded"}};
  Routed r = route({}, form);
  EXPECT_EQ(std::get<Response>(r).status, 415u);
  EXPECT_NE(std::get<Response>(r).body.find("x-www-form-urlencoded"), std::string::npos);

  auto untyped = message("POST", "/v1/claim", R"({"queues":["q"]})");
  untyped.fields = {};
  r = route({}, untyped);
  EXPECT_EQ(std::get<Response>(r).status, 415u);

  auto twice = message("POST", "/v1/claim", R"({"queues":["q"]})");
  twice.fields = {{"Content-Type", "application/json"}, {"content-type", "text/plain"}};
  EXPECT_EQ(std::get<Response>(route({}, twice)).status, 400u);

  auto packed = message("POST", "/v1/claim", R"({"queues":["q"]})");
  packed.fields = {{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}};
  r = route({}, packed);
  EXPECT_EQ(std::get<Response>(r).status, 415u);
  EXPECT_NE(std::get<Response>(r).body.find("gzip"), std::string::npos);
  packed.fields[1].value = "identity";
  EXPECT_TRUE(std::holds_alternative<Submission>(route({}, packed)));

  auto typed = message("POST", "/v1/claim", R"({"queues":["q"]})");
  typed.fields = {{"content-type", "Application/JSON ; charset=utf-8"}};
  r = route({}, typed);
  EXPECT_TRUE(std::holds_alternative<Submission>(r));

  EXPECT_EQ(refused("GET", "/v1/queues", "{}").status, 400u);
  EXPECT_EQ(refused("POST", "/v1/claim").status, 400u);
  EXPECT_EQ(refused("POST", "/v1/claim?x=1", R"({"queues":["q"]})").status, 400u);
  EXPECT_EQ(refused("GET", "/v1/queues?x=1").status, 400u);
  EXPECT_EQ(refused("GET", "/v1/queues/q?x=1").status, 400u);
  EXPECT_EQ(refused("GET", "/v1/stats?x=1").status, 400u);
  EXPECT_EQ(refused("GET", "/healthz?x=1").status, 400u);
  EXPECT_EQ(refused("GET", "/readyz?x=1").status, 400u);
}

TEST(Routes, verbs_without_arguments_need_no_body) {
  for (const char* verb : {"pause", "resume", "purge"}) {
    const std::string path = std::string("/v1/queues/q/") + verb;
    Routed bare = routed("POST", path);
    EXPECT_TRUE(std::holds_alternative<Submission>(bare)) << verb;
    EXPECT_EQ(refused("POST", path, R"({"x":1})").status, 400u) << verb;
  }
  EXPECT_EQ(refused("POST", "/v1/queues/q/revive").status, 400u);
  EXPECT_EQ(refused("POST", "/v1/queues/q/revive", R"({"all":true,"keys":["k"]})").status, 400u);
}

core::PushReply pushed(Outcome outcome) {
  core::PushReply reply;
  core::PushResult result;
  result.outcome = outcome;
  result.id = outcome == Outcome::settled ? 0 : 9'007'199'254'740'993;
  result.due_ms = outcome == Outcome::settled ? 0 : 1'600'000'000'000;
  result.key = core::append(reply.bytes, "k");
  reply.items.push_back(result);
  return reply;
}

Response single_push(core::Reply reply) {
  Routed r = routed("POST", "/v1/queues/q/messages", R"({"key":"k","payload":"p"})");
  return std::get<Submission>(r).answer(reply);
}

TEST(Routes, a_single_push_answers_with_a_status) {
  const Response done = single_push(pushed(Outcome::pushed));
  EXPECT_EQ(done.status, 200u);
  EXPECT_EQ(done.body, R"({"outcome":"pushed","id":"9007199254740993","key":"k",)"
                       R"("due":"2020-09-13T12:26:40.000Z","due_ms":1600000000000})");
  const Response exists = single_push(pushed(Outcome::exists));
  EXPECT_EQ(exists.status, 409u);
  EXPECT_EQ(exists.body,
            R"({"type":"about:blank","title":"Conflict","status":409,"detail":"\"k\" exists",)"
            R"("code":"conflict","outcome":"exists","id":"9007199254740993","key":"k",)"
            R"("due":"2020-09-13T12:26:40.000Z","due_ms":1600000000000})");
  EXPECT_EQ(single_push(pushed(Outcome::in_flight)).status, 409u);
  EXPECT_EQ(single_push(pushed(Outcome::settled)).status, 409u);
  EXPECT_EQ(single_push(pushed(Outcome::kept)).status, 200u);
  EXPECT_EQ(single_push(pushed(Outcome::replaced)).status, 200u);
  core::PushReply failed;
  failed.items.push_back({Error{ErrorCode::too_large, "too much"}, Outcome::pushed, 0, 0, {}});
  EXPECT_EQ(single_push(failed).status, 413u);
  EXPECT_EQ(single_push(core::CountReply{}).status, 500u);
}

TEST(Routes, a_batch_with_nothing_good_never_reaches_the_engine) {
  const Response response =
      refused("POST", "/v1/queues/q/messages", R"({"messages":[{"key":7},8]})");
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.body, R"({"results":[{"error":{"code":"invalid_argument",)"
                           R"("message":"\"key\" must be a string, not the number 7"}},)"
                           R"({"error":{"code":"invalid_argument",)"
                           R"("message":"the message must be an object, not the number 8"}}]})");
  EXPECT_EQ(refused("POST", "/v1/queues/q/cancel", R"({"keys":[1]})").status, 200u);
  EXPECT_EQ(refused("POST", "/v1/queues/q/get", R"({"keys":[1]})").status, 200u);
  EXPECT_EQ(refused("POST", "/v1/queues/q/import", R"({"messages":[1]})").status, 200u);
  EXPECT_EQ(refused("POST", "/v1/queues/q/move-away", R"({"messages":[1]})").status, 200u);
  EXPECT_EQ(refused("POST", "/v1/queues/q/reschedule", R"({"items":[1]})").status, 200u);
  EXPECT_EQ(refused("POST", "/v1/settle", R"({"items":[1]})").status, 200u);
  EXPECT_EQ(refused("POST", "/v1/extend", R"({"items":[1]})").status, 200u);
}

TEST(Routes, a_batch_answers_by_index) {
  Routed r = routed("POST", "/v1/queues/q/cancel", R"({"keys":["a",1,{"base64":"/w=="}]})");
  core::ItemsReply items;
  items.items.resize(2);
  items.items[0].outcome = Outcome::cancelled;
  items.items[1].outcome = Outcome::settled;
  items.items[1].settlement = Settlement{Ending::acked, Time(Millis(1'600'000'000'000))};
  core::Reply reply = items;
  EXPECT_EQ(std::get<Submission>(r).answer(reply).body,
            R"({"results":[{"key":"a","outcome":"cancelled"},)"
            R"({"error":{"code":"invalid_argument","message":"a key must be a string or )"
            R"({\"base64\": \"...\"}, not the number 1"}},)"
            R"({"key_base64":"/w==","outcome":"settled","settlement":{"how":"acked",)"
            R"("when":"2020-09-13T12:26:40.000Z","when_ms":1600000000000}}]})");
}

TEST(Routes, what_is_not_there_is_404) {
  Routed get = routed("GET", "/v1/queues/q/message?key=k");
  core::GetReply none;
  none.items.emplace_back(Error{ErrorCode::not_found, "there is no message \"k\""});
  core::Reply reply = none;
  EXPECT_EQ(std::get<Submission>(get).answer(reply).status, 404u);

  Routed info = routed("GET", "/v1/queues/q");
  reply = StoreStats();
  const Response response = std::get<Submission>(info).answer(reply);
  EXPECT_EQ(response.status, 404u);
  EXPECT_NE(response.body.find(R"(there is no queue \"q\")"), std::string::npos);
}

TEST(Routes, the_test_clock_moves_where_there_is_one) {
  EXPECT_EQ(refused("POST", "/v1/clock/advance", R"({"by":"31d"})").status, 404u);
  std::int64_t moved = 0;
  const Service service{{}, [&](std::int64_t ms) { moved += ms; }};
  const auto advance = [&](const char* body) {
    auto m = message("POST", "/v1/clock/advance", body);
    return std::get<Response>(route(service, m));
  };
  EXPECT_EQ(advance(R"({"by":"31d"})").body, R"({"advanced_ms":2678400000})");
  EXPECT_EQ(moved, 2'678'400'000);
  for (const char* bad : {R"({"by":-1})", R"({"by":"-1s"})", "{}", R"({"by":3155760000001})",
                          R"({"by":"1s","to":1})", "[]"}) {
    EXPECT_EQ(advance(bad).status, 400u) << bad;
  }
  EXPECT_EQ(moved, 2'678'400'000);
}

TEST(Routes, the_test_clock_sleeps_and_steps_either_way) {
  for (const char* path : {"/v1/clock/step", "/v1/clock/suspend"}) {
    EXPECT_EQ(refused("POST", path, R"({"by":"1h"})").status, 404u) << path;
  }
  std::int64_t slept = 0;
  std::int64_t stepped = 0;
  const Service service{{},
                        [&](std::int64_t ms) { slept += ms; },
                        false,
                        [&](std::int64_t ms) -> Result<void> {
                          if (ms == 1) return Error{ErrorCode::invalid_argument, "too far"};
                          stepped += ms;
                          return {};
                        }};
  const auto asked = [&](const char* path, const char* body) {
    auto m = message("POST", path, body);
    return std::get<Response>(route(service, m));
  };
  EXPECT_EQ(asked("/v1/clock/suspend", R"({"by":"1h"})").body, R"({"advanced_ms":3600000})");
  EXPECT_EQ(slept, 3'600'000);
  EXPECT_EQ(asked("/v1/clock/suspend", R"({"by":"-1h"})").status, 400u);
  EXPECT_EQ(asked("/v1/clock/step", R"({"by":"-1h"})").body, R"({"stepped_ms":-3600000})");
  EXPECT_EQ(asked("/v1/clock/step", R"({"by":"1s"})").body, R"({"stepped_ms":1000})");
  EXPECT_EQ(asked("/v1/clock/step", R"({"by_ms":-5})").body, R"({"stepped_ms":-5})");
  EXPECT_EQ(stepped, -3'600'000 + 1000 - 5);
  for (const char* bad : {R"({"by":"--1s"})", R"({"by":"-"})", "{}", R"({"by":-3155760000001})",
                          R"({"by":3155760000001})", R"({"by":1})"}) {
    EXPECT_EQ(asked("/v1/clock/step", bad).status, 400u) << bad;
  }
  EXPECT_EQ(slept, 3'600'000);
  EXPECT_EQ(stepped, -3'600'000 + 1000 - 5);
}

// Any target and body is either answered at once or submitted.
RC_GTEST_PROP(Routes, any_target_and_body, (const std::string& tail, const std::string& body)) {
  const auto method = *rc::gen::element(std::string("GET"), std::string("POST"));
  const auto path =
      *rc::gen::element(std::string("/v1/queues/"), std::string("/v1/"), std::string("/"));
  Routed r = routed(method, path + tail, body);
  if (const auto* response = std::get_if<Response>(&r)) RC_ASSERT(response->status >= 200u);
}

identity::IdentityPtr shop(std::initializer_list<identity::Scope> scopes) {
  identity::Identity identity{"shop", {}, {"shop.*", "mails"}};
  for (const identity::Scope scope : scopes) identity.scopes.add(scope);
  return std::make_shared<const identity::Identity>(std::move(identity));
}

// Empty: it was submitted.
std::string refusal(const identity::IdentityPtr& who, std::string method, std::string target,
                    std::string body = "") {
  auto m = message(std::move(method), std::move(target), std::move(body));
  std::string_view pattern;
  Routed r = http::route({}, m, pattern, {who});
  const auto* response = std::get_if<Response>(&r);
  if (response == nullptr) return "";
  EXPECT_EQ(response->status, 403u);
  return std::string(boost::json::parse(response->body).as_object().at("detail").as_string());
}

TEST(Routes, a_refusal_names_the_scope_and_the_queue_that_lack) {
  using identity::Scope;
  const auto reader = shop({Scope::read});
  EXPECT_EQ(refusal(reader, "GET", "/v1/queues/shop.eu"), "");
  EXPECT_EQ(refusal(reader, "GET", "/v1/queues/bank"),
            R"(the token "shop" lacks the scope read on queue "bank")");
  EXPECT_EQ(refusal(reader, "POST", "/v1/queues/shop.eu/purge"),
            R"(the token "shop" lacks the scope admin on queue "shop.eu")");
  EXPECT_EQ(refusal(reader, "POST", "/v1/settle", R"({"items":[]})"),
            R"(the token "shop" lacks the scope consume on any queue)");
  EXPECT_EQ(refusal(reader, "GET", "/v1/stats?queue=bank"),
            R"(the token "shop" lacks the scope read on queue "bank")");
  EXPECT_EQ(refusal(reader, "GET", "/v1/stats?queue=mails"), "");
  EXPECT_EQ(refusal(shop({Scope::admin}), "POST", "/v1/clock/advance", R"({"by":"1s"})"),
            R"(the token "shop" lacks the scope admin on all queues (*))");
  const auto consumer = shop({Scope::consume});
  EXPECT_EQ(refusal(consumer, "POST", "/v1/claim", R"({"queues":["shop.eu","mails"]})"), "");
  EXPECT_EQ(refusal(consumer, "POST", "/v1/claim", R"({"queues":["shop.eu","bank"]})"),
            R"(the token "shop" lacks the scope consume on queue "bank")");
}

TEST(Routes, receipts_are_confined_to_the_queues_of_the_token) {
  const auto only = [](const identity::IdentityPtr& who) {
    auto m = message("POST", "/v1/settle", R"({"items":[{"receipt":"r","action":"ack"}]})");
    std::string_view pattern;
    Routed r = http::route({}, m, pattern, {who});
    return std::get<core::SettleRequest>(std::get<Submission>(r).request).only_queues;
  };
  const auto confined = only(shop({identity::Scope::consume}));
  ASSERT_NE(confined, nullptr);
  EXPECT_EQ(*confined, (std::vector<std::string>{"shop.*", "mails"}));
  EXPECT_EQ(only(identity::anyone()), nullptr);
  auto m = message("POST", "/v1/claim",
                   R"({"queues":["mails"],"settle":[{"receipt":"r","action":"ack"}]})");
  std::string_view pattern;
  Routed r = http::route({}, m, pattern, {shop({identity::Scope::consume})});
  const auto& claim = std::get<core::ClaimRequest>(std::get<Submission>(r).request);
  ASSERT_NE(claim.settle.only_queues, nullptr);
  EXPECT_EQ(*claim.settle.only_queues, *confined);
}

TEST(Routes, an_answer_is_silent_about_queues_that_the_token_may_not_read) {
  auto m = message("GET", "/v1/stats");
  std::string_view pattern;
  Routed r = http::route({}, m, pattern, {shop({identity::Scope::read})});
  StoreStats stats;
  for (const char* name : {"bank", "mails", "shop.eu"}) stats.queues.emplace_back().queue = name;
  stats.unreadable.push_back({"bank.eu", {ErrorCode::damaged, "d"}});
  stats.disk_bytes = 12'345;
  core::Reply reply = stats;
  const std::string body = std::get<Submission>(r).answer(reply).body;
  EXPECT_NE(body.find("mails"), std::string::npos);
  EXPECT_NE(body.find("shop.eu"), std::string::npos);
  EXPECT_EQ(body.find("bank"), std::string::npos);
  EXPECT_EQ(body.find("12345"), std::string::npos);
}

TEST(Routes, requests_are_counted_by_the_route_that_took_them) {
  const auto pattern_of = [](std::string method, std::string target) {
    auto m = message(std::move(method), std::move(target), "");
    std::string_view pattern;
    (void)http::route({}, m, pattern, {identity::anyone()});
    return std::string(pattern);
  };
  EXPECT_EQ(pattern_of("GET", "/v1/queues/orders/message?key=k"), "/v1/queues/*/message");
  EXPECT_EQ(pattern_of("GET", "/v1/queues/%zz"), "/v1/queues/*");
  EXPECT_EQ(pattern_of("DELETE", "/v1/claim"), "/v1/claim");
  EXPECT_EQ(pattern_of("GET", "/no/such/page"), kNoRoute);
}

}  // namespace
}  // namespace tarry::http
