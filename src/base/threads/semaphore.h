// Semaphore: one thread waits, another wakes it. `post` holds no lock while it wakes the other
// thread, which would otherwise have to sleep again for that lock. The semaphore may be destroyed
// as soon as `wait` has returned, even while `post` is still returning on the other thread (POSIX,
// sem_destroy).
//
// Thread safe.
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
  /// Waits for a post that no earlier `wait` has consumed.
  void wait() noexcept {
    while (::sem_wait(&count_) != 0) TARRY_ASSERT(errno == EINTR);
  }

 private:
  sem_t count_;
};

}  // namespace tarry::base
