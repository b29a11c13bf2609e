// NoFileSizeSignal: while it lives, a write of this thread beyond the limit of a file's size
// (RLIMIT_FSIZE) only fails with EFBIG. Linux also sends the thread SIGXFSZ, which by default ends
// the process, and a library may not change the handler of a signal. So it blocks the signal, and
// removes a pending one before it unblocks it.
//
// Thread safety: each thread has its own. A signal that was pending before stays pending. So does a
// signal that arrives here if the thread has it blocked anyway; that does no harm.
#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask is POSIX's

namespace tarry::storage {

class NoFileSizeSignal {
 public:
  NoFileSizeSignal() noexcept;
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  bool blocked_ = false;  // by this
};

}  // namespace tarry::storage
