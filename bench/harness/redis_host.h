// RedisHost: the run's own redis-server, on a unix socket in its own directory, and the figures
// that it reports.
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
  /// `arguments` are added to its command line. It keeps nothing on disk unless they say so.
  explicit RedisHost(std::vector<std::string> arguments = {});
  ~RedisHost();
  RedisHost(const RedisHost&) = delete;
  RedisHost& operator=(const RedisHost&) = delete;

  [[nodiscard]] std::string socket_path() const;
  [[nodiscard]] std::uint16_t port() const;
  /// Removes all data.
  void clear() const;
  /// Bytes that it has allocated, once no client is connected and it has finished all clean-up
  /// work.
  [[nodiscard]] double bytes_at_rest() const;
  /// `work_done` reports its work from here on.
  void begin_work();
  /// "32 us of its CPU, 3.1 commands (evalsha 0.02, zadd 1 ...)", each per lifecycle.
  [[nodiscard]] std::string work_done(std::uint64_t lifecycles) const;
  /// Commands since `begin_work`, including those of scripts.
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
