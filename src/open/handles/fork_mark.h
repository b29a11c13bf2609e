// ForkMark: distinguishes the process that made it from a forked child, which has a copy of the
// memory but none of the threads.
//
// Every verb checks the mark. The check reads one byte, which the system clears in the child,
// because asking for the pid each time would be a system call.
//
// Thread safe.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace tarry::detail {

class ForkMark {
 public:
  ForkMark() noexcept;
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  [[nodiscard]] bool is_in_child() const noexcept;
  [[nodiscard]] pid_t maker() const noexcept { return maker_; }

 private:
  using Byte = std::atomic<std::uint8_t>;

  pid_t maker_;
  Byte* byte_ = nullptr;  // null if the system cannot clear pages in a child; then the pid
                          // is compared
};

}  // namespace tarry::detail
