// beanstalkd, by its own protocol: put with a delay in whole seconds, rounded up so that no job is
// early, reserve, and delete. If a consumer dies, its jobs are ready at once, because its
// connection ended.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "designs/openers.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class Beanstalkd final : public Compared {
 public:
  explicit Beanstalkd(const Place& place)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        ttr_s_(std::max<std::int64_t>(1, place.lease_ms / 1'000)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(place.beanstalk_port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
         "beanstalkd is there");
  }
  ~Beanstalkd() override { ::close(fd_); }
  Beanstalkd(const Beanstalkd&) = delete;
  Beanstalkd& operator=(const Beanstalkd&) = delete;

  void push(std::span<const Message> batch) override {
    std::string words;
    for (const Message& message : batch) {
      words += "put 0 " + std::to_string(delay_s(message.due_ms)) + " " + std::to_string(ttr_s_) +
               " " + std::to_string(message.payload.size()) + "\r\n";
      words.append(message.payload).append("\r\n");
    }
    say(words, batch.size());
    for (const Message& message : batch) {
      const std::string answer = line();
      must(answer.starts_with("INSERTED "), "a put is answered: " + answer);
      if (batch.size() < kRemembered) ids_[std::string(message.key)] = answer.substr(9);
    }
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override {
    constexpr std::size_t kFirst = 10;  // if all of these find a job, it asks for the rest too
    auto taken = std::make_unique<Taken>();
    reserve(std::min(max, kFirst), *taken);
    if (taken->size() == kFirst && max > kFirst) reserve(max - kFirst, *taken);
    return taken;
  }
  // If no job is ready, a single `reserve` waits for the next one.
  std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms) override {
    auto taken = claim(max);
    if (taken->size() > 0) return taken;
    if (most_ms < 1'000) {
      rest(most_ms);
      return claim(max);
    }
    say("reserve-with-timeout " + std::to_string(most_ms / 1'000) + "\r\n", 1);
    take(static_cast<Taken&>(*taken));
    return taken;
  }
  void settle(const Claimed& claimed) override {
    const auto& ids = static_cast<const Taken&>(claimed).tokens;
    std::string words;
    for (const auto& id : ids) words += "delete " + id + "\r\n";
    say(words, ids.size());
    // Or NOT_FOUND, if its time had run out.
    for (std::size_t i = 0; i < ids.size(); ++i) (void)line();
  }
  bool cancel(const Message& message) override {
    say("delete " + ids_[std::string(message.key)] + "\r\n", 1);
    return line() == "DELETED";
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    Taken job;
    say("reserve-job " + ids_[std::string(message.key)] + "\r\n", 1);
    take(job);
    if (job.size() == 0) return false;
    say("release " + job.tokens[0] + " 0 " + std::to_string(delay_s(due_ms)) + "\r\n", 1);
    return line() == "RELEASED";
  }
  std::uint64_t requests() const override { return requests_; }

 private:
  static constexpr std::string_view kReserve = "reserve-with-timeout 0\r\n";
  static constexpr std::size_t kRemembered = 10;  // the ids of larger batches are never needed
  static std::int64_t delay_s(std::int64_t due_ms) {
    return std::max<std::int64_t>(0, (due_ms - now_ms() + 999) / 1'000);
  }
  void rest(std::int64_t most_ms) override { sleep(10, most_ms); }

  void reserve(std::size_t count, Taken& taken) {
    std::string words;
    while (words.size() < count * kReserve.size()) words += kReserve;
    say(words, count);
    while (count-- > 0) take(taken);
  }
  void say(std::string_view words, std::size_t commands) {
    requests_ += commands;
    while (!words.empty()) {
      const ssize_t sent = ::send(fd_, words.data(), words.size(), MSG_NOSIGNAL);
      must(sent > 0, "beanstalkd listens");
      words.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void read_more() {
    char chunk[65536];
    const ssize_t got = ::recv(fd_, chunk, sizeof chunk, 0);
    must(got > 0, "beanstalkd answers");
    heard_.erase(0, std::exchange(at_, 0));
    heard_.append(chunk, static_cast<std::size_t>(got));
  }
  std::string line() {
    std::size_t end = 0;
    while ((end = heard_.find("\r\n", at_)) == std::string::npos) read_more();
    const std::string text = heard_.substr(at_, end - at_);
    at_ = end + 2;
    return text;
  }
  void take(Taken& taken) {
    const std::string answer = line();
    if (!answer.starts_with("RESERVED ")) return;  // TIMED_OUT, DEADLINE_SOON or NOT_FOUND
    const std::size_t space = answer.find(' ', 9);
    const auto size = static_cast<std::size_t>(std::stoull(answer.substr(space + 1)));
    while (heard_.size() - at_ < size + 2) read_more();
    taken.tokens.push_back(answer.substr(9, space - 9));
    taken.payloads.push_back(heard_.substr(at_, size));
    at_ += size + 2;
  }

  const int fd_;
  const std::int64_t ttr_s_;
  std::string heard_;
  std::size_t at_ = 0;  // the position up to which heard_ was read
  std::unordered_map<std::string, std::string> ids_;
  std::uint64_t requests_ = 0;
};

}  // namespace

Opened open_beanstalkd(const Place& place, Role /*role*/) {
  return std::make_unique<Beanstalkd>(place);
}

}  // namespace tarry::bench
