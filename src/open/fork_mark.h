// ForkMark: tells the process that made it from a child made of it by fork, which has a copy of all
// that is in memory, and none of the threads.
//
// Asked by every verb: it reads one byte, which the system wipes in the child. To ask for the pid
// each time would be a call of the system.
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
  Byte* byte_ = nullptr;  // null where the system has no such pages: then the pid decides
};

}  // namespace tarry::detail
