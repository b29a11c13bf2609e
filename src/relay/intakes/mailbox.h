// Mailbox: what the store has answered, until the intake looks. Completions keep it, so that one
// which comes late finds something.
//
// Thread safe.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "base/assert.h"
#include "core/reply.h"

namespace tarry::relay {

class Mailbox {
 public:
  struct Letter {
    std::uint64_t batch = 0;
    Result<core::PushReply> reply;
  };

  Mailbox() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { TARRY_ASSERT(wake_ >= 0); }
  ~Mailbox() { ::close(wake_); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void put(Letter letter) {
    {
      const std::lock_guard lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    wake();
  }
  [[nodiscard]] std::vector<Letter> take() {
    std::uint64_t count = 0;
    static_cast<void>(::read(wake_, &count, sizeof count));
    const std::lock_guard lock(mutex_);
    return std::exchange(letters_, {});
  }
  void wake() const {
    const std::uint64_t one = 1;
    // Cannot fail: the counter would have to reach 2^64.
    static_cast<void>(::write(wake_, &one, sizeof one));
  }
  /// Readable once there is something.
  [[nodiscard]] int descriptor() const noexcept { return wake_; }

 private:
  const int wake_;
  std::mutex mutex_;
  std::vector<Letter> letters_;
};

}  // namespace tarry::relay
