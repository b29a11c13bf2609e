// A log-linear histogram (HdrHistogram's layout) of values that are not negative, mainly lateness.
// It has 64 buckets for each power of two, so its answers are within 1/64 of the recorded value.
//
// It takes about 30 KiB, all inside the object, and never allocates. Thread safety: none. Use it
// from one thread, or give each thread its own histogram and merge() them.
//
// Invariants
//  1. Values below 128 have a bucket each; bucket b >= 128 holds 2^(b / 64 - 1) values.
//  2. The counts of all buckets add up to count().
//  3. min() and max() are exact, and every percentile lies between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tarry::base {

class Histogram {
 public:
  /// A negative value counts as 0, because two clock readings may differ by a tick.
  void record(std::int64_t value) noexcept { record(value, 1); }
  void record(std::int64_t value, std::uint64_t count) noexcept;
  void merge(const Histogram& other) noexcept;
  void clear() noexcept { *this = Histogram(); }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The following are 0 when nothing was recorded.
  [[nodiscard]] std::int64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::int64_t max() const noexcept { return max_; }
  [[nodiscard]] double mean() const noexcept;
  /// The smallest value that is not below `p` percent of all values, rounded up by at most 1/64. p
  /// <= 0 and NaN give min(), p >= 100 gives max().
  [[nodiscard]] std::int64_t percentile(double p) const noexcept;

 private:
  static constexpr int kSubBits = 6;
  static constexpr std::size_t kBuckets = (63 - kSubBits + 1) << kSubBits;

  static std::size_t bucket_of(std::int64_t value) noexcept;
  static std::int64_t last_value_of(std::size_t bucket) noexcept;

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
};

}  // namespace tarry::base
