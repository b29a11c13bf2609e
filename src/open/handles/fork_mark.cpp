#include "open/handles/fork_mark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace tarry::detail {
namespace {

// One byte is enough; the system rounds it up to a page.
constexpr std::size_t kMarkBytes = 1;

}  // namespace

ForkMark::ForkMark() noexcept : maker_(::getpid()) {
  void* page =
      ::mmap(nullptr, kMarkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (::madvise(page, kMarkBytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, kMarkBytes);
    return;
  }
  byte_ = ::new (page) Byte(1);
}

ForkMark::~ForkMark() {
  if (byte_ != nullptr) ::munmap(byte_, kMarkBytes);
}

bool ForkMark::is_in_child() const noexcept {
  if (byte_ != nullptr) return byte_->load(std::memory_order_relaxed) == 0;
  return ::getpid() != maker_;
}

}  // namespace tarry::detail
