#include "designs/limits/bare_log.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "designs/limits/log_file.h"
#include "designs/limits/records.h"

namespace tarry::bench {
namespace {

class Logged final : public Claimed {
 public:
  std::size_t size() const override { return count; }
  std::uint64_t proof() const override { return sum; }
  std::size_t count = 0;
  std::uint64_t sum = 0;
};

class BareLog final : public Design {
 public:
  BareLog(const std::string& path, Sync sync) : log_(path, sync) {}

  void push(std::span<const Message> batch) override {
    Records records;
    for (const Message& message : batch) records.put(message);
    log_.append(records.sealed());
    const std::scoped_lock lock(mutex_);
    for (const Message& message : batch) waiting_.push_back(proof_of(message.payload));
  }

  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Logged>();
    {
      const std::scoped_lock lock(mutex_);
      taken->count = std::min(max, waiting_.size());
      for (std::size_t i = 0; i < taken->count; ++i) {
        taken->sum += waiting_.front();
        waiting_.pop_front();
      }
    }
    if (taken->count == 0) return taken;
    Records records;
    records.claimed(taken->count);
    log_.append(records.sealed());
    return taken;
  }

  void settle(const Claimed& claimed) override {
    Records records;
    records.acked(claimed.size());
    log_.append(records.sealed());
  }

 private:
  LogFile log_;
  std::mutex mutex_;
  std::deque<std::uint64_t> waiting_;
};

}  // namespace

std::unique_ptr<Design> make_bare_log(const std::string& path, Sync sync) {
  return std::make_unique<BareLog>(path, sync);
}

}  // namespace tarry::bench
