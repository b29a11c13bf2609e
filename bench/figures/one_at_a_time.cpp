#include "figures/one_at_a_time.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

enum class Step { push, claim, settle };

Step after(Step step) noexcept {
  if (step == Step::push) return Step::claim;
  return step == Step::claim ? Step::settle : Step::push;
}

std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string_view::npos) return {};
  text.remove_prefix(from + begin.size());
  return text.substr(0, text.find(end));
}

struct Turn {
  Step step = Step::push;
  std::string token;       // what the claim answered
  std::size_t talker = 0;  // the number of the connection
  std::uint64_t life = 0;  // the number of the life on it
};

/// What a client says in one protocol, and how it reads the answers.
class Dialect {
 public:
  virtual ~Dialect() = default;
  Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;

  /// The words that begin a connection. The server's answer to them ends with `kGreeted`.
  [[nodiscard]] virtual std::string greeting(std::size_t /*talker*/) const { return {}; }
  [[nodiscard]] virtual std::string request(const Turn& turn) const = 0;
  /// Bytes at the beginning that answer no request.
  [[nodiscard]] virtual std::size_t passed_over(std::string_view /*heard*/) const { return 0; }
  /// Bytes of the answer; 0 until it is whole.
  [[nodiscard]] virtual std::size_t length(std::string_view heard) const = 0;
  /// The token in a claim's answer; of other answers, anything. Empty if the step failed.
  [[nodiscard]] virtual std::string_view token(Step step, std::string_view answer) const = 0;
};

class Http final : public Dialect {
 public:
  explicit Http(std::size_t payload)
      : push_(post("/v1/queues/bench/messages",
                   R"({"payload":")" + std::string(payload, 'x') + "\"}")),
        claim_(post("/v1/claim", R"({"queues":["bench"],"max":1,"wait":"10s"})")) {}

  std::string request(const Turn& turn) const override {
    if (turn.step == Step::push) return push_;
    if (turn.step == Step::claim) return claim_;
    return post("/v1/settle", R"({"items":[{"receipt":")" + turn.token + R"(","action":"ack"}]})");
  }
  std::size_t length(std::string_view heard) const override {
    constexpr std::string_view kBlank = "\r\n\r\n";
    const std::size_t head = heard.find(kBlank);
    if (head == std::string_view::npos) return 0;
    const std::string body(between(heard.substr(0, head + 2), "Content-Length: ", "\r\n"));
    const std::size_t whole = head + kBlank.size() + std::strtoull(body.c_str(), nullptr, 10);
    return heard.size() < whole ? 0 : whole;
  }
  std::string_view token(Step step, std::string_view answer) const override {
    if (!answer.starts_with("HTTP/1.1 200")) return {};
    if (step == Step::claim) return between(answer, "\"receipt\":\"", "\"");
    if (step == Step::settle) return between(answer, "\"outcome\":\"", "\"");
    return answer;
  }

 private:
  static std::string post(std::string_view path, std::string_view body) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  }

  const std::string push_;
  const std::string claim_;
};

class Beanstalk final : public Dialect {
 public:
  explicit Beanstalk(std::size_t payload)
      : push_("put 0 0 60 " + std::to_string(payload) + "\r\n" + std::string(payload, 'x') +
              "\r\n") {}

  std::string request(const Turn& turn) const override {
    if (turn.step == Step::push) return push_;
    return turn.step == Step::claim ? "reserve\r\n" : "delete " + turn.token + "\r\n";
  }
  std::size_t length(std::string_view heard) const override {
    const std::size_t line = heard.find("\r\n");
    if (line == std::string_view::npos) return 0;
    std::size_t whole = line + 2;
    if (heard.starts_with("RESERVED ")) {
      const std::string bytes(heard.substr(heard.find(' ', 9) + 1, line));
      whole += std::strtoull(bytes.c_str(), nullptr, 10) + 2;
    }
    return heard.size() < whole ? 0 : whole;
  }
  std::string_view token(Step step, std::string_view answer) const override {
    if (step == Step::push) return between(answer, "INSERTED ", "\r\n");
    if (step == Step::claim) return between(answer, "RESERVED ", " ");
    return answer.starts_with("DELETED") ? answer : std::string_view();
  }

 private:
  const std::string push_;
};

constexpr std::string_view kGreeted = "PONG\r\n";

// A push is a schedule that is due at once. Its answer says that the stream holds it. A settle
// waits for the server's word too: NATS calls it a double ack.
class Nats final : public Dialect {
 public:
  explicit Nats(std::size_t payload)
      : payload_(payload, 'x'),
        salt_(std::to_string(std::chrono::system_clock::now().time_since_epoch().count())) {}

  std::string greeting(std::size_t talker) const override {
    return "CONNECT {\"verbose\":false,\"headers\":true,\"protocol\":1}\r\nSUB " + inbox(talker) +
           " 1\r\nPING\r\n";
  }
  std::string request(const Turn& turn) const override {
    const std::string inbox_and = ' ' + inbox(turn.talker) + ' ';
    if (turn.step == Step::claim) {
      const std::string one = R"({"batch":1,"expires":10000000000})";
      return "PUB $JS.API.CONSUMER.MSG.NEXT.bench.work" + inbox_and + std::to_string(one.size()) +
             "\r\n" + one + "\r\n";
    }
    if (turn.step == Step::settle) return "PUB " + turn.token + inbox_and + "4\r\n+ACK\r\n";
    const std::string head =
        "NATS/1.0\r\nNats-Schedule: @at " + now() + "\r\nNats-Schedule-Target: due\r\n\r\n";
    // A later schedule of the same subject would replace an earlier one.
    return "HPUB schedules." + salt_ + '.' + std::to_string(turn.talker) + '.' +
           std::to_string(turn.life) + inbox_and + std::to_string(head.size()) + ' ' +
           std::to_string(head.size() + payload_.size()) + "\r\n" + head + payload_ + "\r\n";
  }
  std::size_t passed_over(std::string_view heard) const override {
    if (!heard.starts_with("PING") && !heard.starts_with("INFO ")) return 0;
    const std::size_t line = heard.find("\r\n");
    return line == std::string_view::npos ? 0 : line + 2;
  }
  std::size_t length(std::string_view heard) const override {
    const std::size_t line = heard.find("\r\n");
    if (line == std::string_view::npos || heard.find("MSG ") > 1) return 0;
    const std::string bytes(heard.substr(heard.rfind(' ', line) + 1, line));
    const std::size_t whole = line + 2 + std::strtoull(bytes.c_str(), nullptr, 10) + 2;
    return heard.size() < whole ? 0 : whole;
  }
  std::string_view token(Step step, std::string_view answer) const override {
    if (step == Step::push) return between(answer, "\"seq\":", "}");
    if (step == Step::settle) return answer.starts_with("MSG ") ? answer : std::string_view();
    return between(answer, "MSG due 1 ", " ");
  }

 private:
  static std::string inbox(std::size_t talker) { return "_INBOX." + std::to_string(talker); }
  static std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%FT%TZ", &utc)};
  }

  const std::string payload_;
  const std::string salt_;  // no two runs on one server have the same subjects
};

class Talker {
 public:
  Talker(const Dialect& dialect, std::uint16_t port, std::size_t number, bool push_only)
      : dialect_(dialect),
        push_only_(push_only),
        fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
         "the server is there");
    const int on = 1;
    must(::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY is set");
    turn_.talker = number;
    greet();
  }
  ~Talker() { ::close(fd_); }
  Talker(const Talker&) = delete;
  Talker& operator=(const Talker&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }

  // A request of a few hundred bytes always fits into the socket's empty buffer.
  void ask() { say(dialect_.request(turn_)); }
  enum class Heard { part, answer, end_of_life };
  /// Reads the bytes that have come.
  Heard listen() {
    hear();
    pass_over();
    const std::size_t length = dialect_.length(heard_);
    if (length == 0) return Heard::part;
    turn_.token = dialect_.token(turn_.step, std::string_view(heard_).substr(0, length));
    if (turn_.token.empty()) give_up("a request is answered well", heard_);
    heard_.erase(0, length);
    pass_over();
    must(dialect_.length(heard_) == 0, "one answer follows one request");
    if (!push_only_) turn_.step = after(turn_.step);
    if (turn_.step != Step::push) return Heard::answer;
    ++turn_.life;
    return Heard::end_of_life;
  }

 private:
  void greet() {
    const std::string greeting = dialect_.greeting(turn_.talker);
    if (greeting.empty()) return;
    say(greeting);
    while (heard_.find(kGreeted) == std::string::npos) hear();
    heard_.erase(0, heard_.find(kGreeted) + kGreeted.size());
  }
  void say(std::string_view text) const {
    must(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()),
         "a request is sent");
  }
  void pass_over() {
    while (const std::size_t bytes = dialect_.passed_over(heard_)) heard_.erase(0, bytes);
  }
  void hear() {
    char piece[16'384];
    const ssize_t got = ::recv(fd_, piece, sizeof piece, 0);
    must(got > 0, "the server answers");
    heard_.append(piece, static_cast<std::size_t>(got));
  }

  const Dialect& dialect_;
  const bool push_only_;
  const int fd_;
  Turn turn_;
  std::string heard_;
};

std::unique_ptr<Dialect> dialect_of(Spoken spoken, std::size_t payload) {
  if (spoken == Spoken::http) return std::make_unique<Http>(payload);
  if (spoken == Spoken::nats) return std::make_unique<Nats>(payload);
  return std::make_unique<Beanstalk>(payload);
}

}  // namespace

double live_one_at_a_time(Spoken spoken, std::uint16_t port, const OneAtATime& shape) {
  const auto dialect = dialect_of(spoken, shape.payload);
  std::vector<std::unique_ptr<Talker>> talkers;
  std::vector<pollfd> waits;
  for (std::size_t i = 0; i < std::min(shape.connections, shape.lives); ++i) {
    talkers.push_back(std::make_unique<Talker>(*dialect, port, i, shape.push_only));
    waits.push_back({talkers.back()->fd(), POLLIN, 0});
  }
  constexpr int kPatienceMs = 60'000;
  const Stopwatch watch;
  std::size_t begun = talkers.size();
  std::size_t ended = 0;
  for (const auto& talker : talkers) talker->ask();
  while (ended < shape.lives) {
    must(::poll(waits.data(), waits.size(), kPatienceMs) > 0, "the server answers in a minute");
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (std::exchange(waits[i].revents, short{0}) == 0) continue;
      const Talker::Heard heard = talkers[i]->listen();
      if (heard == Talker::Heard::part) continue;
      if (heard == Talker::Heard::end_of_life) {
        ++ended;
        if (begun == shape.lives) continue;
        ++begun;
      }
      talkers[i]->ask();
    }
  }
  return static_cast<double>(shape.lives) / watch.seconds();
}

}  // namespace tarry::bench
