#include "server/http/sender_check.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tarry::http {
namespace {

unsigned status_for(std::vector<net::HttpField> fields, std::string target = "/healthz",
                    unsigned version = 11, bool is_https = false) {
  net::HttpMessage message;
  message.version = version;
  message.target = std::move(target);
  message.fields = std::move(fields);
  const std::vector<std::string> names{"queue.example", "192.0.2.9", "[2001:db8::9]"};
  const auto refused = check_sender(message, {names, "[2001:db8::1]", is_https});
  return refused ? refused->status : 200;
}

TEST(SenderCheck, the_host_must_be_ours) {
  for (const char* host :
       {"localhost", "LOCALHOST:7733", "127.0.0.1", "127.0.0.1:80", "127.1.2.3", "[::1]",
        "[::1]:7733", "queue.example", "Queue.Example:1", "192.0.2.9:1", "[2001:db8::9]",
        "[2001:DB8:0:0::9]:1", "[2001:db8::1]:7733", "[2001:0db8::1]"}) {
    EXPECT_EQ(status_for({{"Host", host}}), 200u) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "10.0.0.1", "", "[::2]", "queue.example.evil", "localhost:x", "::1",
                           "192.0.2.8", "[2001:db8::2]", "2001:db8::1", "[2001:db8::1", "[x]"}) {
    EXPECT_EQ(status_for({{"Host", host}}), 421u) << host;
  }
  EXPECT_EQ(status_for({}), 400u);
  EXPECT_EQ(status_for({}, "/", 10), 200u);
  EXPECT_EQ(status_for({{"Host", "localhost"}, {"host", "localhost"}}), 400u);
  EXPECT_EQ(status_for({{"Host", "localhost"}}, "http://evil.example/"), 421u);
  EXPECT_EQ(status_for({{"Host", "evil.example"}}, "http://localhost/"), 200u);
}

TEST(SenderCheck, no_page_of_another_origin_may_ask) {
  EXPECT_EQ(status_for({{"Host", "localhost:1"}, {"Origin", "http://localhost:1"}}), 200u);
  for (const char* origin : {"http://evil.example", "null", "https://localhost:1",
                             "http://localhost:2", "http://localhost", ""}) {
    EXPECT_EQ(status_for({{"Host", "localhost:1"}, {"Origin", origin}}), 403u) << origin;
  }
}

TEST(SenderCheck, an_origin_has_the_scheme_of_the_connection) {
  const auto status = [](std::string origin, bool is_https) {
    return status_for({{"Host", "localhost:1"}, {"Origin", std::move(origin)}}, "/healthz", 11,
                      is_https);
  };
  EXPECT_EQ(status("https://localhost:1", true), 200u);
  EXPECT_EQ(status("http://localhost:1", true), 403u);
  EXPECT_EQ(status("https://localhost:1", false), 403u);
  EXPECT_EQ(status_for({{"Host", "localhost:1"}}, "https://evil.example/", 11, true), 421u);
}

unsigned status_with(std::vector<net::HttpField> fields, std::string target = "/v1/stats",
                     std::string method = "GET") {
  net::HttpMessage message;
  message.method = std::move(method);
  message.target = std::move(target);
  message.fields = std::move(fields);
  const auto who = recognise(message, identity::Tokens::of("s3cret"), identity::now());
  const auto* refused = std::get_if<Response>(&who);
  return refused != nullptr ? refused->status : 200;
}

TEST(SenderCheck, the_token_must_be_given_where_there_is_one) {
  for (const char* good : {"Bearer s3cret", "bearer s3cret", "BEARER  s3cret"}) {
    EXPECT_EQ(status_with({{"authorization", good}}), 200u) << good;
  }
  for (const char* bad : {"", "Bearer", "Bearer ", "Bearer   ", "Bearer s3cre", "Bearer s3crets",
                          "Bearer s3cretT", "Bearer S3CRET", "Bearer s3crets3cret", "s3cret",
                          "Basic s3cret", "Bearers3cret", "Bearer s3cret s3cret"}) {
    EXPECT_EQ(status_with({{"Authorization", bad}}), 401u) << bad;
  }
  EXPECT_EQ(status_with({}), 401u);
  const net::HttpField good{"Authorization", "Bearer s3cret"};
  EXPECT_EQ(status_with({good, good}), 401u);
  for (const char* open : {"/healthz", "/readyz", "/readyz?x", "http://localhost/healthz", "/",
                           "/?x", "http://localhost/"}) {
    EXPECT_EQ(status_with({}, open), 200u) << open;
  }
  for (const char* closed : {"/healthz/", "/v1/healthz", "/metrics", "/v1/openapi.json", "",
                             "http://localhost", "http://localhost?/healthz", "/x?/healthz"}) {
    EXPECT_EQ(status_with({}, closed), 401u) << closed;
  }
  const auto who = recognise({}, identity::Tokens(), identity::now());
  EXPECT_EQ(std::get<identity::IdentityPtr>(who), identity::anyone());
}

TEST(SenderCheck, a_token_says_who_asks_until_it_ends) {
  const Time ends = Time(Millis(1'800'000'000'000));
  identity::Tokens tokens;
  tokens.add({"scraper", {}, {"shop.*"}, ends, identity::digest_of("s3cret")});
  net::HttpMessage message;
  message.method = "GET";
  message.target = "/v1/stats";
  message.fields = {{"Authorization", "Bearer s3cret"}};
  const auto before = recognise(message, tokens, ends - Millis(1));
  EXPECT_EQ(std::get<identity::IdentityPtr>(before)->name, "scraper");
  const auto after = recognise(message, tokens, ends);
  const auto& refused = std::get<Response>(after);
  EXPECT_EQ(refused.status, 401u);
  EXPECT_NE(refused.body.find(R"(the token \"scraper\", which ended at 2027-01-15T08:00:00.000Z)"),
            std::string::npos)
      << refused.body;
  message.target = "/healthz";
  message.fields.clear();
  EXPECT_EQ(std::get<identity::IdentityPtr>(recognise(message, tokens, ends)), identity::nobody());
}

TEST(SenderCheck, no_token_is_needed_to_probe_and_for_nothing_else_there) {
  for (const char* target : {"/healthz", "/readyz"}) {
    for (const char* method : {"GET", "HEAD"}) {
      EXPECT_EQ(status_with({}, target, method), 200u) << method;
      EXPECT_EQ(status_with({{"Content-Length", "0"}}, target, method), 200u) << method;
      EXPECT_EQ(status_with({{"content-length", "10"}}, target, method), 401u) << method;
      EXPECT_EQ(status_with({{"Transfer-Encoding", "chunked"}}, target, method), 401u) << method;
    }
    for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get", ""}) {
      EXPECT_EQ(status_with({}, target, method), 401u) << method;
      EXPECT_EQ(status_with({{"Authorization", "Bearer s3cret"}}, target, method), 200u) << method;
    }
  }
}

TEST(SenderCheck, takes_request_ids_that_are_fit_for_a_log) {
  const auto id = [](std::string value) {
    net::HttpMessage message;
    message.fields = {{"x-request-id", value}};
    return http_session::request_id_of(message) == value;
  };
  EXPECT_TRUE(id("a-1._:/+=Z"));
  EXPECT_TRUE(id(std::string(128, 'x')));
  for (const char* bad : {"", "a b", "a\"", "\x1b[31m", "\u00e4"}) EXPECT_FALSE(id(bad)) << bad;
  EXPECT_FALSE(id(std::string(129, 'x')));
  EXPECT_EQ(http_session::request_id_of({}), std::nullopt);
}

}  // namespace
}  // namespace tarry::http
