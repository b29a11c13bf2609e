#ifdef TARRY_WITH_RABBITMQ

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "relay/intakes/rabbit_url.h"
#include "relay/sinks/rabbitmq/rabbit_url.h"

namespace tarry::app {
namespace {

using relay::rabbit_sink_options;
using relay::rabbit_source_options;

// A file with these bytes, for a URL to name.
class PasswordFile {
 public:
  explicit PasswordFile(const std::string& bytes)
      : path_((std::filesystem::temp_directory_path() / "tarry-password-XXXXXX").string()) {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0) throw std::runtime_error("mkstemp " + path_);
    ::close(fd);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  PasswordFile(const PasswordFile&) = delete;
  PasswordFile& operator=(const PasswordFile&) = delete;
  ~PasswordFile() { std::remove(path_.c_str()); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

relay::RabbitOptions sink_of(std::string_view scheme, const std::string& rest) {
  const auto options = rabbit_sink_options(scheme, rest);
  EXPECT_TRUE(options) << rest << ": " << (options ? "" : options.error().message);
  return options ? *options : relay::RabbitOptions();
}

relay::RabbitSourceOptions source_of(std::string_view scheme, const std::string& rest) {
  const auto options = rabbit_source_options(scheme, rest);
  EXPECT_TRUE(options) << rest << ": " << (options ? "" : options.error().message);
  return options ? *options : relay::RabbitSourceOptions();
}

TEST(RabbitUrl, EveryPartOfASinksReachesItsField) {
  const auto options = sink_of(
      "amqp",
      "//ann:p%40ss@rabbit.example:7000/my%2Fhost?exchange=shop&routing_key=orders.due"
      "&exchange_from=x-exchange&routing_key_from=x-key&channels=4&heartbeat=25s&allow_cc=yes");
  EXPECT_EQ(options.host, "rabbit.example");
  EXPECT_TRUE(options.allow_copies);
  EXPECT_EQ(options.port, 7000);
  EXPECT_EQ(options.vhost, "my/host");
  EXPECT_EQ(options.user, "ann");
  EXPECT_EQ(options.password, "p@ss");
  EXPECT_EQ(options.exchange, "shop");
  EXPECT_EQ(options.routing_key, "orders.due");
  EXPECT_EQ(options.exchange_header, "x-exchange");
  EXPECT_EQ(options.routing_key_header, "x-key");
  EXPECT_EQ(options.channels, 4);
  EXPECT_EQ(options.heartbeat_s, 25);
  EXPECT_FALSE(options.tls);
}

TEST(RabbitUrl, WhatIsNotSaidIsAsDocumented) {
  const auto sink = sink_of("amqp", "//h?routing_key=due");
  EXPECT_EQ(sink.host, "h");
  EXPECT_EQ(sink.port, 5672);
  EXPECT_EQ(sink.vhost, "/");
  EXPECT_EQ(sink.user, "guest");
  EXPECT_EQ(sink.password, "guest");
  EXPECT_EQ(sink.exchange, "");
  EXPECT_EQ(sink.exchange_header, "");
  EXPECT_EQ(sink.routing_key_header, "");
  EXPECT_EQ(sink.channels, 1);
  EXPECT_EQ(sink.heartbeat_s, 10);
  const auto source = source_of("amqp", "//h/?queue=in");
  EXPECT_EQ(source.vhost, "/");
  EXPECT_EQ(source.exchange, "");
  EXPECT_EQ(source.refused, "in.refused");
  EXPECT_EQ(source.heartbeat_s, 10);
}

TEST(RabbitUrl, TlsHasItsOwnPortAndFiles) {
  const std::string files = "&ca=/c.pem&cert=/d.pem&key=/e.pem";
  const auto sink = sink_of("amqps", "//h?exchange=x" + files);
  EXPECT_EQ(sink.port, 5671);
  ASSERT_TRUE(sink.tls);
  EXPECT_EQ(sink.tls->ca_file, "/c.pem");
  EXPECT_EQ(sink.tls->certificate_file, "/d.pem");
  EXPECT_EQ(sink.tls->key_file, "/e.pem");
  const auto source = source_of("amqps", "//h?queue=in" + files);
  EXPECT_EQ(source.port, 5671);
  ASSERT_TRUE(source.tls);
  EXPECT_EQ(source.tls->ca_file, "/c.pem");
  EXPECT_EQ(source.tls->certificate_file, "/d.pem");
  EXPECT_EQ(source.tls->key_file, "/e.pem");
  const auto bare = sink_of("amqps", "//h?exchange=x");
  ASSERT_TRUE(bare.tls);  // TLS with the system's authorities, although the URL has no options
  EXPECT_EQ(bare.tls->ca_file, "");
}

TEST(RabbitUrl, EveryPartOfASourcesReachesItsField) {
  const auto options =
      source_of("amqp", "//ann:pw@h:7000/v?queue=in&exchange=delayed&refused=aside&heartbeat=1h");
  EXPECT_EQ(options.host, "h");
  EXPECT_EQ(options.port, 7000);
  EXPECT_EQ(options.vhost, "v");
  EXPECT_EQ(options.user, "ann");
  EXPECT_EQ(options.password, "pw");
  EXPECT_EQ(options.queue, "in");
  EXPECT_EQ(options.exchange, "delayed");
  EXPECT_EQ(options.refused, "aside");
  EXPECT_EQ(options.heartbeat_s, 3'600);
  EXPECT_FALSE(options.tls);
}

TEST(RabbitUrl, APasswordFilesFirstLineIsThePassword) {
  for (const char* bytes : {"secret", "secret\n", "secret\r\n", "secret\nand more\n"}) {
    const PasswordFile file(bytes);
    const auto sink = sink_of("amqp", "//ann@h?exchange=x&password_file=" + file.path());
    EXPECT_EQ(sink.user, "ann");
    EXPECT_EQ(sink.password, "secret");
    const auto source = source_of("amqp", "//ann@h?queue=in&password_file=" + file.path());
    EXPECT_EQ(source.user, "ann");
    EXPECT_EQ(source.password, "secret");
  }
  const PasswordFile empty("");
  for (const std::string& path : {empty.path(), empty.path() + "-not-there"}) {
    const auto none = rabbit_sink_options("amqp", "//h?exchange=x&password_file=" + path);
    ASSERT_FALSE(none);
    const std::string why = path == empty.path() ? ": its first line is empty"
                                                 : " cannot be read: No such file or directory";
    EXPECT_EQ(none.error().message, "password_file \"" + path + "\"" + why);
  }
}

TEST(RabbitUrl, RefusesWhatIsWrongByName) {
  const auto sink_refusal = [](std::string_view scheme, std::string_view rest) {
    const auto options = rabbit_sink_options(scheme, rest);
    EXPECT_FALSE(options) << rest;
    return options ? std::string() : options.error().message;
  };
  EXPECT_EQ(sink_refusal("amqp", "//h?exchange=x&ca=/c"), "ca, cert and key go with amqps: only");
  EXPECT_EQ(sink_refusal("amqps", "//h?exchange=x&cert=/c"), "cert and key go together");
  EXPECT_EQ(sink_refusal("amqps", "//h?exchange=x&key=/k"), "cert and key go together");
  EXPECT_NE(sink_refusal("amqp", "//h?exchange=x&channels=65").find("64"), std::string::npos);
  for (const char* beat : {"0s", "999ms", "1500ms", "3601s"}) {
    EXPECT_EQ(sink_refusal("amqp", std::string("//h?exchange=x&heartbeat=") + beat),
              "heartbeat \"" + std::string(beat) + "\" must be whole seconds from 1s to 1h");
  }
  EXPECT_NE(sink_refusal("amqp", "//h").find("needs exchange=NAME"), std::string::npos);
  EXPECT_EQ(rabbit_source_options("amqp", "//h").error().message,
            "an intake from RabbitMQ needs queue=NAME");
}

TEST(RabbitUrl, ShowsNothingOfAPassword) {
  for (const char* rest : {"//app:s3cr%et-PW@h/?exchange=x", "//app:s3cr/et-PW@h/?exchange=x",
                           "//app:12/et-PW@h/?exchange=x", "//app:s3cr?et-PW@h/?exchange=x",
                           "//app:12?et-PW@h/&exchange=x", "//app:s3cr#et/PW@h/?exchange=x"}) {
    const auto options = rabbit_sink_options("amqp", rest);
    ASSERT_FALSE(options) << rest;
    const std::string said = options.error().message;
    EXPECT_TRUE(said.find("s3cr") == std::string::npos && said.find("et-PW") == std::string::npos)
        << said;
    EXPECT_NE(said.find("%25"), std::string::npos) << said;
    EXPECT_FALSE(rabbit_source_options("amqp", rest)) << rest;
  }
  EXPECT_EQ(sink_of("amqp", "//app:s3cr%2Fet@h/?exchange=a@b").password, "s3cr/et");
}

}  // namespace
}  // namespace tarry::app

#endif
