// RedisHost: a redis-server of the run's own, on a unix socket in a directory of its own, and what
// it says of itself.
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::testing {
class RedisServer;
}

namespace tarry::bench {

class RedisHost {
 public:
  /// `arguments` go onto its command line. It keeps nothing on disk unless they say so.
  explicit RedisHost(std::vector<std::string> arguments = {});
  ~RedisHost();
  RedisHost(const RedisHost&) = delete;
  RedisHost& operator=(const RedisHost&) = delete;

  [[nodiscard]] std::string socket_path() const;
  [[nodiscard]] std::uint16_t port() const;
  /// Bytes that it has allocated, when nobody is connected and nothing is left to be tidied up.
  [[nodiscard]] double bytes_at_rest() const;
  /// What it did from here on is told by `work_done`.
  void begin_work();
  /// "32 us of its CPU, 3.1 commands (evalsha 0.02, zadd 1 ...)", each over `lifecycles`.
  [[nodiscard]] std::string work_done(std::uint64_t lifecycles) const;
  /// Commands since `begin_work`, those of scripts included.
  [[nodiscard]] double commands_done() const;
  /// Seconds of its processor time since `begin_work`.
  [[nodiscard]] double cpu_done() const { return cpu_seconds() - cpu_before_; }

 private:
  struct Command {
    double calls;
    double us;
    std::string name;
  };
  [[nodiscard]] std::vector<Command> commands() const;
  [[nodiscard]] double number(std::string_view section, std::string_view field) const;
  [[nodiscard]] double cpu_seconds() const;

  std::unique_ptr<testing::RedisServer> server_;
  double cpu_before_ = 0;
};

}  // namespace tarry::bench
