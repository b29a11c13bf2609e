// Meter: a server's own counters, and a StoreMeter for its store.
//
// Used on the server's thread only, so there is no lock.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "metrics/store_meter.h"

namespace tarry::metrics {

/// Counts the clients of one protocol.
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
  /// `engine`: the server's, which must outlive the meter.
  explicit Meter(core::Engine& engine) : store_(engine) {}

  /// The meter of the front of that name, whose address never changes. The name must live as long
  /// as the program.
  [[nodiscard]] FrontMeter& front(std::string_view name) { return fronts_[name]; }
  /// Records the bytes held by all fronts. Requests count as far as they have arrived, answers
  /// until clients have taken them.
  void held(std::uint64_t requests, std::uint64_t answers) noexcept {
    held_requests_ = requests;
    held_answers_ = answers;
  }

  /// Counts lines of the audit log: those that were written, and those that could not be.
  void audited(std::uint64_t lines, std::uint64_t lost) noexcept {
    audit_lines_ += lines;
    audit_lost_ += lost;
  }

  using Fronts = std::map<std::string_view, FrontMeter>;
  [[nodiscard]] const Fronts& fronts() const noexcept { return fronts_; }
  [[nodiscard]] std::uint64_t held_requests() const noexcept { return held_requests_; }
  [[nodiscard]] std::uint64_t held_answers() const noexcept { return held_answers_; }
  [[nodiscard]] std::uint64_t audit_lines() const noexcept { return audit_lines_; }
  [[nodiscard]] std::uint64_t audit_lost() const noexcept { return audit_lost_; }
  [[nodiscard]] StoreMeter& store() noexcept { return store_; }

 private:
  Fronts fronts_;
  std::uint64_t held_requests_ = 0;
  std::uint64_t held_answers_ = 0;
  std::uint64_t audit_lines_ = 0;
  std::uint64_t audit_lost_ = 0;
  StoreMeter store_;
};

}  // namespace tarry::metrics
