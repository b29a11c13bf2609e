// The client checks the server before it sends anything over TLS. If a check fails, the error names
// it.
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "net/http/http_client.h"
#include "net/http/http_once.h"
#include "support/certificates.h"
#include "support/http_client_rig.h"
#include "support/raw_server.h"

namespace tarry::net {
namespace {

using tarry::testing::RawConnection;
using tarry::testing::RawServer;
using tarry::testing::TlsContext;

class HttpsTest : public testing::HttpClientRig {
 protected:
  HttpsTest() : HttpClientRig(tls("server")) {}

  static TlsOptions trusting(const std::string& authority) {
    return {files().certificate(authority), {}, {}, {}};
  }
  void open_with(TlsOptions options, std::string host = "127.0.0.1") {
    HttpClientOptions client;
    client.host = std::move(host);
    client.token = "a token that nobody else may read";
    client.tls = std::move(options);
    HttpClientRig::open(std::move(client));
  }

  static HttpCall get() {
    HttpCall call;
    call.method = "GET";
    call.target = "/";
    return call;
  }

  // The failure of a request whose connection a check refuses; the server gets nothing of it.
  std::string refused_by(TlsOptions options) { return refused_by(server_, std::move(options)); }
  static std::string refused_by(RawServer& server, TlsOptions options) {
    HttpClientOptions client;
    client.host = "127.0.0.1";
    client.port = server.port();
    client.token = "a token that nobody else may read";
    client.tls = std::move(options);
    auto asked = std::async(std::launch::async, [&] { return http_once(client, get()); });
    RawConnection connection = server.accept();
    EXPECT_EQ(connection.receive().method, "");
    connection.close();
    return said_by(asked.get(), server);
  }
  // A failure of a request that no server has carried out.
  static std::string said_by(const HttpAnswer& answer, const RawServer& server) {
    const auto* failure = std::get_if<HttpFailure>(&answer);
    if (failure == nullptr) return "answered";
    EXPECT_FALSE(failure->sent);
    std::string said = failure->error.message;
    const std::string port = ":" + std::to_string(server.port());
    const std::size_t at = said.find(port);
    EXPECT_NE(at, std::string::npos) << said;
    if (at != std::string::npos) said.erase(at, port.size());
    return std::string(to_string(failure->error.code)) + ": " + said;
  }

  // One request on a new connection; whether the client resumed a session.
  bool resumes() {
    auto asked = send("/");
    RawConnection connection = server_.accept();
    connection.receive();
    connection.answer("1", "200 OK", "Connection: close\r\n");
    EXPECT_EQ(body_of(std::move(asked)), "1");
    return connection.resumed();
  }
};

TEST_F(HttpsTest, asks_a_server_by_its_name_or_address) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    open_with(trusting("ca"), host);
    auto asked = send("/a");
    RawConnection connection = server_.accept();
    EXPECT_TRUE(connection.accepted());
    // An address is no name for SNI.
    EXPECT_EQ(connection.asked_name(), host == std::string("localhost") ? host : "");
    const auto request = connection.receive();
    EXPECT_EQ(*request.find("Authorization"), "Bearer a token that nobody else may read");
    EXPECT_EQ(*request.find("Host"), host + (":" + std::to_string(server_.port())));
    connection.answer("1");
    EXPECT_EQ(body_of(std::move(asked)), "1");
  }
  TlsOptions named = trusting("ca");
  named.server_name = "redis.example";
  open_with(named);
  auto asked = send("/b");
  RawConnection connection = server_.accept();
  EXPECT_EQ(connection.asked_name(), "redis.example");
  connection.receive();
  connection.answer("2");
  EXPECT_EQ(body_of(std::move(asked)), "2");
}

TEST_F(HttpsTest, sends_nothing_to_a_server_of_an_unknown_authority) {
  const std::string authority =
      "invalid_argument: no TLS with 127.0.0.1: its certificate is not trusted: its authority "
      "\"tarry's test CA\" is not ";
  EXPECT_EQ(refused_by(trusting("other-ca")),
            authority + "in the CA file \"" + files().certificate("other-ca") + "\"");
  EXPECT_EQ(refused_by(TlsOptions{}),
            authority + "one of this system's; name the authority's file with ca=FILE");
}

TEST_F(HttpsTest, sends_nothing_to_a_server_of_another_name) {
  const std::string names =
      "its certificate is for \"localhost\", \"redis.example\", \"127.0.0.1\", not for ";
  TlsOptions named = trusting("ca");
  named.server_name = "shop.example";
  EXPECT_EQ(refused_by(named),
            "invalid_argument: no TLS with 127.0.0.1: " + names + "\"shop.example\"");
  named.server_name = "127.0.0.2";
  EXPECT_EQ(refused_by(named),
            "invalid_argument: no TLS with 127.0.0.1: " + names + "\"127.0.0.2\"");
}

TEST_F(HttpsTest, checks_wildcards_and_ipv6_addresses) {
  files().add_server("wild", "DNS:*.shop.example,IP:::1");
  RawServer server(tls("wild"));
  TlsOptions named = trusting("ca");
  for (const char* name : {"a.b.shop.example", "shop.example", "::2"}) {
    named.server_name = name;
    EXPECT_EQ(refused_by(server, named),
              "invalid_argument: no TLS with 127.0.0.1: its certificate is for "
              "\"*.shop.example\", \"::1\", not for \"" +
                  std::string(name) + "\"");
  }
  for (const char* name : {"a.shop.example", "::1"}) {
    named.server_name = name;
    HttpClientOptions client;
    client.host = "127.0.0.1";
    client.port = server.port();
    client.tls = named;
    auto asked = std::async(std::launch::async, [&] { return http_once(client, get()); });
    RawConnection connection = server.accept();
    connection.receive();
    connection.answer("1");
    EXPECT_EQ(std::get<HttpMessage>(asked.get()).body, "1");
  }
}

TEST_F(HttpsTest, sends_nothing_to_a_server_whose_certificate_is_not_valid_now) {
  const std::string start = "unavailable: no TLS with 127.0.0.1: its certificate ";
  files().add_server("expired", "IP:127.0.0.1", "20200101000000Z", "20210101000000Z");
  RawServer expired(tls("expired"));
  EXPECT_EQ(refused_by(expired, trusting("ca")), start + "expired at 2021-01-01T00:00:00.000Z");
  files().add_server("early", "IP:127.0.0.1", "20990101000000Z", "20991231000000Z");
  RawServer early(tls("early"));
  const std::string said = refused_by(early, trusting("ca"));
  EXPECT_TRUE(said.starts_with(start +
                               "is valid only from 2099-01-01T00:00:00.000Z on, and this machine's "
                               "clock says 20"))
      << said;
}

TEST_F(HttpsTest, tells_a_server_without_tls) {
  RawServer plain;
  HttpClientOptions client;
  client.host = "127.0.0.1";
  client.port = plain.port();
  client.tls = trusting("ca");
  auto asked = std::async(std::launch::async, [&] { return http_once(client, get()); });
  RawConnection connection = plain.accept();
  connection.receive_some();
  connection.answer("who are you?", "400 Bad Request");
  EXPECT_EQ(said_by(asked.get(), plain),
            "invalid_argument: no TLS with 127.0.0.1: the server does not speak TLS; use http:// "
            "instead of https://");
}

TEST_F(HttpsTest, tells_a_server_that_only_closes) {
  RawServer plain;
  HttpClientOptions client;
  client.host = "127.0.0.1";
  client.port = plain.port();
  client.tls = trusting("ca");
  auto asked = std::async(std::launch::async, [&] { return http_once(client, get()); });
  plain.accept().receive_some();
  EXPECT_EQ(said_by(asked.get(), plain),
            "unavailable: no TLS with 127.0.0.1: the server ended the connection during the "
            "handshake; perhaps it speaks no TLS");
}

TEST_F(HttpsTest, a_handshake_has_the_time_of_a_connection) {
  RawServer mute;
  HttpClientOptions client;
  client.host = "127.0.0.1";
  client.port = mute.port();
  client.tls = trusting("ca");
  client.connect_timeout_ms = 20;
  EXPECT_EQ(said_by(http_once(client, get()), mute),
            "unavailable: no TLS with 127.0.0.1: no handshake in time");
}

TEST_F(HttpsTest, without_tls_it_tells_a_server_that_speaks_it) {
  HttpClientOptions client;
  client.host = "127.0.0.1";
  for (const char* bytes : {"\x15\x03\x01\x02\x02\x16", ""}) {
    RawServer server;
    client.port = server.port();
    auto asked = std::async(std::launch::async, [&] { return http_once(client, get()); });
    RawConnection connection = server.accept();
    connection.receive();
    connection.send(bytes);
    connection.close();
    const HttpAnswer answer = asked.get();
    ASSERT_TRUE(std::holds_alternative<HttpFailure>(answer));
    const auto& failure = std::get<HttpFailure>(answer);
    const std::string at = "127.0.0.1:" + std::to_string(server.port());
    if (*bytes != '\0') {
      EXPECT_FALSE(failure.sent);
      EXPECT_EQ(failure.error.code, ErrorCode::invalid_argument);
      EXPECT_EQ(failure.error.message, at + " speaks TLS: use https:// instead of http://");
    } else {
      EXPECT_EQ(failure.error.message, at +
                                           ": the connection ended before the answer came; if the "
                                           "server speaks TLS, use https://" +
                                           at);
    }
  }
}

TEST_F(HttpsTest, tells_a_server_with_old_versions_only) {
  TlsContext old = tls("server");
  SSL_CTX_set_min_proto_version(old.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(old.get(), TLS1_1_VERSION);
  SSL_CTX_set_cipher_list(old.get(), "ALL:@SECLEVEL=0");
  RawServer server(std::move(old));
  EXPECT_EQ(refused_by(server, trusting("ca")),
            "invalid_argument: no TLS with 127.0.0.1: the server speaks neither TLS 1.2 nor TLS "
            "1.3");
}

TEST_F(HttpsTest, shows_its_own_certificate_to_a_server_that_demands_one) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsContext demanding = tls("server");
    SSL_CTX_set_max_proto_version(demanding.get(), version);
    SSL_CTX_load_verify_locations(demanding.get(), files().certificate("ca").c_str(), nullptr);
    SSL_CTX_set_verify(demanding.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    RawServer server(std::move(demanding));
    EXPECT_EQ(
        refused_by(server, trusting("ca")),
        "permission_denied: no TLS with 127.0.0.1: the server demands a client's certificate: "
        "give it with cert=FILE and key=FILE");
    TlsOptions stranger = trusting("ca");
    stranger.certificate_file = files().certificate("other-ca");
    stranger.key_file = files().key("other-ca");
    EXPECT_EQ(refused_by(server, stranger),
              "permission_denied: no TLS with 127.0.0.1: the server refuses the client's "
              "certificate \"" +
                  stranger.certificate_file + "\": its authority is unknown to the server");
    HttpClientOptions client;
    client.host = "127.0.0.1";
    client.port = server.port();
    client.tls = trusting("ca");
    client.tls->certificate_file = files().certificate("client");
    client.tls->key_file = files().key("client");
    auto asked = std::async(std::launch::async, [&] { return http_once(client, get()); });
    RawConnection connection = server.accept();
    connection.receive();
    connection.answer("1");
    const HttpAnswer answer = asked.get();
    EXPECT_TRUE(std::holds_alternative<HttpMessage>(answer)) << said_by(answer, server);
  }
}

TEST_F(HttpsTest, suspects_its_certificate_if_the_server_asked_for_one_and_closes) {
  TlsContext asking = tls("server");
  SSL_CTX_set_verify(asking.get(), SSL_VERIFY_PEER, nullptr);
  RawServer server(std::move(asking));
  HttpClientOptions client;
  client.host = "127.0.0.1";
  client.port = server.port();
  client.tls = trusting("ca");
  auto asked = std::async(std::launch::async, [&] { return http_once(client, get()); });
  server.accept().receive();
  const HttpAnswer answer = asked.get();
  ASSERT_TRUE(std::holds_alternative<HttpFailure>(answer));
  EXPECT_EQ(std::get<HttpFailure>(answer).error.message,
            "127.0.0.1:" + std::to_string(server.port()) +
                ": the connection ended before the answer came; it had asked for a client's "
                "certificate, which cert=FILE and key=FILE give");
}

TEST_F(HttpsTest, names_a_file_that_cannot_be_used) {
  const auto said = [this](const TlsOptions& options) {
    HttpClientOptions client;
    client.host = "127.0.0.1";
    client.port = server_.port();
    client.tls = options;
    return said_by(http_once(client, get()), server_);
  };
  const std::string start = "invalid_argument: no TLS with 127.0.0.1: the ";
  const auto quoted = [](const std::string& path) { return "file \"" + path + "\" "; };
  TlsOptions options = trusting("none");
  EXPECT_EQ(said(options),
            start + "CA " + quoted(options.ca_file) + "cannot be read: No such file or directory");
  options.ca_file = files().directory();
  EXPECT_EQ(said(options),
            start + "CA " + quoted(options.ca_file) + "cannot be read: it is a directory");
  options.ca_file = files().key("ca");
  EXPECT_EQ(said(options),
            start + "CA " + quoted(options.ca_file) + "holds no certificate in PEM form");
  options = trusting("ca");
  options.certificate_file = files().key("client");
  options.key_file = files().key("client");
  EXPECT_EQ(said(options), start + "certificate " + quoted(options.certificate_file) +
                               "holds no certificate in PEM form");
  options.certificate_file = files().certificate("client");
  options.key_file = files().key("server");
  EXPECT_EQ(said(options), start + "key " + quoted(options.key_file) +
                               "does not belong to the certificate in \"" +
                               options.certificate_file + "\"");
  options.key_file = files().directory() + "/secret.key";
  const std::string encrypt = "openssl pkey -aes256 -passout pass:secret -in '" +
                              files().key("client") + "' -out '" + options.key_file + "'";
  ASSERT_EQ(std::system(encrypt.c_str()), 0);
  EXPECT_EQ(said(options), start + "key " + quoted(options.key_file) +
                               "is encrypted with a passphrase, which cannot be given: store the "
                               "key without one");
}

TEST_F(HttpsTest, an_answer_that_is_cut_off_is_no_answer) {
  open_with(trusting("ca"));
  auto cut = send("/");
  RawConnection connection = server_.accept();
  connection.receive();
  // Without a length, the end of the stream is the end of the answer.
  connection.send("HTTP/1.1 200 OK\r\n\r\n{\"count\":1");
  connection.close_socket();
  const auto failure = failure_of(std::move(cut));
  EXPECT_EQ(failure.error.code, ErrorCode::unknown_outcome);
}

TEST_F(HttpsTest, resumes_the_session_of_an_earlier_connection) {
  open_with(trusting("ca"));
  EXPECT_FALSE(resumes());
  EXPECT_TRUE(resumes());
  EXPECT_TRUE(resumes());
}

TEST_F(HttpsTest, new_files_are_used_by_the_next_connection) {
  const std::string authorities = files().directory() + "/authorities.pem";
  const auto write = [&](const std::string& name) {
    const std::string next = authorities + ".next";
    std::filesystem::copy_file(files().certificate(name), next,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(next, authorities);
  };
  write("ca");
  TlsOptions options;
  options.ca_file = authorities;
  open_with(options);
  EXPECT_FALSE(resumes());
  write("other-ca");
  // The session would still be good, but its authority is not trusted any more.
  auto asked = send("/");
  EXPECT_EQ(server_.accept().receive().method, "");
  const auto failure = failure_of(std::move(asked));
  EXPECT_FALSE(failure.sent);
  // The server has answered before, so it may be well again.
  EXPECT_EQ(failure.error.code, ErrorCode::unavailable);
  write("ca");
  EXPECT_FALSE(resumes());
}

}  // namespace
}  // namespace tarry::net
