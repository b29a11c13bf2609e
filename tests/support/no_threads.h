// NoThreads: while it lives, the system gives this program no more threads, as if a limit of
// threads was reached.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace tarry::test {

class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t wanted;
    ::pthread_attr_init(&wanted);
    // No address space is large enough for such a stack.
    constexpr std::size_t kTooLarge = std::size_t{1} << 62;
    ::pthread_attr_setstacksize(&wanted, kTooLarge);
    ::pthread_setattr_default_np(&wanted);
    ::pthread_attr_destroy(&wanted);
  }
  ~NoThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace tarry::test
