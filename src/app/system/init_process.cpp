#include "app/system/init_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace tarry::app {
namespace {

constexpr std::array kPassedOn{SIGTERM, SIGINT, SIGHUP, SIGQUIT};

/// Reaps processes that have ended. Returns true once `child` has ended; its wait status is then in
/// `status`.
bool reap(pid_t child, int& status) {
  bool child_ended = false;
  for (;;) {
    int one = 0;
    const pid_t pid = ::waitpid(-1, &one, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return child_ended;
    if (pid != child) continue;
    child_ended = true;
    status = one;
  }
}

[[noreturn]] void be_init(pid_t child, const sigset_t& awaited) {
  int status = 0;
  for (;;) {
    const int signal = ::sigwaitinfo(&awaited, nullptr);
    if (signal > 0 && signal != SIGCHLD) static_cast<void>(::kill(child, signal));
    if (signal == SIGCHLD && reap(child, status)) break;
  }
  // When process 1 ends, the kernel ends the rest of the container.
  std::_Exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

void leave_process_one_to_an_init() {
  if (::getpid() != 1) return;
  sigset_t awaited;
  sigset_t before;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGCHLD);
  for (const int signal : kPassedOn) ::sigaddset(&awaited, signal);
  // Signals are blocked before the child exists, so that none is missed.
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const pid_t child = ::fork();
  if (child > 0) be_init(child, awaited);
  // Without a process group of its own, the child would get a Ctrl-C at a terminal twice: from the
  // terminal, and from process 1.
  if (child == 0) static_cast<void>(::setpgid(0, 0));
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace tarry::app
