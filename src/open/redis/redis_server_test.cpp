#include "open/redis/redis_server.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "open/urls/store_url.h"
#include "support/temp_directory.h"

namespace tarry::detail {
namespace {

Result<net::RedisOptions> server_named_by(const std::string& url) {
  const auto parsed = parse_store_url(url);
  if (!parsed) return parsed.error();
  return redis_server_of(std::get<RedisUrl>(*parsed));
}

class RedisServerOf : public ::testing::Test {
 protected:
  static net::RedisOptions server_of(const std::string& url) {
    auto server = server_named_by(url);
    EXPECT_TRUE(server) << url << ": " << (server ? "" : server.error().message);
    return server ? *server : net::RedisOptions();
  }
  std::string file(const std::string& name, std::string_view bytes) const {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  storage::TempDirectory directory_;
};

constexpr std::string_view kTlsFiles = "ca=/c.pem&cert=/d.pem&key=/e.pem&name=redis.example";

void expect_tls(const net::RedisOptions& server, const net::TlsOptions& expected) {
  ASSERT_TRUE(server.tls);
  EXPECT_EQ(server.tls->ca_file, expected.ca_file);
  EXPECT_EQ(server.tls->certificate_file, expected.certificate_file);
  EXPECT_EQ(server.tls->key_file, expected.key_file);
  EXPECT_EQ(server.tls->server_name, expected.server_name);
}
void expect_tls_files(const net::RedisOptions& server) {
  expect_tls(server, {"/c.pem", "/d.pem", "/e.pem", "redis.example"});
}

TEST_F(RedisServerOf, OneServer) {
  const auto server = server_of("redis://ann:pw@h:7000/12");
  EXPECT_EQ(server.host, "h");
  EXPECT_EQ(server.port, 7000);
  EXPECT_EQ(server.unix_path, "");
  EXPECT_EQ(server.user, "ann");
  EXPECT_EQ(server.password, "pw");
  EXPECT_EQ(server.database, 12u);
  EXPECT_FALSE(server.tls);
  EXPECT_FALSE(server.sentinels);

  const auto bare = server_of("redis://h");
  EXPECT_EQ(bare.port, 6379);
  EXPECT_EQ(bare.user, "");
  EXPECT_EQ(bare.password, "");
  EXPECT_EQ(bare.database, 0u);
}

TEST_F(RedisServerOf, OneServerOverTls) {
  const auto server = server_of("rediss://:pw@h:7000/12?" + std::string(kTlsFiles));
  EXPECT_EQ(server.host, "h");
  EXPECT_EQ(server.port, 7000);
  EXPECT_EQ(server.user, "");
  EXPECT_EQ(server.password, "pw");
  EXPECT_EQ(server.database, 12u);
  expect_tls_files(server);

  expect_tls(server_of("rediss://h"), {"", "", "", ""});
}

TEST_F(RedisServerOf, ASocket) {
  const auto server = server_of("redis+unix:///run/my%20redis.sock?db=3&user=ann&password_file=" +
                                file("password", "secret\n"));
  EXPECT_EQ(server.unix_path, "/run/my redis.sock");
  EXPECT_EQ(server.database, 3u);
  EXPECT_EQ(server.user, "ann");
  EXPECT_EQ(server.password, "secret");
  EXPECT_FALSE(server.tls);
}

// The nodes of a cluster are in the URL, not in these options.
TEST_F(RedisServerOf, WhatAllNodesOfAClusterHaveInCommon) {
  const auto server = server_of("redis+cluster://ann:pw@a:7000,b:7001");
  EXPECT_EQ(server.user, "ann");
  EXPECT_EQ(server.password, "pw");
  EXPECT_EQ(server.database, 0u);
  EXPECT_FALSE(server.tls);
  EXPECT_FALSE(server.sentinels);

  const auto secure =
      server_of("rediss+cluster://a,b?user=ann&password_file=" + file("password", "secret") + "&" +
                std::string(kTlsFiles));
  EXPECT_EQ(secure.user, "ann");
  EXPECT_EQ(secure.password, "secret");
  EXPECT_FALSE(secure.sentinels);
  expect_tls_files(secure);
}

TEST_F(RedisServerOf, SentinelsAndTheMasterThatTheyWatch) {
  const std::string sentinel_password = file("sentinel", "theirs\n");
  const auto server = server_of(
      "redis+sentinel://ann:pw@a,b:7001/2?master=orders&sentinel_user=eve"
      "&sentinel_password_file=" +
      sentinel_password);
  ASSERT_TRUE(server.sentinels);
  EXPECT_EQ(server.sentinels->addresses,
            (std::vector<net::RedisAddress>{{"a", 26379}, {"b", 7001}}));
  EXPECT_EQ(server.sentinels->master, "orders");
  EXPECT_EQ(server.sentinels->user, "eve");
  EXPECT_EQ(server.sentinels->password, "theirs");
  EXPECT_EQ(server.user, "ann");
  EXPECT_EQ(server.password, "pw");
  EXPECT_EQ(server.database, 2u);
  EXPECT_FALSE(server.tls);

  const auto secure = server_of(
      "rediss+sentinel://a?master=orders&password_file=" + file("master", "the master's\r\n") +
      "&sentinel_password_file=" + sentinel_password + "&" + std::string(kTlsFiles));
  ASSERT_TRUE(secure.sentinels);
  EXPECT_EQ(secure.sentinels->user, "");
  EXPECT_EQ(secure.sentinels->password, "theirs");
  EXPECT_EQ(secure.user, "");
  EXPECT_EQ(secure.password, "the master's");
  expect_tls_files(secure);

  const auto open = server_of("redis+sentinel://a?master=orders");
  ASSERT_TRUE(open.sentinels);
  EXPECT_EQ(open.sentinels->user, "");
  EXPECT_EQ(open.sentinels->password, "");
}

TEST_F(RedisServerOf, APasswordFilesFirstLineIsThePassword) {
  for (const std::string_view bytes :
       {"secret", "secret\n", "secret\r\n", "secret\nand more\n", "secret\r\nand more\r\n"}) {
    const std::string path = file("password", bytes);
    EXPECT_EQ(server_of("redis://h?user=ann&password_file=" + path).password, "secret") << bytes;
    const auto sentinels =
        server_of("redis+sentinel://h?master=m&sentinel_password_file=" + path).sentinels;
    ASSERT_TRUE(sentinels);
    EXPECT_EQ(sentinels->password, "secret") << bytes;
  }
  // Spaces may be part of the password.
  EXPECT_EQ(server_of("redis://h?password_file=" + file("spaces", " a b \n")).password, " a b ");
}

TEST_F(RedisServerOf, APasswordFileThatHoldsNoneIsNamed) {
  const std::string empty = file("empty", "");
  for (const std::string& path : {empty, empty + "-not-there"}) {
    const auto server = server_named_by("redis://h?password_file=" + path);
    ASSERT_FALSE(server) << path;
    EXPECT_EQ(server.error().code, ErrorCode::invalid_argument);
    const std::string why =
        path == empty ? ": its first line is empty" : " cannot be read: No such file or directory";
    EXPECT_EQ(server.error().message, "password_file \"" + path + "\"" + why);
  }
}

}  // namespace
}  // namespace tarry::detail
