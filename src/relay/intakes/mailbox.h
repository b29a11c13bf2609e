// Mailbox: keeps the store's answers until the intake takes them. Completions share its ownership,
// so that it still exists when a late completion runs.
//
// Thread safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "base/threads/wake_event.h"
#include "core/reply.h"

namespace tarry::relay {

class Mailbox {
 public:
  struct Letter {
    std::uint64_t batch = 0;
    Result<core::PushReply> reply;
  };

  void put(Letter letter) {
    {
      const std::lock_guard lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    wake();
  }
  [[nodiscard]] std::vector<Letter> take() {
    wake_.clear();
    const std::lock_guard lock(mutex_);
    return std::exchange(letters_, {});
  }
  void wake() const { wake_.set(); }
  /// A descriptor that is readable while the mailbox has an answer.
  [[nodiscard]] int descriptor() const noexcept { return wake_.descriptor(); }

 private:
  const base::WakeEvent wake_;
  std::mutex mutex_;
  std::vector<Letter> letters_;
};

}  // namespace tarry::relay
