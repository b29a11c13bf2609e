#include "comparison/apart.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "harness/must.h"

namespace tarry::bench {
namespace {

std::string text_in(int file) {
  std::string text;
  char chunk[4096];
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t n = 0; (n = ::read(file, chunk, sizeof chunk)) > 0;) {
    text.append(chunk, static_cast<std::size_t>(n));
  }
  return text;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

[[noreturn]] void run_child(const std::function<void(Results&)>& body, int out,
                            unsigned longest_s) {
  ::alarm(longest_s);
  Results found;
  body(found);
  std::string text;
  for (const auto& [name, value] : found) {
    char line[200];
    std::snprintf(line, sizeof line, "%s %.17g\n", name.c_str(), value);
    text += line;
  }
  const bool told = ::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  std::fflush(nullptr);
  ::_exit(told ? 0 : 1);
}

}  // namespace

std::string run_apart(const std::function<void(Results&)>& body, Results& results,
                      unsigned longest_s) {
  const int out = ::memfd_create("results", MFD_CLOEXEC);
  const int errors = ::memfd_create("errors", MFD_CLOEXEC);
  must(out >= 0 && errors >= 0, "files in memory are made");
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  must(pid >= 0, "a process starts");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::dup2(errors, STDERR_FILENO);
    run_child(body, out, longest_s);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  std::istringstream found(text_in(out));
  const std::string said = last_line(text_in(errors));
  ::close(out);
  ::close(errors);
  std::string name;
  double value = 0;
  while (found >> name >> value) results[name] = value;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM
               ? "it did not end within " + std::to_string(longest_s) + " s"
               : std::string("it ended by ") + ::strsignal(WTERMSIG(status));
  }
  return said.empty() ? "it failed" : said;
}

}  // namespace tarry::bench
