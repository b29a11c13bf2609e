// A rabbitmq-server of a test's own: in a fresh directory, on free ports of 127.0.0.1, with an epmd
// of its own and no plugins. It takes some seconds to start. Tests skip if it is not installed.
//
// Server, epmd and a shell that guards them run in one process group and end with it. The shell
// kills the group when the pipe to the test closes, so that a test that is killed leaves none.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/redis_server.h"

namespace tarry::testing {

class RabbitServer {
 public:
  [[nodiscard]] static bool is_installed() { return ::access(kProgram, X_OK) == 0; }

  /// Throws where it does not come up.
  explicit RabbitServer(const std::string& config = {}) {
    std::string path = (std::filesystem::temp_directory_path() / "tarry-rabbit-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp " + path);
    directory_ = path;
    write_settings(config);
    // Rarely, on a busy machine, one stands still while it starts.
    for (int tries = 3; !start();) {
      const std::string said = log();
      end();
      if (--tries == 0) throw std::runtime_error("rabbitmq-server does not start: " + said);
      std::filesystem::create_directory(directory_);
      write_settings(config);
    }
  }
  RabbitServer(const RabbitServer&) = delete;
  RabbitServer& operator=(const RabbitServer&) = delete;
  ~RabbitServer() { end(); }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  /// The server stays there, but answers nothing until `cont`.
  void pause() const {
    ::kill(-group_, SIGSTOP);
    // The broker is no child of ours, and one of its threads may go on for a moment.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!stands_still()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it does not stop");
      ::poll(nullptr, 0, 1);
    }
  }
  void cont() const { ::kill(-group_, SIGCONT); }
  /// The processes of the server's group: the broker, its helpers, epmd.
  [[nodiscard]] std::vector<pid_t> processes() const {
    std::vector<pid_t> all;
    std::error_code gone;
    for (const auto& process : std::filesystem::directory_iterator("/proc", gone)) {
      const std::string name = process.path().filename();
      if (name[0] < '0' || name[0] > '9' || state_of(process.path()).second != group_) continue;
      all.push_back(std::stoi(name));
    }
    return all;
  }
  [[nodiscard]] std::string log() const {
    std::ifstream file(directory_ + "/output");
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static constexpr const char* kProgram = "/usr/lib/rabbitmq/bin/rabbitmq-server";

  void write_settings(const std::string& config) const {
    std::ofstream(directory_ + "/plugins") << "[].\n";
    std::ofstream(directory_ + "/rabbit.conf") << config;
  }

  /// Whether it has come up.
  [[nodiscard]] bool start() {
    port_ = RedisServer::free_port();
    const std::string epmd_port = std::to_string(RedisServer::free_port());
    const std::vector<std::string> environment = {
        "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME=" + directory_,
        "RABBITMQ_NODENAME=tarry-" + std::to_string(port_) + "@localhost",
        "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
        "RABBITMQ_NODE_PORT=" + std::to_string(port_),
        "RABBITMQ_DIST_PORT=" + std::to_string(RedisServer::free_port()),
        "ERL_EPMD_PORT=" + epmd_port,
        "ERL_EPMD_ADDRESS=127.0.0.1",
        "RABBITMQ_MNESIA_BASE=" + directory_ + "/mnesia",
        "RABBITMQ_LOG_BASE=" + directory_ + "/log",
        "RABBITMQ_GENERATED_CONFIG_DIR=" + directory_ + "/generated",
        "RABBITMQ_ENABLED_PLUGINS_FILE=" + directory_ + "/plugins",
        "RABBITMQ_CONFIG_FILE=" + directory_ + "/rabbit",
        "RABBITMQ_CONF_ENV_FILE=/dev/null",
        "RABBITMQ_LOGS=-",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none"};
    const std::string script = "epmd -address 127.0.0.1 -port " + epmd_port + " & (" + kProgram +
                               "; kill -KILL 0) & read end; kill -KILL 0";
    std::vector<std::string> words = {"/bin/sh", "-c", script};
    std::vector<char*> argv;
    std::vector<char*> envp;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    for (const std::string& entry : environment) envp.push_back(const_cast<char*>(entry.data()));
    envp.push_back(nullptr);
    const std::string output = directory_ + "/output";
    std::array<int, 2> guard{};
    if (::pipe2(guard.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    group_ = ::fork();
    if (group_ < 0) throw std::runtime_error("fork");
    if (group_ == 0) {
      // The child: only what is safe after fork in a program with threads.
      ::setpgid(0, 0);
      const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(guard[0], STDIN_FILENO);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      ::close_range(STDERR_FILENO + 1, ~0U, 0);
      ::execve(argv[0], argv.data(), envp.data());
      ::_exit(127);
    }
    ::setpgid(group_, group_);
    ::close(guard[0]);
    guard_ = guard[1];
    return wait_until_up();
  }

  [[nodiscard]] bool wait_until_up() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, group_, 0));
    bool ended = false;
    while (!ended && std::chrono::steady_clock::now() < deadline) {
      if (log().find("Server startup complete") != std::string::npos) {
        ::close(process);
        return true;
      }
      pollfd end{process, POLLIN, 0};
      ended = ::poll(&end, 1, 50) > 0;
    }
    ::close(process);
    return false;
  }

  /// All threads of all processes of the group.
  [[nodiscard]] bool stands_still() const {
    std::error_code gone;
    for (const pid_t process : processes()) {
      for (const auto& thread : std::filesystem::directory_iterator(
               "/proc/" + std::to_string(process) + "/task", gone)) {
        const char state = state_of(thread.path()).first;
        if (state != 'T' && state != 'Z' && state != 'X' && state != '?') return false;
      }
    }
    return true;
  }
  /// State and process group, as proc(5) has them in `stat`; '?' where there is none.
  static std::pair<char, pid_t> state_of(const std::filesystem::path& directory) {
    std::ifstream file(directory / "stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return {'?', -1};
    std::istringstream rest(stat.substr(name_end + 1));
    char state = '?';
    pid_t parent = 0;
    pid_t group = -1;
    rest >> state >> parent >> group;
    return {state, group};
  }

  void end() {
    if (group_ > 0) {
      ::kill(-group_, SIGKILL);
      int status = 0;
      while (::waitpid(group_, &status, 0) < 0 && errno == EINTR) {
      }
      group_ = -1;
      ::close(guard_);
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string directory_;
  std::uint16_t port_ = 0;
  pid_t group_ = -1;
  int guard_ = -1;  // closed with this process, whatever ends it
};

}  // namespace tarry::testing
