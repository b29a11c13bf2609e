#include "figures/one_at_a_time.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

/// What a client says in one protocol, and how it reads the answers.
class Dialect {
 public:
  virtual ~Dialect() = default;
  Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;

  /// `token`: what the claim answered.
  [[nodiscard]] virtual std::string request(Step step, std::string_view token) const = 0;
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

  std::string request(Step step, std::string_view token) const override {
    if (step == Step::push) return push_;
    if (step == Step::claim) return claim_;
    return post("/v1/settle",
                R"({"items":[{"receipt":")" + std::string(token) + R"(","action":"ack"}]})");
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

  std::string request(Step step, std::string_view token) const override {
    if (step == Step::push) return push_;
    return step == Step::claim ? "reserve\r\n" : "delete " + std::string(token) + "\r\n";
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

class Talker {
 public:
  Talker(const Dialect& dialect, std::uint16_t port)
      : dialect_(dialect), fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
         "the server is there");
    const int on = 1;
    must(::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY is set");
  }
  ~Talker() { ::close(fd_); }
  Talker(const Talker&) = delete;
  Talker& operator=(const Talker&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }

  // A request of a few hundred bytes always fits into the socket's empty buffer.
  void ask() {
    const std::string text = dialect_.request(step_, token_);
    must(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()),
         "a request is sent");
  }
  enum class Heard { part, answer, end_of_life };
  /// Reads the bytes that have come.
  Heard listen() {
    char piece[16'384];
    const ssize_t got = ::recv(fd_, piece, sizeof piece, 0);
    must(got > 0, "the server answers");
    heard_.append(piece, static_cast<std::size_t>(got));
    const std::size_t length = dialect_.length(heard_);
    if (length == 0) return Heard::part;
    must(length == heard_.size(), "one answer follows one request");
    token_ = dialect_.token(step_, heard_);
    if (token_.empty()) give_up("a request is answered well", heard_);
    heard_.clear();
    step_ = after(step_);
    return step_ == Step::push ? Heard::end_of_life : Heard::answer;
  }

 private:
  const Dialect& dialect_;
  const int fd_;
  Step step_ = Step::push;
  std::string token_;
  std::string heard_;
};

std::unique_ptr<Dialect> dialect_of(Spoken spoken, std::size_t payload) {
  if (spoken == Spoken::http) return std::make_unique<Http>(payload);
  return std::make_unique<Beanstalk>(payload);
}

}  // namespace

double live_one_at_a_time(Spoken spoken, std::uint16_t port, const OneAtATime& shape) {
  const auto dialect = dialect_of(spoken, shape.payload);
  std::vector<std::unique_ptr<Talker>> talkers;
  std::vector<pollfd> waits;
  for (std::size_t i = 0; i < std::min(shape.connections, shape.lives); ++i) {
    talkers.push_back(std::make_unique<Talker>(*dialect, port));
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
