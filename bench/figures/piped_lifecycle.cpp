#include "figures/piped_lifecycle.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr double kLongestRunS = 240;

class Lanes {
 public:
  Lanes(Piped& design, const PipedLifecycle& shape) : design_(design), shape_(shape) {}

  PipedTimes run() {
    design_.run([this] {
      watch_ = Stopwatch();
      for (std::size_t i = 0; i < shape_.lanes; ++i) turn();
    });
    must(pushed_ == shape_.pushes && settled_ == shape_.claims, "each message is settled once");
    return times_;
  }

 private:
  void turn() {
    const std::uint64_t count = std::min<std::uint64_t>(shape_.batch, shape_.pushes - pushed_);
    if (count == 0) return claim();
    batch_.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      batch_.push_back(shape_.message(pushed_ + i));
      times_.pushed_proof += proof_of(batch_.back().payload);
    }
    pushed_ += count;
    design_.push(batch_, [this](std::span<const std::uint32_t> taken) {
      must(taken.empty(), "each message is new");
      claim();
    });
  }

  void claim() {
    times_.seconds = watch_.seconds();
    must(times_.seconds < kLongestRunS, "what is pushed falls due");
    if (claimed_ == shape_.claims) {
      if (pushed_ < shape_.pushes) turn();
      return;
    }
    const std::uint64_t left = shape_.claims - claimed_;
    design_.claim(std::min<std::uint64_t>(shape_.batch, left),
                  [this](const std::shared_ptr<const Claimed>& claimed) { settle(*claimed); });
  }

  void settle(const Claimed& claimed) {
    const std::size_t size = claimed.size();
    if (size == 0) return turn();
    claimed_ += size;
    times_.claimed_proof += claimed.proof();
    design_.settle(claimed, [this, size] {
      settled_ += size;
      turn();
    });
  }

  Piped& design_;
  const PipedLifecycle& shape_;
  Stopwatch watch_;
  std::vector<Message> batch_;
  std::uint64_t pushed_ = 0;
  std::uint64_t claimed_ = 0;
  std::uint64_t settled_ = 0;
  PipedTimes times_;
};

}  // namespace

PipedTimes run_piped(Piped& design, const PipedLifecycle& shape) {
  return Lanes(design, shape).run();
}

}  // namespace tarry::bench
