// What a client sends to the server: the real connection on one end of a socket pair, the fuzzer's
// bytes on the other, an engine in RAM behind. The first byte says in how many pieces they arrive,
// and whether the client stops sending before it is answered.
//
// Held: whatever comes, what goes back is whole HTTP responses whose bodies are JSON (none after
// the answer to a HEAD), all of known status; a connection ends, once, and holds no bytes and no
// receipts after that.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/local/stream_protocol.hpp>

#include "base/assert.h"
#include "engines/embedded/embedded_engine.h"
#include "fuzz/input.h"
#include "net/http/http_parser.h"
#include "server/console/sessions.h"
#include "server/http/front.h"
#include "timing/manual_clock.h"
#include "wire/json/json_reader.h"
#include "wire/parts/problem.h"

namespace tarry::fuzz {
namespace {

/// An engine in RAM that is opened at the first request, and answers before `submit` returns, so
/// that an input always does the same. (A connection has each answer posted to its own thread, so
/// it works as with other engines.) A claim that would wait is answered at once.
class Prompt final : public core::Engine {
 public:
  core::Ticket submit(core::Request request, core::Completion completion) override {
    if (!engine_) open();
    std::promise<Result<core::Reply>> promise;
    auto answer = promise.get_future();
    const bool claims = std::holds_alternative<core::ClaimRequest>(request);
    if (auto* claim = std::get_if<core::ClaimRequest>(&request)) claim->wait = Millis(0);
    const core::Ticket ticket = engine_->submit(
        std::move(request),
        [&promise](Result<core::Reply> result) { promise.set_value(std::move(result)); });
    if (claims) engine_->withdraw(ticket);
    completion(answer.get());
    return ticket;
  }
  void withdraw(core::Ticket /*ticket*/) override {}
  [[nodiscard]] core::Capabilities capabilities() const override { return {}; }
  void close() override {
    if (engine_) engine_->close();
  }

 private:
  void open() {
    embedded::EmbeddedOptions options;
    options.segment_bytes = 64 << 10;
    options.memory_bytes = 8 << 20;
    options.clock = std::make_shared<timing::ManualClock>();
    auto opened = embedded::open_embedded(std::move(options));
    TARRY_ASSERT(opened);
    engine_ = *std::move(opened);
  }

  std::unique_ptr<core::Engine> engine_;
};

class Client {
 public:
  Client() : connection_(front_.connect(accept())) {
    server_.closed = [this](session::Connection*) { ++closed_; };
    connection_->start(session::Connection::Place::regular);
    run();
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    if (closed_ == 0) connection_->close();
    run();
    TARRY_ASSERT(closed_ == 1 && server_.held.requests() == 0 && server_.held.answers() == 0);
    TARRY_ASSERT(server_.held.settling() == 0);
    connection_.reset();
    run();
    ::close(fd_);
  }

  void send(std::string_view bytes) {
    while (!bytes.empty() && closed_ == 0) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      run();
    }
  }
  void end_sending() {
    ::shutdown(fd_, SHUT_WR);
    run();
  }
  void drain() {
    server_.draining = true;
    if (closed_ == 0) connection_->drain();
    run();
  }
  [[nodiscard]] bool closed() const noexcept { return closed_ != 0; }
  [[nodiscard]] const std::string& received() const noexcept { return received_; }
  // What the server was asked by, a method for each response, in their order.
  [[nodiscard]] const std::vector<std::string>& methods() const noexcept { return methods_; }

 private:
  session::Options server_options() {
    session::Options options;
    options.max_body_bytes = 16 << 10;
    options.max_held_bytes = 24 << 10;
    options.on_request = [this](const session::RequestNote& note) {
      methods_.emplace_back(note.method);
    };
    return options;
  }
  static http::FrontOptions front_options() {
    http::FrontOptions options;
    options.max_head_bytes = 2048;
    options.advance_clock = [](std::int64_t ms) { TARRY_ASSERT(ms >= 0); };
    return options;
  }
  listening::Stream accept() {
    std::array<int, 2> ends{};
    TARRY_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    fd_ = ends[0];
    listening::Socket socket(context_.get_executor());
    boost::system::error_code error;
    socket.assign(boost::asio::local::stream_protocol(), ends[1], error);
    TARRY_ASSERT(!error);
    return listening::Stream(std::move(socket));
  }

  // Until nobody has anything left to do or to say.
  void run() {
    std::size_t before = 0;
    do {
      before = received_.size();
      context_.restart();
      while (context_.poll() != 0) {
      }
      receive();
    } while (received_.size() != before);
  }
  void receive() {
    std::array<char, 16 << 10> buffer{};
    for (;;) {
      const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got <= 0) return;
      received_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  boost::asio::io_context context_{1};
  Prompt engine_;
  session::ServerContext server_{engine_, server_options()};
  http::Front front_{server_, front_options(), std::make_shared<console::Sessions>()};
  int fd_ = -1;
  int closed_ = 0;
  std::string received_;
  std::vector<std::string> methods_;
  std::shared_ptr<session::Connection> connection_;
};

void check_body(const net::HttpMessage& message) {
  wire::Document document(message.body.size(), wire::kAnswerLimits);
  TARRY_ASSERT(!document.parse(message.body));
  if (message.status == 200) return;
  const Error error = wire::read_problem(message.status, message.body);
  TARRY_ASSERT(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

void check_responses(std::string_view bytes, const std::vector<std::string>& methods) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  constexpr std::string_view kHeadEnd = "\r\n\r\n";
  std::size_t answered = 0;
  while (!bytes.empty()) {
    if (bytes.starts_with(kContinue)) {
      bytes.remove_prefix(kContinue.size());
      continue;
    }
    TARRY_ASSERT(answered < methods.size());
    // The one answer whose length is of a body that does not follow.
    const bool head_only = methods[answered++] == "HEAD";
    const std::size_t head_end = bytes.find(kHeadEnd);
    TARRY_ASSERT(head_end != bytes.npos);
    net::HttpParser parser(net::HttpParser::Side::response, {16 << 10, 64 << 20});
    bytes.remove_prefix(
        parser.feed(head_only ? bytes.substr(0, head_end + kHeadEnd.size()) : bytes));
    TARRY_ASSERT(parser.head_done() && !parser.fault());
    TARRY_ASSERT(head_only ? parser.message().body.empty() : parser.done());
    const net::HttpMessage& message = parser.message();
    TARRY_ASSERT(message.status == 200 || (message.status >= 400 && message.status <= 507));
    TARRY_ASSERT(message.count("Content-Length") == 1);
    TARRY_ASSERT(message.count("X-Request-ID") == 1);
    if (!head_only) check_body(message);
    TARRY_ASSERT(parser.keep_alive() || bytes.empty());
  }
}

void check(Input input) {
  const std::uint8_t how = input.u8();
  const std::size_t pieces = 1 + how % 8;
  const bool ends_early = (how & 8) != 0;
  const bool drains = (how & 16) != 0;
  std::string_view bytes = input.rest();
  const std::size_t size = bytes.size() / pieces + 1;
  std::string received;
  std::vector<std::string> methods;
  {
    Client client;
    for (std::size_t i = 0; i < pieces; ++i) {
      client.send(bytes.substr(0, size));
      bytes.remove_prefix(std::min(size, bytes.size()));
      if (ends_early && i == 0) break;
      if (drains && i == pieces / 2) client.drain();
    }
    client.end_sending();
    TARRY_ASSERT(client.closed());
    received = client.received();
    methods = client.methods();
  }
  check_responses(received, methods);
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarry::fuzz::check(tarry::fuzz::Input(data, size));
  return 0;
}
