#include "net/redis/redis_tls.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/certificates.h"
#include "support/redis_cluster_servers.h"
#include "support/redis_rig.h"

namespace tarry::net {
namespace {

using tarry::testing::RedisRig;
using tarry::testing::RedisServer;

class RedisTlsTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> on(std::uint16_t port) const {
    return {"--tls-port",         std::to_string(port),
            "--tls-cert-file",    files_.certificate("server"),
            "--tls-key-file",     files_.key("server"),
            "--tls-ca-cert-file", files_.certificate("ca"),
            "--tls-auth-clients"};
  }
  void serve(const std::string& clients_certificates = "no") {
    port_ = RedisServer::free_port();
    std::vector<std::string> words = on(port_);
    words.push_back(clients_certificates);
    server_ = std::make_unique<RedisServer>(std::move(words));
  }
  [[nodiscard]] RedisOptions options() const {
    RedisOptions options;
    options.port = port_;
    options.tls.emplace();
    options.tls->ca_file = files_.certificate("ca");
    return options;
  }
  static std::string ask(const RedisOptions& options) {
    RedisRig rig;
    rig.open(options);
    return rig.ask({"ECHO", "hello"});
  }
  [[nodiscard]] std::string no_tls(const std::string& why) const {
    return "invalid_argument: no TLS with Redis at 127.0.0.1:" + std::to_string(port_) + ": " + why;
  }

  const testing::Certificates files_;
  std::uint16_t port_ = 0;
  std::unique_ptr<RedisServer> server_;
};

TEST_F(RedisTlsTest, speaks_to_a_server_with_the_right_name) {
  serve();
  RedisOptions to = options();
  EXPECT_EQ(ask(to), "hello");
  to.host = "localhost";
  EXPECT_EQ(ask(to), "hello");
  to.host = "127.0.0.1";
  to.tls->server_name = "redis.example";
  EXPECT_EQ(ask(to), "hello");
}

TEST_F(RedisTlsTest, carries_much_both_ways_at_once) {
  serve();
  RedisRig rig;
  rig.open(options());
  const std::string bytes(5 << 20, 'x');
  std::vector<RedisRig::Future> futures;
  for (int i = 0; i < 4; ++i) {
    futures.push_back(rig.send({"SET", "big", bytes}));
    futures.push_back(rig.send({"GET", "big"}));
  }
  for (std::size_t i = 0; i < futures.size(); i += 2) {
    EXPECT_EQ(RedisRig::text_of(std::move(futures[i])), "OK");
    EXPECT_TRUE(RedisRig::text_of(std::move(futures[i + 1])) == bytes);
  }
}

TEST_F(RedisTlsTest, refuses_another_name) {
  serve();
  RedisOptions to = options();
  to.tls->server_name = "wrong.example";
  const std::string names =
      "its certificate is for \"localhost\", \"redis.example\", \"127.0.0.1\", not for ";
  EXPECT_EQ(ask(to), no_tls(names + "\"wrong.example\""));
  to.tls->server_name = "127.0.0.2";
  EXPECT_EQ(ask(to), no_tls(names + "\"127.0.0.2\""));
}

TEST_F(RedisTlsTest, refuses_a_certificate_that_it_does_not_trust) {
  serve();
  RedisOptions to = options();
  to.tls->ca_file = files_.certificate("other-ca");
  const std::string authority =
      "its certificate is not trusted: its authority \"tarry's test CA\" is not ";
  EXPECT_EQ(ask(to), no_tls(authority + "in the CA file \"" + to.tls->ca_file + "\""));
  to.tls->ca_file.clear();  // the system's authorities have not signed it either
  EXPECT_EQ(ask(to),
            no_tls(authority + "one of this system's; name the authority's file with ca=FILE"));
}

TEST_F(RedisTlsTest, shows_its_own_certificate) {
  serve("yes");
  RedisOptions to = options();
  to.tls->certificate_file = files_.certificate("client");
  to.tls->key_file = files_.key("client");
  EXPECT_EQ(ask(to), "hello");
  to.tls->certificate_file.clear();
  // With TLS 1.3, the server refuses only after our handshake is done.
  EXPECT_EQ(ask(to), "permission_denied: no TLS with Redis at 127.0.0.1:" + std::to_string(port_) +
                         ": the server demands a client's certificate: give it with cert=FILE and "
                         "key=FILE");
}

TEST_F(RedisTlsTest, speaks_to_sentinels_too) {
  serve();
  const std::uint16_t port = RedisServer::free_port();
  std::vector<std::string> words = on(port);
  words.insert(words.end(), {"no", "--sentinel"});
  const RedisServer sentinel(words,
                             "sentinel monitor orders 127.0.0.1 " + std::to_string(port_) + " 1\n");
  RedisOptions to = options();
  to.sentinels.emplace();
  to.sentinels->addresses = {{"127.0.0.1", port}};
  to.sentinels->master = "orders";
  EXPECT_EQ(ask(to), "hello");
  to.tls->ca_file = files_.certificate("other-ca");
  const std::string said = ask(to);
  EXPECT_TRUE(said.starts_with("invalid_argument: no TLS with the sentinel at 127.0.0.1:" +
                               std::to_string(port) + ": its certificate is not trusted: "))
      << said;
}

TEST_F(RedisTlsTest, speaks_to_a_cluster_too) {
  const std::uint16_t port = RedisServer::free_port();
  std::vector<std::string> words = on(port);
  words.insert(words.end(), {"no", "--tls-cluster", "yes"});
  tarry::testing::RedisClusterServers servers(1, 0, words);
  RedisOptions wanted = options();
  {
    RedisRig rig;
    rig.open_cluster({{"127.0.0.1", port}}, wanted);
    EXPECT_EQ(rig.ask({"SET", "{a}k", "1"}), "OK");
    EXPECT_EQ(rig.ask({"INCR", "{a}k"}), "(2)");
  }
  wanted.tls->ca_file = files_.certificate("other-ca");
  RedisRig rig;
  rig.open_cluster({{"127.0.0.1", port}}, wanted);
  const std::string refused = rig.ask({"GET", "{a}k"});
  EXPECT_TRUE(refused.starts_with("invalid_argument: ")) << refused;
}

TEST_F(RedisTlsTest, names_the_file_that_cannot_be_used) {
  serve();
  RedisOptions to = options();
  to.tls->ca_file = files_.certificate("none");
  EXPECT_TRUE(
      ask(to).starts_with(no_tls("the CA file \"" + files_.certificate("none") + "\" cannot")));
  to = options();
  to.tls->certificate_file = files_.directory() + "/openssl.log";
  EXPECT_TRUE(ask(to).starts_with(no_tls("the certificate file \"")));
  to.tls->certificate_file = files_.certificate("client");
  to.tls->key_file = files_.key("server");
  EXPECT_TRUE(ask(to).starts_with(no_tls("the key file \"")));
}

TEST_F(RedisTlsTest, tells_a_server_without_tls) {
  serve();
  RedisOptions to = options();
  to.port = port_ = server_->port();
  // The server waits for the end of a line, which a TLS handshake does not have.
  to.connect_timeout_ms = 500;
  EXPECT_EQ(ask(to), "unavailable: no TLS with Redis at 127.0.0.1:" + std::to_string(port_) +
                         ": no handshake within 500ms");
}

}  // namespace
}  // namespace tarry::net
