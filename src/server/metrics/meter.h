// Meter: a server's own counters; a StoreMeter counts for its store.
//
// Used on the server's thread only, so there is no lock.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "metrics/store_meter.h"

namespace tarry::metrics {

/// For the clients of one protocol.
class FrontMeter {
 public:
  /// `route` lives as long as the program.
  void answered(std::string_view route, unsigned status) { ++answers_[{route, status}]; }
  void connected() noexcept { ++connections_; }
  void disconnected() noexcept { --connections_; }

  using Answers = std::map<std::pair<std::string_view, unsigned>, std::uint64_t>;
  [[nodiscard]] const Answers& answers() const noexcept { return answers_; }
  [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }

 private:
  Answers answers_;
  std::uint64_t connections_ = 0;
};

class Meter {
 public:
  Meter() = default;
  /// For the server of that engine, which outlives this.
  explicit Meter(core::Engine& engine) : store_(engine) {}

  /// The meter of that name, which lives as long as the program; its address does not change.
  [[nodiscard]] FrontMeter& front(std::string_view name) { return fronts_[name]; }
  /// Bytes, of all fronts: of requests as far as they have come, and of answers until they are
  /// taken.
  void held(std::uint64_t requests, std::uint64_t answers) noexcept {
    held_requests_ = requests;
    held_answers_ = answers;
  }

  using Fronts = std::map<std::string_view, FrontMeter>;
  [[nodiscard]] const Fronts& fronts() const noexcept { return fronts_; }
  [[nodiscard]] std::uint64_t held_requests() const noexcept { return held_requests_; }
  [[nodiscard]] std::uint64_t held_answers() const noexcept { return held_answers_; }
  [[nodiscard]] StoreMeter& store() noexcept { return store_; }

 private:
  Fronts fronts_;
  std::uint64_t held_requests_ = 0;
  std::uint64_t held_answers_ = 0;
  StoreMeter store_;
};

}  // namespace tarry::metrics
