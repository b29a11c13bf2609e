#include "designs/bare_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "base/crc32c.h"
#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kPutHead = 52;      // like kPutFixedBytes: a record without its payload
constexpr std::size_t kClaimRecord = 20;  // like kClaimedItemBytes
constexpr std::size_t kAckRecord = 12;    // like kRefBytes
constexpr std::size_t kBatchHead = 48;
constexpr off_t kRoom = off_t{64} << 20;  // the file grows in steps of this size, as tarry's do

class Logged final : public Claimed {
 public:
  std::size_t size() const override { return count; }
  std::uint64_t proof() const override { return sum; }
  std::size_t count = 0;
  std::uint64_t sum = 0;
};

class BareLog final : public Design {
 public:
  BareLog(const std::string& path, Sync sync)
      : sync_(sync), file_(::open((path + "/log").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    must(file_ >= 0, "the log opens");
  }
  ~BareLog() override { ::close(file_); }
  BareLog(const BareLog&) = delete;
  BareLog& operator=(const BareLog&) = delete;

  void push(std::span<const Message> batch) override {
    begin();
    for (const Message& message : batch) {
      std::array<char, kPutHead> head{};
      const std::uint32_t crc = base::crc32c(message.payload);
      std::memcpy(head.data(), &crc, sizeof crc);
      std::memcpy(head.data() + 8, &message.due_ms, sizeof message.due_ms);
      batch_.append(head.data(), head.size());
      batch_.append(message.payload);
      waiting_.push_back(proof_of(message.payload));
    }
    commit();
  }

  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Logged>();
    taken->count = std::min(max, waiting_.size());
    if (taken->count == 0) return taken;
    for (std::size_t i = 0; i < taken->count; ++i) {
      taken->sum += waiting_.front();
      waiting_.pop_front();
    }
    append_zeros(taken->count * kClaimRecord);
    return taken;
  }

  void settle(const Claimed& claimed) override { append_zeros(claimed.size() * kAckRecord); }

 private:
  void begin() { batch_.assign(kBatchHead, '\0'); }

  void append_zeros(std::size_t bytes) {
    begin();
    batch_.append(bytes, '\0');
    commit();
  }

  void commit() {
    const std::uint32_t crc = base::crc32c(batch_);
    std::memcpy(batch_.data(), &crc, sizeof crc);
    const auto size = static_cast<off_t>(batch_.size());
    if (end_ + size > room_) {
      must(::posix_fallocate(file_, room_, kRoom) == 0, "the log grows");
      room_ += kRoom;
    }
    must(::pwrite(file_, batch_.data(), batch_.size(), end_) == size, "the log is written");
    end_ += size;
    if (sync_ == Sync::always) must(::fdatasync(file_) == 0, "the log is synced");
  }

  Sync sync_;
  int file_;
  off_t end_ = 0;
  off_t room_ = 0;
  std::string batch_;
  std::deque<std::uint64_t> waiting_;
};

}  // namespace

std::unique_ptr<Design> make_bare_log(const std::string& path, Sync sync) {
  return std::make_unique<BareLog>(path, sync);
}

}  // namespace tarry::bench
