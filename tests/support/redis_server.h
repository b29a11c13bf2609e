// A test's own redis-server: in a new directory, on a unix socket there and on a free port of
// 127.0.0.1. Nothing is kept on disk unless the arguments say so ("--appendonly", "yes").
//
// If `config` is not empty, the server runs with a configuration file of these lines, to which it
// may write, as a sentinel does.
//
// The server dies with the thread that started it (PR_SET_PDEATHSIG), so that no test that crashes
// leaves one behind: call `start` on a thread that outlives the server.
//
// TARRY_REDIS_SERVER in the environment names a program instead of /usr/bin/redis-server.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tarry::testing {

class RedisServer {
 public:
  /// Starts the server. `args` come after ours on its command line, and so override them. Throws if
  /// the server does not come up, which GoogleTest reports as a failure.
  explicit RedisServer(std::vector<std::string> args = {}, const std::string& config = {})
      : args_(std::move(args)),
        directory_(fresh_directory()),
        has_config_(!config.empty()),
        port_(free_port()) {
    try {
      if (has_config_) std::ofstream(config_file()) << config;
      start();
    } catch (...) {
      remove_directory();
      throw;
    }
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() {
    kill9();
    remove_directory();
  }

  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] std::string socket_path() const { return directory_ + "/redis.sock"; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// -1: not running.
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Starts the server again, in the same directory and on the same port. Returns when it answers.
  void start() {
    constexpr int kAttempts = 5;  // another program may take the port before the server does
    for (int attempt = 1; pid_ < 0; ++attempt) {
      spawn();
      if (wait_until_up()) return;
      kill9();
      if (attempt == kAttempts) throw std::runtime_error("redis-server does not start: " + log());
      if (!was_up_) port_ = free_port();
    }
  }
  /// Starts the server again, and returns while it still loads its data from disk.
  void start_loading() {
    spawn();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!ask({"PING"}).starts_with("-LOADING")) {
      if (ends_within(2) || std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error("redis-server does not load anything: " + log());
      }
    }
  }
  /// Ends the server as a crash would.
  void kill9() { end_with(SIGKILL); }
  /// Ends the server by an orderly shutdown.
  void stop() { end_with(SIGTERM); }
  void restart() {
    stop();
    start();
  }
  /// The server stays, but answers nothing until `cont`.
  void pause() {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    while (::waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
    }
  }
  void cont() { ::kill(pid_, SIGCONT); }

  /// Waits that long. True if the server was still alive at the end.
  [[nodiscard]] bool alive_for(int ms) const { return !ends_within(ms); }

  /// Sends one command on a new connection, and returns the reply's bytes ("+OK\r\n"). A bulk reply
  /// is complete; of an array only the first bytes are returned. Empty if no reply came.
  [[nodiscard]] std::string ask(const std::vector<std::string>& words) const {
    const int fd = connect_to_socket();
    if (fd < 0) return {};
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) {
      bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    }
    std::string reply;
    if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
        static_cast<ssize_t>(bytes.size())) {
      char chunk[4096];
      while (!is_whole(reply)) {
        const ssize_t n = ::recv(fd, chunk, sizeof chunk, 0);
        if (n <= 0) break;
        reply.append(chunk, static_cast<std::size_t>(n));
      }
    }
    ::close(fd);
    return is_whole(reply) ? reply : std::string();
  }

  /// What the server wrote to its log.
  [[nodiscard]] std::string log() const {
    std::ifstream file(directory_ + "/redis.log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// A free port of 127.0.0.1 outside the range from which the system gives ports to clients.
  /// Otherwise, while the server is down, a client that connects to this port could get it as its
  /// own port, and be connected to itself.
  [[nodiscard]] static std::uint16_t free_port() {
    constexpr int kLeast = 10'000;
    int above = 0;
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> above;
    std::random_device random;
    for (int tries = 0; tries < 1'000; ++tries) {
      const int asked =
          above > kLeast ? std::uniform_int_distribution<int>(kLeast, above - 1)(random) : 0;
      if (const std::uint16_t port = bound_port(static_cast<std::uint16_t>(asked)); port != 0) {
        return port;
      }
    }
    throw std::runtime_error("no free port");
  }

 private:
  /// 0 if the port is taken.
  static std::uint16_t bound_port(std::uint16_t asked) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(asked);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                       ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(fd);
    return bound ? ntohs(address.sin_port) : std::uint16_t{0};
  }
  static std::string fresh_directory() {
    std::string path = (std::filesystem::temp_directory_path() / "tarry-redis-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp " + path);
    return path;
  }

  [[nodiscard]] std::string config_file() const { return directory_ + "/redis.conf"; }

  void spawn() {
    const char* program = std::getenv("TARRY_REDIS_SERVER");
    if (program == nullptr) program = "/usr/bin/redis-server";
    std::vector<std::string> words = {program};
    if (has_config_) words.push_back(config_file());
    words.insert(words.end(),
                 {"--bind", "127.0.0.1", "--port", std::to_string(port_), "--unixsocket",
                  socket_path(), "--dir", directory_, "--logfile", directory_ + "/redis.log",
                  "--save", "", "--appendonly", "no", "--daemonize", "no"});
    words.insert(words.end(), args_.begin(), args_.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::unlink(socket_path().c_str());  // a killed server leaves it

    const std::string log_file = directory_ + "/redis.log";
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ > 0) return;
    // This is the child. It may only make calls that are safe after fork in a program with threads.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int null = ::open("/dev/null", O_RDWR);
    const int log = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(null, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0U, 0);  // the server must not inherit a test's sockets
    ::execv(program, argv.data());
    ::_exit(127);
  }

  bool wait_until_up() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < deadline) {
      const std::string reply = ask({"PING"});
      if (!reply.empty() && !reply.starts_with("-LOADING")) return was_up_ = true;
      if (ends_within(2)) break;
    }
    return false;
  }

  [[nodiscard]] bool ends_within(int ms) const {
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    pollfd end{process, POLLIN, 0};
    const bool ended = ::poll(&end, 1, ms) > 0;
    ::close(process);
    return ended;
  }

  void end_with(int signal) {
    if (pid_ < 0) return;
    ::kill(pid_, signal);
    ::kill(pid_, SIGCONT);  // a paused server must run to end
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

  [[nodiscard]] int connect_to_socket() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval minute{60, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = socket_path();
    if (path.size() < sizeof address.sun_path) {
      std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
      if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        return fd;
      }
    }
    ::close(fd);
    return -1;
  }

  static bool is_whole(std::string_view reply) {
    const std::size_t line = reply.find("\r\n");
    if (line == std::string_view::npos) return false;
    if (reply.front() != '$') return true;
    const int size = std::atoi(reply.data() + 1);  // atoi stops at the end of the line
    return size < 0 || reply.size() >= line + 4 + static_cast<std::size_t>(size);
  }

  void remove_directory() const {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  const std::vector<std::string> args_;
  const std::string directory_;
  const bool has_config_;
  std::uint16_t port_;
  bool was_up_ = false;  // after the first start the port stays the same, because clients know it
  pid_t pid_ = -1;
};

}  // namespace tarry::testing
