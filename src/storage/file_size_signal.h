// NoFileSizeSignal: while it lives, a write of this thread beyond the limit of a file's size
// (RLIMIT_FSIZE) only fails with EFBIG. Without it Linux also sends the thread SIGXFSZ, which by
// default ends the process. A library may not change the handler of a signal, so this object blocks
// the signal, and removes a pending one before it unblocks it.
//
// Thread safety: each thread has its own. A SIGXFSZ that was pending before stays pending. If the
// thread had blocked the signal already, one that arrives meanwhile stays pending too, which does
// no harm.
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
  bool blocked_ = false;  // by this object
};

}  // namespace tarry::storage
