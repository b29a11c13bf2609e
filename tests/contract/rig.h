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

enum class Kind : std::uint8_t { memory, file, http, redis };

/// What the suite is run on.
struct EngineSpec {
  const char* name;
  Kind kind;
  std::uint32_t shards;
  RedisServers servers = RedisServers::one;  // Kind::redis
};
void PrintTo(const EngineSpec& spec, std::ostream* out);

[[nodiscard]] const std::vector<EngineSpec>& all_engines();
/// Those whose stores outlive the process.
[[nodiscard]] const std::vector<EngineSpec>& durable_engines();
/// Those with one shard, where the order of all messages is fixed.
[[nodiscard]] const std::vector<EngineSpec>& one_shard_engines();

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

  /// file: only. Without `options`, with the ones it was made with.
  [[nodiscard]] std::string url(const std::string& options = {}) const;

  void close();
  /// Opens what `close` closed; the same clock goes on. Durable engines only.
  void open();
  void reopen() {
    close();
    open();
  }

 private:
  EngineSpec spec_;
  Executor executor_;
  std::string file_options_;
  ManualClock clock_;
  std::string path_;              // file: only
  std::optional<Store> backing_;  // http: only, what the server serves
  std::unique_ptr<TestServer> server_;
  std::optional<Store> store_;
};

}  // namespace tarry::contract
