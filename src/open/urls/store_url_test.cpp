#include "open/urls/store_url.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tarry::detail {
namespace {

EmbeddedUrl embedded_of(std::string_view url) {
  auto parsed = parse_store_url(url);
  if (!parsed) {
    ADD_FAILURE() << url << ": " << parsed.error().message;
    return {};
  }
  return std::get<EmbeddedUrl>(*std::move(parsed));
}

RemoteUrl remote_of(std::string_view url) {
  auto parsed = parse_store_url(url);
  if (!parsed) {
    ADD_FAILURE() << url << ": " << parsed.error().message;
    return {};
  }
  return std::get<RemoteUrl>(*std::move(parsed));
}

// -- what is right

TEST(StoreUrl, MemoryAlone) {
  for (const std::string_view text : {"memory:", "memory:?", "MEMORY:"}) {
    const EmbeddedUrl url = embedded_of(text);
    EXPECT_EQ(url.path, "");
    EXPECT_FALSE(url.sync || url.shards || url.segment_bytes || url.max_payload ||
                 url.memory_bytes || url.manual_clock);
  }
}

TEST(StoreUrl, MemoryWithAllItsOptions) {
  const EmbeddedUrl url =
      embedded_of("memory:?clock=manual&shards=4&segment=1MiB&max_payload=64MiB&capacity=2GiB");
  EXPECT_EQ(url.path, "");
  EXPECT_TRUE(url.manual_clock);
  EXPECT_EQ(url.shards, 4u);
  EXPECT_EQ(url.segment_bytes, 1u << 20);
  EXPECT_EQ(url.max_payload, 64u << 20);
  EXPECT_EQ(url.memory_bytes, 2ull << 30);
}

TEST(StoreUrl, FilePaths) {
  struct Case {
    std::string_view url, path;
  };
  for (const Case& each :
       {Case{"file:data", "data"}, Case{"file:./data", "./data"}, Case{"file:../d/e", "../d/e"},
        Case{"file:/var/lib/tarry", "/var/lib/tarry"}, Case{"file:///var/lib", "/var/lib"},
        Case{"file://localhost/srv", "/srv"}, Case{"file:/a%20b", "/a b"},
        Case{"file:/a b", "/a b"}, Case{"file:/%3f%23%25", "/?#%"}, Case{"file:/a@b", "/a@b"},
        Case{"file:/caf\xC3\xA9", "/caf\xC3\xA9"}, Case{"file:/a+b", "/a+b"},
        Case{"file:/a%FFb",
             "/a\xFF"
             "b"},
        Case{"File:/d?", "/d"}}) {
    EXPECT_EQ(embedded_of(each.url).path, each.path) << each.url;
  }
}

TEST(StoreUrl, FileWithAllItsOptions) {
  const EmbeddedUrl url =
      embedded_of("file:/srv/t?sync=100ms&shards=256&segment=64KiB&max_payload=1B");
  EXPECT_EQ(url.path, "/srv/t");
  EXPECT_EQ(url.sync, embedded::SyncPolicy::every_100ms);
  EXPECT_EQ(url.shards, 256u);
  EXPECT_EQ(url.segment_bytes, 64u << 10);
  EXPECT_EQ(url.max_payload, 1u);
  EXPECT_FALSE(url.memory_bytes);
  EXPECT_FALSE(url.manual_clock);
  EXPECT_EQ(embedded_of("file:d?sync=always").sync, embedded::SyncPolicy::always);
  EXPECT_EQ(embedded_of("file:d?sync=os").sync, embedded::SyncPolicy::os);
  EXPECT_EQ(embedded_of("file:d?sync=%6fs").sync, embedded::SyncPolicy::os);
  EXPECT_EQ(embedded_of("file:d?segment=256MiB").segment_bytes, 256u << 20);
}

TEST(StoreUrl, Http) {
  struct Case {
    std::string_view url, host;
    std::uint16_t port;
  };
  for (const Case& each :
       {Case{"http://127.0.0.1:8080", "127.0.0.1", 8080},
        Case{"http://localhost", "localhost", 7733},
        Case{"http://queue.example.org:1/", "queue.example.org", 1},
        Case{"HTTP://a_b-c:65535", "a_b-c", 65535}, Case{"http://[::1]:99", "::1", 99},
        Case{"http://[fe80::1]", "fe80::1", 7733},
        Case{"http://[::ffff:1.2.3.4]/", "::ffff:1.2.3.4", 7733}, Case{"http://h?", "h", 7733}}) {
    const RemoteUrl url = remote_of(each.url);
    EXPECT_EQ(url.host, each.host) << each.url;
    EXPECT_EQ(url.port, each.port) << each.url;
  }
}

TEST(StoreUrl, HttpOverAUnixSocket) {
  EXPECT_EQ(remote_of("http+unix:///run/shop.sock").unix_path, "/run/shop.sock");
  EXPECT_EQ(remote_of("HTTP+UNIX:///a%20b%3F?").unix_path, "/a b?");
  const std::string longest = "/" + std::string(106, 'p');
  EXPECT_EQ(remote_of("http+unix://" + longest).unix_path, longest);
  const auto longer = parse_store_url("http+unix://" + longest + "p");
  ASSERT_FALSE(longer);
  EXPECT_NE(longer.error().message.find("108 bytes, at most 107"), std::string::npos)
      << longer.error().message;
}

// -- what is wrong

struct Bad {
  std::string_view url;
  std::vector<std::string_view> names;  // names that must be in the message
};

const std::vector<Bad>& bad_urls() {
  static const std::vector<Bad> bad = {
      // scheme
      {"", {"\"\" is empty", "memory:", "file:PATH", "http://"}},
      {"data", {"\"data\" has no scheme", "file:PATH"}},
      {"/var/lib/tarry", {"\"/var/lib/tarry\" has no scheme"}},
      {":", {"\":\" has no scheme"}},
      {"1file:x", {"\"1file:x\" has no scheme"}},
      {"fi le:x", {"has no scheme"}},
      {"localhost:7733", {"\"localhost:7733\" has an unknown scheme"}},
      {"ftp://h/p",
       {"\"ftp://h/p\" has an unknown scheme", "memory:, file:PATH, http://HOST:PORT",
        "https://HOST:PORT", "redis://HOST:PORT", "rediss:", "redis+unix:", "redis+cluster:",
        "rediss+cluster:", "redis+sentinel:", "rediss+sentinel:"}},
      {"redsi://h", {"did you mean \"redis\"?"}},
      {"redis+clutser://h", {"did you mean \"redis+cluster\"?"}},
      {"redis-sentinel://h", {"did you mean \"redis+sentinel\"?"}},
      {"memroy:", {"did you mean \"memory\"?"}},
      {"http-unix:///s", {"did you mean \"http+unix\"?"}},
      {"ampq://h", {"did you mean \"amqp\"?"}},
      // memory
      {"memory:x", {"memory: takes no path", "\"x\""}},
      {"memory://", {"memory: takes no path", "\"//\""}},
      {"memory:?sync=os", {"\"sync\" is not one of memory:", "clock, shards", "capacity"}},
      {"memory:?clock=real", {"option clock \"real\" must be manual"}},
      {"memory:?capacity=1MB", {"option capacity \"1MB\" must be at least 1MiB"}},
      {"memory:?capacity=lots", {"option capacity", "\"lots\""}},
      // file
      {"file:", {"file: URL has an empty path"}},
      {"file:?sync=os", {"empty path"}},
      {"file://", {"empty path"}},
      {"file://data", {"names the host \"data\""}},
      {"file://server/data", {"names the host \"server\"", "file:///PATH"}},
      {"file:/a#b", {"\"/a#b\" holds a #", "%23"}},
      {"file:/a%", {"\"/a%\"", "two hex digits"}},
      {"file:/a%2", {"\"/a%2\"", "two hex digits"}},
      {"file:/a%zz", {"\"/a%zz\"", "%25"}},
      {"file:/a%00b", {"\"/a%00b\" holds a NUL"}},
      {"file:d?clock=manual", {"\"clock\" is not one of file:", "sync, shards, segment"}},
      {"file:d?capacity=1GiB", {"\"capacity\" is not one of file:"}},
      {"file:d?shard=1",
       {"\"shard\" is not one of file:", "max_payload; did you mean \"shards\"?"}},
      {"file:d?Shards=1", {"\"Shards\" is not one of"}},
      {"file:d?=1", {"\"\" is not one of"}},
      {"file:d?sync=os&", {"\"\" is not one of"}},
      {"file:d?&sync=os", {"\"\" is not one of"}},
      {"file:d?sync", {"\"sync\" needs a value", "sync=VALUE"}},
      {"file:d?sync=os&shards=1&sync=os", {"\"sync\" is given twice"}},
      {"file:d?sync=", {"option sync \"\" must be always, 100ms or os"}},
      {"file:d?sync=never", {"option sync \"never\" must be always, 100ms or os"}},
      {"file:d?sync=ALWAYS", {"option sync \"ALWAYS\""}},
      {"file:d?sync=%zz", {"option sync", "\"%zz\"", "two hex digits"}},
      {"file:d?shards=0", {"option shards \"0\"", "1 to 256"}},
      {"file:d?shards=257", {"option shards \"257\"", "1 to 256"}},
      {"file:d?shards=-1", {"option shards \"-1\"", "1 to 256"}},
      {"file:d?shards=4x", {"option shards \"4x\""}},
      {"file:d?shards=", {"option shards \"\""}},
      {"file:d?shards=99999999999999999999", {"option shards \"99999999999999999999\"", "256"}},
      {"file:d?segment=64kB", {"option segment \"64kB\"", "from 64KiB to 256MiB"}},
      {"file:d?segment=257MiB", {"option segment \"257MiB\"", "from 64KiB to 256MiB"}},
      {"file:d?segment=big", {"option segment", "\"big\""}},
      {"file:d?max_payload=0", {"option max_payload \"0\"", "from 1B to 64MiB"}},
      {"file:d?max_payload=65MiB", {"option max_payload \"65MiB\"", "64MiB"}},
      {"file:d?max_payload=1.5MiB", {"option max_payload", "\"1.5MiB\""}},
      // http
      {"http:", {"must be http://HOST"}},
      {"http:h", {"\"http:h\" must be http://HOST"}},
      {"http://", {"host \"\""}},
      {"http://:80", {"host \"\""}},
      {"http://h:", {"port \"\"", "1 to 65535"}},
      {"http://h:0", {"port \"0\"", "1 to 65535"}},
      {"http://h:65536", {"port \"65536\"", "1 to 65535"}},
      {"http://h:http", {"port \"http\""}},
      {"http://h h", {"host \"h h\""}},
      {"http://h%41", {"host \"h%41\""}},
      {"http://h/v1", {"\"http://h/v1\" has a path"}},
      {"http://h//", {"has a path"}},
      {"http://h#f", {"has a path"}},
      {"http://h?token=x", {"\"token\" is not one of http:, which are token_file"}},
      {"http://h?tokenfile=x", {"which are token_file; did you mean \"token_file\"?"}},
      {"http://h?token_file=", {"option token_file \"\""}},
      {"http://h?token_file", {"\"token_file\" needs a value"}},
      {"http://[::1", {"\"[::1\"", "[ ]"}},
      {"http://[::1]x", {"\"[::1]x\"", "[ ]"}},
      {"http://[]", {"\"[]\"", "[ ]"}},
      {"http://[host]", {"\"[host]\"", "IPv6"}},
      {"http://::1", {"host \"\""}},
      {"http://h?ca=c", {"\"ca\" is not one of http:, which are token_file"}},
      {"https:h", {"\"https:h\" must be https://HOST[:PORT]"}},
      {"https://", {"host \"\""}},
      {"https://h/v1", {"\"https://h/v1\" has a path; it must end after https://HOST"}},
      {"https://u@h", {"holds a user, but https: takes none"}},
      {"https://h?password=p",
       {"\"password\" is not one of https:, which are token_file, ca, cert, key, name"}},
      {"https://h?ca=", {"option ca \"\" must not be empty"}},
      {"https://h?cert=c", {"cert and key go together"}},
      {"https://h?key=k", {"cert and key go together"}},
      {"http+unix:", {"must be http+unix:///PATH"}},
      {"http+unix://run/s", {"\"http+unix://run/s\" must be http+unix:///PATH"}},
      {"http+unix:///s?db=1", {"\"db\" is not one of http+unix:"}},
      {"http+unix:///s%zz", {"path"}},
  };
  return bad;
}

TEST(StoreUrl, HttpMayNameAFileWithItsToken) {
  const auto parsed = parse_store_url("http://h:1?token_file=/etc/tarry%20token");
  ASSERT_TRUE(parsed);
  const auto& url = std::get<RemoteUrl>(*parsed);
  EXPECT_EQ(url.token_file, "/etc/tarry token");
  EXPECT_EQ(url.port, 1);
}

TEST(StoreUrl, HttpsHasTheFilesOfTls) {
  const RemoteUrl bare = remote_of("HTTPS://[::1]");
  EXPECT_TRUE(bare.tls);
  EXPECT_EQ(bare.host, "::1");
  EXPECT_EQ(bare.port, 7733);
  EXPECT_EQ(bare.ca_file + bare.certificate_file + bare.key_file + bare.server_name, "");
  const RemoteUrl full =
      remote_of("https://h:443/?ca=%2Fa.pem&cert=c&key=k&name=shop.example&token_file=t");
  EXPECT_EQ(full.port, 443);
  EXPECT_EQ(full.ca_file, "/a.pem");
  EXPECT_EQ(full.certificate_file, "c");
  EXPECT_EQ(full.key_file, "k");
  EXPECT_EQ(full.server_name, "shop.example");
  EXPECT_EQ(full.token_file, "t");
  EXPECT_FALSE(remote_of("http://h").tls);
}

TEST(StoreUrl, WhatIsWrongGetsOneLineThatNamesIt) {
  for (const Bad& each : bad_urls()) {
    const auto parsed = parse_store_url(each.url);
    ASSERT_FALSE(parsed) << each.url;
    const Error& error = parsed.error();
    EXPECT_EQ(error.code, ErrorCode::invalid_argument) << each.url << ": " << error.message;
    EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
    for (const std::string_view name : each.names) {
      EXPECT_NE(error.message.find(name), std::string::npos)
          << each.url << ": " << error.message << "\n  does not name: " << name;
    }
  }
}

TEST(StoreUrl, NothingIsMeantByWhatIsFarFromAll) {
  for (const std::string_view url :
       {"ftp://h/p", "localhost:7733", "file:d?clock=manual", "file:d?=1"}) {
    const auto parsed = parse_store_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().message.find("did you mean"), std::string::npos)
        << parsed.error().message;
  }
}

TEST(StoreUrl, ALongHostIsRefused) {
  const auto parsed = parse_store_url("http://" + std::string(254, 'h'));
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message.find("254 bytes"), std::string::npos);
}

TEST(StoreUrl, SecretsNeverShow) {
  for (const std::string_view url : {"http://user:s3cret@h:1",
                                     "http://user:s3/cret@h",
                                     "http://s3cret@h",
                                     "http:user:s3cret@h",
                                     "http://user:s3?cret@h",
                                     "http://h/s3cret@x",
                                     "user:s3cret@h:7733",
                                     "s3cret@h",
                                     "redis://user:s3cret@h/x",
                                     "rediss://:s3cret@h/0?x=1",
                                     "redsi://user:s3cret@h/0",
                                     "redis:user:s3cret@h",
                                     "redis://s3cret@h",
                                     "redis://user:s3%cret@h",
                                     "redis://u:s3/cret@h:x",
                                     "redis://u:s3?cret@h",
                                     "redis://u:s3cret@h?password_file=p",
                                     "redis+unix:u:s3cret@h",
                                     "redis://u:s3cret@",
                                     "https://user:s3cret@h",
                                     "file://user:s3cret@h/d",
                                     "memory:user:s3cret@h",
                                     "memory:?secret=s3cret",
                                     "file:d?token=s3cret",
                                     "http://h?token=s3cret"}) {
    const auto parsed = parse_store_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().message.find("s3"), std::string::npos)
        << url << ": " << parsed.error().message;
    EXPECT_EQ(parsed.error().message.find("cret@"), std::string::npos)
        << url << ": " << parsed.error().message;
  }
}

TEST(StoreUrl, OfRabbitMQIsReadByItsEngine) {
  const auto parsed = parse_store_url("AMQPS://user:s3cret@h/v?rung=1s");
  ASSERT_TRUE(parsed);
  const auto& url = std::get<RabbitUrl>(*parsed);
  EXPECT_EQ(url.scheme, "amqps");
  EXPECT_EQ(url.rest, "//user:s3cret@h/v?rung=1s");
}

TEST(StoreUrl, Masked) {
  EXPECT_EQ(masked_url("redis://user:pass@h:1/0?x=y"), "redis://***@h:1/0?x=y");
  EXPECT_EQ(masked_url("redis://user:p@ss@h/0"), "redis://***@h/0");
  EXPECT_EQ(masked_url("user:pass@h"), "***@h");
  EXPECT_EQ(masked_url("user:p//ss@h"), "***@h");
  EXPECT_EQ(masked_url("http://h:1"), "http://h:1");
  EXPECT_EQ(masked_url("file:/a@b"), "file:/a@b");
  EXPECT_EQ(masked_url("memory:"), "memory:");
  EXPECT_EQ(masked_url(""), "");
}

RC_GTEST_PROP(StoreUrl, AnyBytesAreParsedOrRefusedInOneLine, (const std::string& tail)) {
  const std::string scheme =
      *rc::gen::element<std::string>("", "memory:", "memory:?", "file:", "file:d?", "file://",
                                     "http://", "http://h:", "http://[", "https://", "https://h?");
  const auto parsed = parse_store_url(scheme + tail);
  if (!parsed) {
    RC_ASSERT(parsed.error().message.find('\n') == std::string::npos);
    RC_ASSERT(parsed.error().message.size() < 1'000u);
  }
}

}  // namespace
}  // namespace tarry::detail
