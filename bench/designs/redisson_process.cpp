#include "designs/redisson_process.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT: kill is POSIX's
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr const char* kClassPath = "TARRY_REDISSON_CLASSPATH";

}  // namespace

std::string RedissonProcess::missing() {
  if (const char* const path = std::getenv(kClassPath); path != nullptr && *path != '\0') return {};
  return std::string("Java, Maven or Redisson's library is not there (") + kClassPath + ")";
}

RedissonProcess::RedissonProcess(std::uint16_t port) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  must(::pipe2(to.data(), O_CLOEXEC) == 0 && ::pipe2(from.data(), O_CLOEXEC) == 0, "pipes");
  const char* const libraries = std::getenv(kClassPath);
  must(libraries != nullptr, std::string(kClassPath) + " is set");
  const std::string address = "redis://127.0.0.1:" + std::to_string(port);
  java_ = ::fork();
  must(java_ >= 0, "a process starts");
  if (java_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    ::execlp("java", "java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", libraries, "Client",
             address.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  in_ = ::fdopen(from[0], "r");
  out_ = ::fdopen(to[1], "w");
  must(line() == "ready", "Redisson starts");
}

RedissonProcess::~RedissonProcess() {
  std::fclose(out_);
  std::fclose(in_);
  ::kill(java_, SIGKILL);
  ::waitpid(java_, nullptr, 0);
}

void RedissonProcess::push(std::span<const Message> batch) {
  std::string words = "push " + std::to_string(batch.size()) + "\n";
  for (const Message& message : batch) {
    words += std::to_string(message.due_ms) + " " + std::string(message.payload) + "\n";
  }
  must(ask(words) == "done", "Redisson takes messages");
}

std::vector<std::string> RedissonProcess::pop(std::size_t max, std::int64_t most_ms) {
  const std::string count =
      ask("claim " + std::to_string(max) + " " + std::to_string(most_ms) + "\n");
  std::vector<std::string> values;
  for (long long i = std::atoll(count.c_str()); i > 0; --i) values.push_back(line());
  return values;
}

bool RedissonProcess::remove(std::string_view payload) {
  return ask("cancel " + std::string(payload) + "\n") == "true";
}

std::string RedissonProcess::ask(const std::string& words) {
  must(std::fwrite(words.data(), 1, words.size(), out_) == words.size() && std::fflush(out_) == 0,
       "Redisson listens");
  return line();
}

std::string RedissonProcess::line() {
  std::string text;
  int c = 0;
  while ((c = std::getc(in_)) != '\n') {
    must(c != EOF, "Redisson answers");
    text.push_back(static_cast<char>(c));
  }
  return text;
}

}  // namespace tarry::bench
