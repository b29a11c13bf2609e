#include "figures/piped_jobs.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

/// One connection. Its requests are those of one step, `depth` of them at once.
class JobTalker {
 public:
  JobTalker(std::uint16_t port, const PipedJobs& shape)
      : depth_(shape.depth), fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
         "the server is there");
    const int on = 1;
    must(::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY is set");
    const std::string put = "put 0 0 60 " + std::to_string(shape.payload) + "\r\n" +
                            std::string(shape.payload, 'x') + "\r\n";
    for (std::size_t i = 0; i < depth_; ++i) puts_ += put, reserves_ += "reserve\r\n";
  }
  ~JobTalker() { ::close(fd_); }
  JobTalker(const JobTalker&) = delete;
  JobTalker& operator=(const JobTalker&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }

  void put() { begin(Step::put, puts_); }

  /// Reads the bytes that have come; true after the last answer of a life.
  bool listen() {
    char piece[65'536];
    const ssize_t got = ::recv(fd_, piece, sizeof piece, 0);
    must(got > 0, "the server answers");
    heard_.append(piece, static_cast<std::size_t>(got));
    std::size_t at = 0;
    while (take(at)) ++answers_;
    heard_.erase(0, at);
    if (answers_ < depth_) return false;
    must(heard_.empty(), "one answer follows one request");
    if (step_ == Step::put) {
      deletes_.clear();
      begin(Step::reserve, reserves_);
    } else if (step_ == Step::reserve) {
      begin(Step::remove, deletes_);
    } else {
      return true;
    }
    return false;
  }

 private:
  enum class Step { put, reserve, remove };

  // The requests of a step may be more than the socket's buffer takes; the server reads them
  // without waiting for us.
  void begin(Step step, std::string_view requests) {
    step_ = step;
    answers_ = 0;
    while (!requests.empty()) {
      const ssize_t sent = ::send(fd_, requests.data(), requests.size(), MSG_NOSIGNAL);
      must(sent > 0, "requests are sent");
      requests.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// Takes the answer that begins at `at`, if it is whole.
  bool take(std::size_t& at) {
    const std::size_t line = heard_.find("\r\n", at);
    if (line == std::string::npos) return false;
    const std::string_view answer = std::string_view(heard_).substr(at, line - at);
    std::size_t end = line + 2;
    if (step_ == Step::reserve) {
      must(answer.starts_with("RESERVED "), "a job is reserved");
      const std::size_t space = answer.find(' ', 9);
      std::size_t bytes = 0;
      std::from_chars(answer.data() + space + 1, answer.data() + answer.size(), bytes);
      end += bytes + 2;
      if (heard_.size() < end) return false;
      deletes_.append("delete ").append(answer.substr(9, space - 9)).append("\r\n");
    } else {
      must(answer.starts_with(step_ == Step::put ? "INSERTED " : "DELETED"), "an answer is good");
    }
    at = end;
    return true;
  }

  const std::size_t depth_;
  const int fd_;
  std::string puts_;
  std::string reserves_;
  std::string deletes_;
  std::string heard_;
  Step step_ = Step::put;
  std::size_t answers_ = 0;
};

}  // namespace

double live_piped_jobs(std::uint16_t port, const PipedJobs& shape) {
  std::vector<std::unique_ptr<JobTalker>> talkers;
  std::vector<pollfd> waits;
  for (std::size_t i = 0; i < shape.connections; ++i) {
    talkers.push_back(std::make_unique<JobTalker>(port, shape));
    waits.push_back({talkers.back()->fd(), POLLIN, 0});
  }
  constexpr int kPatienceMs = 60'000;
  const std::size_t rounds = std::max(shape.lives / shape.depth, shape.connections);
  const Stopwatch watch;
  std::size_t begun = talkers.size();
  std::size_t ended = 0;
  for (const auto& talker : talkers) talker->put();
  while (ended < rounds) {
    must(::poll(waits.data(), waits.size(), kPatienceMs) > 0, "the server answers in a minute");
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0 || !talkers[i]->listen()) continue;
      ++ended;
      if (begun == rounds) continue;
      ++begun;
      talkers[i]->put();
    }
  }
  return static_cast<double>(rounds * shape.depth) / watch.seconds();
}

}  // namespace tarry::bench
