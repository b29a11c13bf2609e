#include "storage/file_size_signal.h"

#include <cerrno>
#include <ctime>

namespace tarry::storage {
namespace {

sigset_t file_size_signal() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

NoFileSizeSignal::NoFileSizeSignal() noexcept {
  const sigset_t set = file_size_signal();
  sigset_t before;
  blocked_ = ::pthread_sigmask(SIG_BLOCK, &set, &before) == 0 && !::sigismember(&before, SIGXFSZ);
}

NoFileSizeSignal::~NoFileSizeSignal() {
  if (!blocked_) return;
  const int error_number = errno;
  const sigset_t set = file_size_signal();
  sigset_t pending;
  if (::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ)) {
    const timespec at_once{};
    static_cast<void>(::sigtimedwait(&set, nullptr, &at_once));
  }
  static_cast<void>(::pthread_sigmask(SIG_UNBLOCK, &set, nullptr));
  errno = error_number;
}

}  // namespace tarry::storage
