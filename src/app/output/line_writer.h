// LineWriter: lines for a descriptor whose reader may be slow, or read nothing at all. Whoever says
// something never waits: what the descriptor does not take at once is written by a thread of its
// own. What does not fit into its memory is left out, counted, and told of once there is room.
//
// Invariants
//  1. At most kMostBytes wait to be written, and one line more.
//  2. Lines go out in the order in which they were said.
//
// Thread safety: `write` may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tarry::app {

class LineWriter {
 public:
  static constexpr std::size_t kMostBytes = 1 << 20;
  /// How long the last lines wait for a reader that takes nothing.
  static constexpr int kLastWordsMs = 1'000;

  /// `lost`: the line that tells of so many that were left out; empty: none is told. Any thread.
  using Lost = std::function<std::string(std::uint64_t lines)>;

  /// `descriptor` stays open while the process lives.
  explicit LineWriter(int descriptor, Lost lost = {});
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  /// Waits until all is written, but not for a reader that takes nothing.
  ~LineWriter();

  /// `line` ends with a newline.
  void write(std::string line);

 private:
  class AtOnce;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace tarry::app
