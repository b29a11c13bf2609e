#include "harness/child.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>  // NOLINT: kill is POSIX's
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "harness/must.h"

namespace tarry::bench {

Wire::~Wire() {
  ::close(in_);
  ::close(out_);
}

void Wire::tell(double number) {
  must(::write(out_, &number, sizeof number) == sizeof number, "the other process is told");
}

double Wire::hear() {
  double number = 0;
  must(::read(in_, &number, sizeof number) == sizeof number, "the other process answers");
  return number;
}

Child::Child(const std::function<void(Wire&)>& body) {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  must(::pipe2(down.data(), O_CLOEXEC) == 0 && ::pipe2(up.data(), O_CLOEXEC) == 0, "pipes");
  std::fflush(nullptr);
  pid_ = ::fork();
  must(pid_ >= 0, "a process starts");
  if (pid_ == 0) {
    ::close(down[1]);
    ::close(up[0]);
    {
      Wire wire(down[0], up[1]);
      body(wire);
    }
    std::fflush(nullptr);
    ::_exit(0);
  }
  ::close(down[0]);
  ::close(up[1]);
  wire_ = std::make_unique<Wire>(up[0], down[1]);
}

Child::~Child() {
  if (pid_ != 0) kill();
}

void Child::kill() {
  must(pid_ != 0, "the process runs");
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(std::exchange(pid_, 0), &status, 0);
}

void Child::join() {
  must(pid_ != 0, "the process runs");
  int status = 0;
  ::waitpid(std::exchange(pid_, 0), &status, 0);
  must(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the process ends well");
}

double anonymous_bytes() {
  ::malloc_trim(0);
  std::ifstream in("/proc/self/status");
  std::string word;
  while (in >> word) {
    if (word != "RssAnon:") continue;
    double kib = 0;
    in >> kib;
    return kib * 1024;
  }
  give_up("/proc/self/status", "it says nothing of RssAnon");
}

}  // namespace tarry::bench
