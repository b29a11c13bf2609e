// RefusalThrottle: limits the lines about clients without a valid token, because anybody can cause
// them: one a second for each peer, and kMostLines a second for all peers.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tarry::audit {

class RefusalThrottle {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kMostLines = 20;  // a second

  /// If a line about this peer may be written now, returns how many lines, about any peers, were
  /// left out since the last one; otherwise nothing.
  [[nodiscard]] std::optional<std::uint64_t> turn(std::string_view peer, Clock::time_point now) {
    std::erase_if(told_, [&](const Told& one) { return now - one.at >= std::chrono::seconds(1); });
    const bool met = std::ranges::any_of(told_, [&](const Told& one) { return one.peer == peer; });
    if (met || told_.size() >= kMostLines) {
      ++left_out_;
      return std::nullopt;
    }
    told_.push_back({std::string(peer), now});
    return std::exchange(left_out_, 0);
  }

 private:
  struct Told {
    std::string peer;
    Clock::time_point at;
  };
  std::vector<Told> told_;  // within the last second
  std::uint64_t left_out_ = 0;
};

}  // namespace tarry::audit
