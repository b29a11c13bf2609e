// RabbitSink against a real broker. The tests are few, because each is a process, and the broker
// takes seconds to start.
#ifdef TARRY_WITH_RABBITMQ

#include "relay/sinks/rabbitmq/rabbit_sink.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "net/rabbit/library.h"
#include "relay/rabbit/properties.h"
#include "support/certificates.h"
#include "support/outgoing.h"
#include "support/rabbit_server.h"

namespace tarry::relay {
namespace {

using test::Answers;
using test::fate_of_one;

// Consumes the messages that the relay published.
class RabbitConsumer {
 public:
  explicit RabbitConsumer(std::uint16_t port) : state_(amqp_new_connection()) {
    amqp_socket_t* socket = amqp_tcp_socket_new(state_);
    amqp_socket_open(socket, "127.0.0.1", port);
    amqp_login(state_, "/", 0, 131'072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
    amqp_channel_open(state_, 1);
    if (amqp_get_rpc_reply(state_).reply_type != AMQP_RESPONSE_NORMAL) {
      throw std::runtime_error("the broker lets nobody in");
    }
  }
  ~RabbitConsumer() { amqp_destroy_connection(state_); }
  RabbitConsumer(const RabbitConsumer&) = delete;
  RabbitConsumer& operator=(const RabbitConsumer&) = delete;

  // Declares the queue, and returns how many messages it has.
  std::uint32_t declare(const char* queue, amqp_table_t arguments = amqp_empty_table) {
    const auto* ok =
        amqp_queue_declare(state_, 1, amqp_cstring_bytes(queue), 0, 1, 0, 0, arguments);
    if (ok == nullptr) throw std::runtime_error("the queue cannot be declared");
    return ok->message_count;
  }
  // Takes a message, and shows it as "id key ... body".
  std::string get(const char* queue) {
    amqp_maybe_release_buffers(state_);
    const auto got = amqp_basic_get(state_, 1, amqp_cstring_bytes(queue), 1);
    if (got.reply.id != AMQP_BASIC_GET_OK_METHOD) return "nothing";
    amqp_message_t message{};
    amqp_read_message(state_, 1, &message, 0);
    std::string out = text(message.properties.message_id);
    for (const char* name : {"tarry-queue", "tarry-key", "tarry-attempt", "tarry-due-ms", "lang"}) {
      out += " " + header(message.properties.headers, name);
    }
    if (message.properties.delivery_mode == 2) out += " persistent";
    out += ": " + text(message.body);
    amqp_destroy_message(&message);
    return out;
  }

 private:
  static std::string text(amqp_bytes_t bytes) {
    return {static_cast<const char*>(bytes.bytes), bytes.len};
  }
  static std::string header(const amqp_table_t& table, const std::string& name) {
    for (int i = 0; i < table.num_entries; ++i) {
      const auto& entry = table.entries[i];
      if (text(entry.key) != name) continue;
      if (entry.value.kind == AMQP_FIELD_KIND_I64) return std::to_string(entry.value.value.i64);
      return text(entry.value.value.bytes);
    }
    return "-";
  }

  amqp_connection_state_t state_;
};

std::string fate_and_reason(Answers& answers, const std::string& key) {
  const Answer answer = answers.of(key);
  return std::string(to_string(answer.fate)) + ": " + answer.reason;
}

void publishes_and_confirms(const RabbitOptions& options, RabbitConsumer& consumer) {
  Answers answers;
  RabbitSink sink(options);
  sink.send(answers.batch({"a", "b"}, {{"lang", "de"}}));
  EXPECT_EQ(answers.fate("a"), Fate::confirmed);
  EXPECT_EQ(answers.fate("b"), Fate::confirmed);
  EXPECT_EQ(consumer.get("due"), "1 q a 1 1600000000000 de persistent: payload-a");
  EXPECT_EQ(consumer.get("due"), "2 q b 1 1600000000000 de persistent: payload-b");
}

void what_is_too_late_is_not_published(const RabbitOptions& options, RabbitConsumer& consumer) {
  Answers late;
  Answers answers;
  RabbitSink sink(options);
  sink.send(late.late_parcels({"a"}));
  sink.send(answers.batch({"b"}));
  EXPECT_EQ(answers.fate("b"), Fate::confirmed);
  EXPECT_EQ(late.fate("a"), Fate::late);
  EXPECT_EQ(consumer.get("due"), "1 q b 1 1600000000000 - persistent: payload-b");
}

void copies_go_where_that_is_allowed(RabbitOptions options, RabbitConsumer& consumer) {
  consumer.declare("another");
  amqp_field_value_t key{};
  key.kind = AMQP_FIELD_KIND_UTF8;
  key.value.bytes = amqp_cstring_bytes("another");
  amqp_table_entry_t entry{};
  entry.key = amqp_cstring_bytes("BCC");
  entry.value.kind = AMQP_FIELD_KIND_ARRAY;
  entry.value.value.array = {1, &key};
  amqp_basic_properties_t came{};
  came._flags = AMQP_BASIC_HEADERS_FLAG;
  came.headers = {1, &entry};
  const Headers headers = rabbit::headers_of(came, "", "due");

  Answers refused;
  RabbitSink closed(options);
  closed.send(refused.batch({"a"}, headers));
  EXPECT_EQ(fate_and_reason(refused, "a"),
            "refused: header BCC names further routing keys to RabbitMQ; allow_cc=yes lets it");
  EXPECT_EQ(consumer.declare("another"), 0u);

  options.allow_copies = true;
  Answers allowed;
  RabbitSink open(options);
  open.send(allowed.batch({"a"}, headers));
  EXPECT_EQ(allowed.fate("a"), Fate::confirmed);
  EXPECT_NE(consumer.get("due"), "nothing");
  EXPECT_NE(consumer.get("another"), "nothing");
}

// Short bodies are sent in small frames, long bodies in as few frames as possible.
void bodies_of_all_lengths(const RabbitOptions& options, RabbitConsumer& consumer) {
  constexpr std::size_t kFrame = 131'072 - 8;
  std::vector<std::string> keys;
  std::vector<std::string> bodies;
  for (const std::size_t length : {0UL, 1UL, 64UL, 65UL, 128UL, 255UL, 256UL, 257UL, kFrame,
                                   kFrame + 1, 3 * kFrame, 1'000'000UL}) {
    keys.push_back(std::to_string(length));
    std::string& body = bodies.emplace_back(length, '\0');
    for (std::size_t i = 0; i < length; ++i)
      body[i] = static_cast<char>('a' + (i * i + i / 7) % 26);
  }
  Answers answers;
  RabbitSink sink(options);
  sink.send(answers.batch(keys, {}, bodies));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(answers.fate(keys[i]), Fate::confirmed) << keys[i];
    const std::string got = consumer.get("due");
    const std::size_t colon = got.find(": ");
    ASSERT_NE(colon, std::string::npos) << got;
    EXPECT_TRUE(got.substr(colon + 2) == bodies[i]) << keys[i];
  }
}

void many_on_several_channels(RabbitOptions options, RabbitConsumer& consumer) {
  options.channels = 4;
  Answers answers;
  RabbitSink sink(options);
  std::vector<std::string> keys;
  for (int i = 0; i < 3'000; ++i) keys.push_back(std::to_string(i));
  sink.send(answers.batch(keys));
  for (const std::string& key : keys) ASSERT_EQ(answers.fate(key), Fate::confirmed);
  EXPECT_EQ(consumer.declare("due"), 3'000u);
}

void unroutable_and_unknown_exchanges(RabbitOptions options) {
  options.routing_key = "nowhere";
  options.routing_key_header = "to";
  options.exchange_header = "exchange";
  RabbitSink sink(options);
  Answers first;
  sink.send(first.batch({"a"}));
  EXPECT_EQ(fate_and_reason(first, "a"),
            "again: returned by exchange '' with routing key 'nowhere': NO_ROUTE");
  Answers second;
  sink.send(second.batch({"a"}, {{"exchange", "nope"}}));
  EXPECT_EQ(fate_and_reason(second, "a"), "again: NOT_FOUND - no exchange 'nope' in vhost '/'");
  // The channel is open again, and a header names the routing key.
  Answers third;
  sink.send(third.batch({"a"}, {{"to", "due"}}));
  EXPECT_EQ(third.fate("a"), Fate::confirmed);
  Answers fourth;
  sink.send(fourth.batch({"a"}, {{"to", std::string(256, 'k')}}));
  EXPECT_EQ(fourth.fate("a"), Fate::refused);
}

void without_its_exchange_it_is_down(RabbitOptions options) {
  options.exchange = "shop";
  options.exchange_header = "exchange";
  RabbitSink sink(options);
  Answers first;
  sink.send(first.batch({"a", "b"}));
  for (const char* key : {"a", "b"}) {
    EXPECT_EQ(fate_and_reason(first, key),
              "down: NOT_FOUND - no exchange 'shop' in vhost '/'; declare it, the relay does not");
  }
  // A missing exchange that a message names concerns that message only.
  Answers second;
  sink.send(second.batch({"a"}, {{"exchange", "nope"}}));
  EXPECT_EQ(fate_and_reason(second, "a"), "again: NOT_FOUND - no exchange 'nope' in vhost '/'");
}

void a_full_queue_refuses(RabbitOptions options, RabbitConsumer& consumer) {
  std::array<amqp_table_entry_t, 2> limits{};
  limits[0].key = amqp_cstring_bytes("x-max-length");
  limits[0].value.kind = AMQP_FIELD_KIND_I32;
  limits[0].value.value.i32 = 1;
  limits[1].key = amqp_cstring_bytes("x-overflow");
  limits[1].value.kind = AMQP_FIELD_KIND_UTF8;
  limits[1].value.value.bytes = amqp_cstring_bytes("reject-publish");
  consumer.declare("full", {2, limits.data()});
  options.routing_key = "full";
  RabbitSink sink(options);
  EXPECT_EQ(fate_of_one(sink, "a"), Fate::confirmed);
  Answers second;
  sink.send(second.batch({"b"}));
  EXPECT_EQ(fate_and_reason(second, "b"), "again: the broker refused it (nack)");
}

void who_is_not_let_in_is_down(RabbitOptions options) {
  options.password = "wrong";
  RabbitSink sink(options);
  Answers answers;
  sink.send(answers.batch({"a"}));
  const std::string said = fate_and_reason(answers, "a");
  EXPECT_TRUE(said.starts_with("down: rabbitmq 127.0.0.1:")) << said;
  EXPECT_NE(said.find("ACCESS_REFUSED"), std::string::npos) << said;
  EXPECT_EQ(said.find("wrong"), std::string::npos) << said;
}

// A broker that stands still: the missing heartbeats end the connection, and sent messages are
// `unknown`. Once it continues, the sink works again.
void a_broker_that_hangs(RabbitOptions options, const testing::RabbitServer& server,
                         RabbitConsumer& consumer) {
  options.heartbeat_s = 1;
  RabbitSink sink(options);
  EXPECT_EQ(fate_of_one(sink, "a"), Fate::confirmed);
  server.pause();
  EXPECT_EQ(fate_of_one(sink, "b"), Fate::unknown);
  server.cont();
  EXPECT_EQ(fate_of_one(sink, "c"), Fate::confirmed);
  EXPECT_GE(consumer.declare("due"), 2u);
}

void close_answers_what_is_open(const RabbitOptions& options, const testing::RabbitServer& server) {
  RabbitSink sink(options);
  EXPECT_EQ(fate_of_one(sink, "a"), Fate::confirmed);
  server.pause();
  Answers meanwhile;
  sink.send(meanwhile.batch({"b"}));
  sink.close();
  EXPECT_NE(meanwhile.fate("b"), Fate::confirmed);
  EXPECT_EQ(fate_of_one(sink, "c"), Fate::down);
  server.cont();
}

// A directory that has a certificate for "localhost", and the broker's configuration for TLS.
class Certificate {
 public:
  Certificate() : port(testing::RedisServer::free_port()) {
    std::string path = (std::filesystem::temp_directory_path() / "tarry-cert-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp " + path);
    directory_ = path;
    const std::string command =
        "cd '" + directory_ + "' && openssl req -x509 -newkey ec" +
        " -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem -out cert.pem" +
        " -subj /CN=localhost -addext subjectAltName=DNS:localhost >openssl.log 2>&1";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("openssl made no certificate");
  }
  ~Certificate() { std::filesystem::remove_all(directory_); }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  [[nodiscard]] std::string file() const { return directory_ + "/cert.pem"; }
  [[nodiscard]] std::string configuration() const {
    return "listeners.ssl.1 = 127.0.0.1:" + std::to_string(port) +
           "\nssl_options.cacertfile = " + file() + "\nssl_options.certfile = " + file() +
           "\nssl_options.keyfile = " + directory_ + "/key.pem\nssl_options.verify = verify_none\n";
  }

  const std::uint16_t port;

 private:
  std::string directory_;
};

void over_tls(RabbitOptions options, const Certificate& certificate) {
  options.host = "localhost";
  options.port = certificate.port;
  options.tls = net::RabbitTls{certificate.file(), {}, {}};
  RabbitSink trusting(options);
  Answers answers;
  trusting.send(answers.batch({"a"}));
  EXPECT_EQ(fate_and_reason(answers, "a"), "confirmed: ");

  options.tls = net::RabbitTls{};
  RabbitSink wary(options);
  Answers none;
  wary.send(none.batch({"a"}));
  EXPECT_EQ(none.fate("a"), Fate::down);  // no system authority signed it

  options.tls = net::RabbitTls{certificate.file(), {}, {}};
  options.host = "127.0.0.1";
  RabbitSink careful(options);
  Answers other;
  careful.send(other.batch({"a"}));
  EXPECT_EQ(other.fate("a"), Fate::down);  // the certificate is for another host
}

TEST(RabbitSink, NobodyThereIsDown) {
  RabbitOptions options;
  options.port = testing::RedisServer::free_port();
  RabbitSink sink(options);
  EXPECT_EQ(fate_of_one(sink, "a"), Fate::down);
}

TEST(RabbitSink, ABrokerThatAsksForACertificateIsShownOne) {
  if (!testing::RabbitServer::is_installed()) GTEST_SKIP() << "rabbitmq-server is not installed";
  const testing::Certificates files;
  const std::uint16_t port = testing::RedisServer::free_port();
  const testing::RabbitServer server(
      "listeners.ssl.1 = 127.0.0.1:" + std::to_string(port) + "\nssl_options.cacertfile = " +
      files.certificate("ca") + "\nssl_options.certfile = " + files.certificate("server") +
      "\nssl_options.keyfile = " + files.key("server") +
      "\nssl_options.verify = verify_peer\nssl_options.fail_if_no_peer_cert = true\n");
  RabbitConsumer consumer(server.port());
  consumer.declare("due");
  RabbitOptions options;
  options.host = "localhost";
  options.port = port;
  options.routing_key = "due";
  const std::string ca = files.certificate("ca");
  options.tls = net::RabbitTls{ca, files.certificate("client"), files.key("client")};
  {
    RabbitSink sink(options);
    Answers answers;
    sink.send(answers.batch({"a"}));
    EXPECT_EQ(fate_and_reason(answers, "a"), "confirmed: ");
  }
  EXPECT_EQ(consumer.get("due"), "1 q a 1 1600000000000 - persistent: payload-a");

  for (const net::RabbitTls& refused :
       // No client certificate, and one that the broker does not trust.
       {net::RabbitTls{ca, {}, {}},
        net::RabbitTls{ca, files.certificate("other-ca"), files.key("other-ca")}}) {
    options.tls = refused;
    RabbitSink sink(options);
    Answers answers;
    sink.send(answers.batch({"a"}));
    EXPECT_EQ(answers.fate("a"), Fate::down) << refused.certificate_file;
  }
  EXPECT_EQ(consumer.get("due"), "nothing");
}

TEST(RabbitSink, AgainstABroker) {
  if (!testing::RabbitServer::is_installed()) GTEST_SKIP() << "rabbitmq-server is not installed";
  const Certificate certificate;
  const testing::RabbitServer server(certificate.configuration());
  RabbitOptions options;
  options.port = server.port();
  options.routing_key = "due";
  RabbitConsumer consumer(server.port());
  consumer.declare("due");
  publishes_and_confirms(options, consumer);
  what_is_too_late_is_not_published(options, consumer);
  copies_go_where_that_is_allowed(options, consumer);
  bodies_of_all_lengths(options, consumer);
  unroutable_and_unknown_exchanges(options);
  without_its_exchange_it_is_down(options);
  EXPECT_NE(consumer.get("due"), "nothing");
  a_full_queue_refuses(options, consumer);
  who_is_not_let_in_is_down(options);
  over_tls(options, certificate);
  EXPECT_NE(consumer.get("due"), "nothing");
  many_on_several_channels(options, consumer);
  a_broker_that_hangs(options, server, consumer);
  close_answers_what_is_open(options, server);
}

}  // namespace
}  // namespace tarry::relay

#endif
