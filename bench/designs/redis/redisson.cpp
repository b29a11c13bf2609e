// S11: the real Redisson, in Java: RDelayedQueue, whose client transfers due messages to the list
// from which consumers pop. Pipes drive redisson_client/Client.java, which ends with this process.
// A popped message is gone. TARRY_REDISSON_CLASSPATH names the built client and its libraries.
#include <fcntl.h>
#include <signal.h>  // NOLINT: kill is POSIX's
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "designs/openers.h"
#include "harness/must.h"

namespace tarry::bench {
namespace {

class RealRedisson final : public Compared {
 public:
  explicit RealRedisson(const Place& place)
      : address_("redis://127.0.0.1:" + std::to_string(place.redis_port)) {
    start();
  }
  ~RealRedisson() override {
    std::fclose(out_);
    std::fclose(in_);
    ::kill(java_, SIGKILL);
    ::waitpid(java_, nullptr, 0);
  }
  RealRedisson(const RealRedisson&) = delete;
  RealRedisson& operator=(const RealRedisson&) = delete;

  void push(std::span<const Message> batch) override {
    std::string words = "push " + std::to_string(batch.size()) + "\n";
    for (const Message& message : batch) {
      words += std::to_string(message.due_ms) + " " + std::string(message.payload) + "\n";
    }
    must(ask(words) == "done", "Redisson takes messages");
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override { return await(max, 0); }
  std::unique_ptr<Claimed> await(std::size_t max, std::int64_t most_ms) override {
    auto taken = std::make_unique<Taken>();
    const std::string count =
        ask("claim " + std::to_string(max) + " " + std::to_string(most_ms) + "\n");
    for (long long i = std::atoll(count.c_str()); i > 0; --i) taken->payloads.push_back(line());
    return taken;
  }
  void settle(const Claimed& /*claimed*/) override {}
  bool cancel(const Message& message) override {
    return ask("cancel " + std::string(message.payload) + "\n") == "true";
  }

 private:
  void rest(std::int64_t /*most_ms*/) override {}

  void start() {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    must(::pipe2(to.data(), O_CLOEXEC) == 0 && ::pipe2(from.data(), O_CLOEXEC) == 0, "pipes");
    const char* const libraries = std::getenv("TARRY_REDISSON_CLASSPATH");
    must(libraries != nullptr, "TARRY_REDISSON_CLASSPATH is set");
    java_ = ::fork();
    must(java_ >= 0, "a process starts");
    if (java_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
      ::execlp("java", "java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", libraries, "Client",
               address_.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = ::fdopen(from[0], "r");
    out_ = ::fdopen(to[1], "w");
    must(line() == "ready", "Redisson starts");
  }

  std::string ask(const std::string& words) {
    must(std::fwrite(words.data(), 1, words.size(), out_) == words.size() && std::fflush(out_) == 0,
         "Redisson listens");
    return line();
  }
  std::string line() {
    std::string text;
    int c = 0;
    while ((c = std::getc(in_)) != '\n') {
      must(c != EOF, "Redisson answers");
      text.push_back(static_cast<char>(c));
    }
    return text;
  }

  const std::string address_;
  pid_t java_ = -1;
  std::FILE* in_ = nullptr;
  std::FILE* out_ = nullptr;
};

}  // namespace

Opened open_redisson(const Place& place, Role /*role*/) {
  return std::make_unique<RealRedisson>(place);
}

}  // namespace tarry::bench
