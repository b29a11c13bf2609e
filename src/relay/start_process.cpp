#include "relay/start_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace tarry::relay {
namespace {

/// The child's descriptor on which it reports why it could not start the program.
constexpr int kStatus = STDERR_FILENO + 1;

/// Resets our handlers, which must not run in the child: it shares our memory until it runs another
/// program.
void forget_handlers() noexcept {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) != 0) continue;
    const bool is_handler = (action.sa_flags & SA_SIGINFO) != 0 ||
                            (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
    // This process ignores SIGPIPE, but the program should not. If SIGCHLD stayed ignored, the
    // program would not learn how its own children ended.
    if (!is_handler && signal != SIGPIPE && signal != SIGCHLD) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    static_cast<void>(::sigaction(signal, &action, nullptr));
  }
}

/// Runs in the child. It makes only system calls, because a lock may be held by a thread that does
/// not exist in the child.
[[noreturn]] void become(const Launch& launch, int status) noexcept {
  static_cast<void>(::setpgid(0, 0));
  forget_handlers();
  bool good = launch.input == STDIN_FILENO ? ::fcntl(STDIN_FILENO, F_SETFD, 0) == 0
                                           : ::dup2(launch.input, STDIN_FILENO) >= 0;
  if (status != kStatus) good = good && ::dup3(status, kStatus, O_CLOEXEC) >= 0;
  if (good) {
    // Some of our libraries open descriptors without O_CLOEXEC. A long-running command would keep
    // these connections open, and could write to them.
    ::closefrom(kStatus + 1);
    if (launch.descriptors) {
      static_cast<void>(::setrlimit(RLIMIT_NOFILE, &*launch.descriptors));
    }
    sigset_t none;
    ::sigemptyset(&none);
    static_cast<void>(::sigprocmask(SIG_SETMASK, &none, nullptr));
    ::execvpe(launch.words[0], launch.words, launch.environment);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told =
      ::write(status == kStatus || good ? kStatus : status, &error, sizeof error);
  ::_exit(127);
}

/// A function of its own, so that the child cannot change the caller's variables. vfork, because
/// fork would copy the page tables of a store of gigabytes.
pid_t divide(const Launch& launch, int status) noexcept {
  const pid_t pid = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): see above
  if (pid == 0) become(launch, status);
  return pid;
}

/// Reads the child's report. 0: the program has started, which closed the child's end of the pipe.
int read_status(int fd) noexcept {
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

}  // namespace

int start_process(const Launch& launch, pid_t& pid) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  pid = divide(launch, ends[1]);
  int error = pid < 0 ? errno : 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  if (pid > 0) error = read_status(ends[0]);
  ::close(ends[0]);
  if (pid > 0 && error != 0) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return error;
}

}  // namespace tarry::relay
