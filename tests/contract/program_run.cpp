#include "program_run.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace tarry::contract {
namespace {

// Memory instead of a pipe, so that nobody has to read while the program runs.
class SpawnedFile {
 public:
  explicit SpawnedFile(std::string_view content) : fd_(::memfd_create("tarry", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error(std::string("memfd_create: ") + std::strerror(errno));
    if (::pwrite(fd_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size())) {
      throw std::runtime_error("memfd: a short write");
    }
  }
  ~SpawnedFile() { ::close(fd_); }
  SpawnedFile(const SpawnedFile&) = delete;
  SpawnedFile& operator=(const SpawnedFile&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] std::string content() const {
    std::string all(static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    if (::pread(fd_, all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) {
      throw std::runtime_error("memfd: a short read");
    }
    return all;
  }

 private:
  int fd_;
};

pid_t spawn(const std::vector<std::string>& words, int in, int out, int err) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  // The program must not inherit the sockets of the test's server: a connection would stay open
  // although the test has closed it.
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  std::string program = TARRY_PROGRAM;
  std::vector<char*> arguments{program.data()};
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int failed =
      ::posix_spawn(&pid, program.c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error(program + ": " + std::strerror(failed));
  return pid;
}

}  // namespace

Ran ProgramRun::run_to_end(const std::vector<std::string>& words, std::string_view input) {
  const SpawnedFile in(input);
  const SpawnedFile out({});
  const SpawnedFile err({});
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return {128 + SIGKILL, {}, {}};
    running_ = spawn(words, in.fd(), out.fd(), err.fd());
  }
  // First wait until the program has ended, then reap it under the lock. So `stop` never signals a
  // pid that belongs to another process by now.
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(running_), &ended, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitid: ") + std::strerror(errno));
  }
  int status = 0;
  {
    const std::lock_guard lock(mutex_);
    ::waitpid(running_, &status, 0);
    running_ = 0;
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, out.content(), err.content()};
}

void ProgramRun::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (running_ != 0) ::kill(running_, SIGKILL);
}

}  // namespace tarry::contract
