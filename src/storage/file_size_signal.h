// NoFileSizeSignal: while it lives, what this thread writes beyond the limit of a file's size
// (RLIMIT_FSIZE) fails with EFBIG and no more. Linux also sends the thread SIGXFSZ, which ends a
// process that has not asked for it; and a library may change no signal's handler. So the signal is
// blocked here, and what came of it is taken before it is let through again.
//
// Thread safety: each thread has its own. A signal that was pending before stays so; in a thread
// that has it blocked anyway, one that came here too: it harms nobody.
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
