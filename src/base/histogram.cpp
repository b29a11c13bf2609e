#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tarry::base {

std::size_t Histogram::bucket_of(std::int64_t value) noexcept {
  const auto bits = static_cast<std::uint64_t>(value);
  // Drops the bits below the leading seven. The rest is a number from 64 to 127, or the value
  // itself.
  const int dropped = std::max(0, static_cast<int>(std::bit_width(bits)) - (kSubBits + 1));
  return (static_cast<std::size_t>(dropped) << kSubBits) +
         static_cast<std::size_t>(bits >> dropped);
}

std::int64_t Histogram::last_value_of(std::size_t bucket) noexcept {
  constexpr std::size_t kSub = std::size_t{1} << kSubBits;
  if (bucket < 2 * kSub) return static_cast<std::int64_t>(bucket);
  const std::size_t dropped = bucket / kSub - 1;
  const std::uint64_t leading = bucket - dropped * kSub;
  return static_cast<std::int64_t>(((leading + 1) << dropped) - 1);
}

void Histogram::record(std::int64_t value, std::uint64_t count) noexcept {
  if (count == 0) return;
  value = std::max<std::int64_t>(value, 0);
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  buckets_[bucket_of(value)] += count;
  count_ += count;
  sum_ += static_cast<double>(value) * static_cast<double>(count);
}

void Histogram::merge(const Histogram& other) noexcept {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    buckets_[bucket] += other.buckets_[bucket];
  }
  count_ += other.count_;
  sum_ += other.sum_;
}

double Histogram::mean() const noexcept {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

std::int64_t Histogram::percentile(double p) const noexcept {
  if (!(p > 0)) return min();
  if (p >= 100) return max();
  const double wanted = std::ceil(p / 100 * static_cast<double>(count_));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && static_cast<double>(seen) >= wanted) {
      return std::clamp(last_value_of(bucket), min(), max());
    }
  }
  return max();
}

}  // namespace tarry::base
