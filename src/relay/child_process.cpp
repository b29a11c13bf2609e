#include "relay/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/text/text.h"
#include "relay/start_process.h"

namespace tarry::relay {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }
  void close() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

/// Returns a descriptor that is readable once the process has ended; -1 on kernels before 5.3.
int open_pidfd(pid_t pid) noexcept {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0u));
#else
  static_cast<void>(pid);
  return -1;
#endif
}

bool has_ended(pid_t pid) noexcept {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

// If the reader closes the pipe that this thread writes to, the thread gets SIGPIPE. The rest of
// the process must not see this signal, so this class blocks it, and removes a pending one at the
// end.
class NoSigpipe {
 public:
  NoSigpipe() noexcept {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// Writes until all is written, no reader is left, or the command has ended. The last condition is
/// needed because a process that the command started may keep the pipe open for ever.
void feed(Descriptor& pipe, pid_t pid, std::string_view input) {
  const NoSigpipe no_sigpipe;
  const Descriptor ended(open_pidfd(pid));
  const int look_again_ms = ended.get() < 0 ? 50 : -1;
  while (!input.empty()) {
    const ssize_t wrote = ::write(pipe.get(), input.data(), input.size());
    if (wrote >= 0) {
      input.remove_prefix(static_cast<std::size_t>(wrote));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return;  // EPIPE: the command has closed its input
    std::array<pollfd, 2> fds{{{pipe.get(), POLLOUT, 0}, {ended.get(), POLLIN, 0}}};
    static_cast<void>(::poll(fds.data(), fds.size(), look_again_ms));
    if (fds[1].revents != 0 || (ended.get() < 0 && has_ended(pid))) return;
  }
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  // exec takes the words as char*, but does not write to them.
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables,
                                          const std::vector<std::string>& withheld) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (variables.contains(name) || std::ranges::find(withheld, name) != withheld.end()) continue;
    out.emplace_back(text);
  }
  for (const auto& [name, value] : variables) out.emplace_back(name).append("=").append(value);
  return out;
}

std::string why(int error) { return std::strerror(error); }

/// `unavailable` if other programs may free the resource that is short, so that another try may
/// succeed.
ErrorCode code_of(int error) noexcept {
  const bool short_of_something =
      error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;
  return short_of_something ? ErrorCode::unavailable : ErrorCode::io_error;
}

}  // namespace

ChildProcesses::ChildProcesses(std::vector<std::string> command, ChildOptions options)
    : command_(std::move(command)), options_(std::move(options)) {
  TARRY_ASSERT(!command_.empty());
}

Result<void> ChildProcesses::check() const {
  const std::string& program = command_.front();
  if (program.find('/') != std::string::npos) {
    if (::access(program.c_str(), X_OK) == 0) return {};
    const auto code = errno == EACCES ? ErrorCode::permission_denied : ErrorCode::not_found;
    return Error{code, fmt::format("cannot run {}: {}", base::quoted(program), why(errno))};
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!program.empty()) {
    const std::size_t colon = rest.find(':');
    std::string candidate(rest.substr(0, colon));
    candidate += (candidate.empty() ? "./" : "/") + program;
    if (::access(candidate.c_str(), X_OK) == 0) return {};
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return Error{ErrorCode::not_found,
               fmt::format("cannot run {}: not found in PATH", base::quoted(program))};
}

Result<pid_t> ChildProcesses::start(int input, const std::vector<std::string>& environment) const {
  const std::vector<char*> words = pointers(command_);
  const std::vector<char*> variables = pointers(environment);
  Launch launch{words.data(), variables.data(), input, {}};
  if (options_.descriptors) {
    rlimit& limit = launch.descriptors.emplace();
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
      launch.descriptors.reset();
    } else {
      limit.rlim_cur = std::min<rlim_t>(*options_.descriptors, limit.rlim_max);
    }
  }
  pid_t pid = -1;
  const int error = start_process(launch, pid);
  if (error == 0) return pid;
  return Error{code_of(error),
               fmt::format("cannot run {}: {}", base::quoted(command_.front()), why(error))};
}

Result<Ended> ChildProcesses::wait_for(pid_t pid) {
  // Waits first without reaping: as long as this command is on the list, no other process may get
  // its number.
  siginfo_t info{};
  int result = 0;
  do {
    result = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  } while (result != 0 && errno == EINTR);
  {
    const std::lock_guard lock(mutex_);
    running_.erase(pid);
  }
  int status = 0;
  do {
    result = ::waitpid(pid, &status, 0);
  } while (result < 0 && errno == EINTR);
  if (result < 0) {
    return Error{ErrorCode::unknown_outcome,
                 fmt::format("{} has ended, nobody knows how: SIGCHLD is ignored, or its exit "
                             "status was taken by somebody else",
                             base::quoted(command_.front()))};
  }
  if (WIFSIGNALED(status)) return Ended{0, WTERMSIG(status)};
  return Ended{WEXITSTATUS(status), 0};
}

Result<Ended> ChildProcesses::run(std::string_view input,
                                  const std::map<std::string, std::string>& variables) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    return Error{code_of(error), fmt::format("cannot make a pipe: {}", why(error))};
  }
  Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  // Only our end is non-blocking: the command expects an input that blocks.
  ::fcntl(writing.get(), F_SETFL, O_NONBLOCK);
  pid_t pid = 0;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Error{ErrorCode::closed, "commands were told to end"};
    const auto started = start(reading.get(), environment_with(variables, options_.withheld));
    if (!started) return started.error();
    pid = *started;
    running_.insert(pid);
  }
  reading.close();
  feed(writing, pid, input);
  writing.close();
  return wait_for(pid);
}

void ChildProcesses::signal_all(int signal) {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const pid_t pid : running_) ::kill(-pid, signal);
}

}  // namespace tarry::relay
