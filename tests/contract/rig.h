// Rig: one store of one engine with a clock that the test moves, made anew for each test.
//
// Not thread safe; the store that it holds is.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tarry/clock.h>
#include <tarry/store.h>

#include "core/engine.h"
#include "redis_server.h"

namespace tarry::contract {

/// What keeps the store.
enum class Kind : std::uint8_t { memory, file, redis, rabbitmq };

/// How it is asked: as a library, or through a server before it, by the library (plain or over TLS)
/// or by runs of the program `tarry`.
enum class By : std::uint8_t { library, http, https, command_line };

/// What the suite is run on.
struct EngineSpec {
  const char* name;
  Kind kind;
  std::uint32_t shards;
  RedisServers servers = RedisServers::one;  // Kind::redis
  By by = By::library;
};
void PrintTo(const EngineSpec& spec, std::ostream* out);

/// Where there are any, command_line_engines() or rabbitmq_engines() and no others.
[[nodiscard]] const std::vector<EngineSpec>& all_engines();
/// Those whose stores outlive the process.
[[nodiscard]] const std::vector<EngineSpec>& durable_engines();
/// The command line's: none but with TARRY_TEST_COMMAND_LINE in the environment, as a process a
/// request takes its time.
[[nodiscard]] const std::vector<EngineSpec>& command_line_engines();

/// Those on RabbitMQ: none but with TARRY_TEST_RABBITMQ in the environment, as a test takes the
/// time that its delays take.
[[nodiscard]] const std::vector<EngineSpec>& rabbitmq_engines();

class TestServer;

class Rig {
 public:
  /// Opens the store, or throws. `file_options`, as "&sync=os", go onto the URL of file: only.
  explicit Rig(const EngineSpec& spec, Executor executor = {}, std::string file_options = {});
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  [[nodiscard]] const EngineSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] Store& store() noexcept { return *store_; }
  [[nodiscard]] core::Engine& engine() noexcept { return store_->engine(); }
  [[nodiscard]] ManualClock& clock() noexcept { return clock_; }
  [[nodiscard]] const ManualClock& clock() const noexcept { return clock_; }
  [[nodiscard]] std::int64_t now_ms() const;
  /// What the store tells of such a push time: Redis keeps the minute, from 2020 on.
  [[nodiscard]] std::optional<Time> kept_push_time(std::optional<std::int64_t> pushed_ms) const;

  /// Of what keeps the store. `options`, of file: only, instead of the ones it was made with.
  [[nodiscard]] std::string url(const std::string& options = {}) const;

  void close();
  /// Opens what `close` closed; the same clock goes on. Durable engines only.
  void open();
  void reopen() {
    close();
    open();
  }

 private:
  [[nodiscard]] Store open_kept(Executor executor) const;

  EngineSpec spec_;
  Executor executor_;
  std::string file_options_;
  ManualClock clock_;
  std::string path_;              // file: only
  std::optional<Store> backing_;  // what the server serves, where there is one
  std::unique_ptr<TestServer> server_;
  std::optional<Store> store_;
};

}  // namespace tarry::contract
