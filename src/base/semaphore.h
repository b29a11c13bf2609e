// Semaphore: one thread waits, another wakes it. It wakes without a lock held; otherwise the woken
// thread would only sleep again, for that lock. It may be destroyed as soon as `wait` has returned,
// even while `post` is still returning on the other thread (POSIX, sem_destroy).
//
// Thread safety: all of it.
#pragma once

#include <semaphore.h>

#include <cerrno>

#include "base/assert.h"

namespace tarry::base {

class Semaphore {
 public:
  Semaphore() { TARRY_ASSERT(::sem_init(&count_, 0, 0) == 0); }
  ~Semaphore() { ::sem_destroy(&count_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void post() noexcept { TARRY_ASSERT(::sem_post(&count_) == 0); }
  /// Until there has been a post for each time that this has returned.
  void wait() noexcept {
    while (::sem_wait(&count_) != 0) TARRY_ASSERT(errno == EINTR);
  }

 private:
  sem_t count_;
};

}  // namespace tarry::base
