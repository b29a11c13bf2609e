// Implements C11's threads by POSIX threads, for programs that run under ThreadSanitizer and use a
// library with C11 threads. ThreadSanitizer knows only POSIX threads: a thread made by thrd_create
// has no state in it, so its first allocation would end the program. (glibc implements C11 threads
// in the same way.)
//
// ThreadSanitizer does not see the atomics within the library, so it reports races in the library's
// own memory and locks; these reports are suppressed. It does see data that the library hands to us
// through a lock.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t));
static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t));

struct Start {
  thrd_start_t run;
  void* argument;
};

void* begin(void* start) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(start));
  const auto result = static_cast<std::intptr_t>(owned->run(owned->argument));
  return reinterpret_cast<void*>(result);
}

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int outcome(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    default: return thrd_error;
  }
}

}  // namespace

extern "C" {

// ThreadSanitizer prescribes this name.
const char* __tsan_default_suppressions() {
  return "called_from_lib:librdkafka.so\nrace:^mtx_\nrace:^cnd_\n";
}

int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
  auto start = std::make_unique<Start>(Start{run, argument});
  const int error = ::pthread_create(thread, nullptr, begin, start.get());
  if (error == 0) (void)start.release();
  return outcome(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  const int error = ::pthread_join(thread, &returned);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(returned));
  return outcome(error);
}

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t kind;
  ::pthread_mutexattr_init(&kind);
  const bool recursive = (type & mtx_recursive) != 0;
  ::pthread_mutexattr_settype(&kind, recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  const int error = ::pthread_mutex_init(posix(mutex), &kind);
  ::pthread_mutexattr_destroy(&kind);
  return outcome(error);
}
void mtx_destroy(mtx_t* mutex) { ::pthread_mutex_destroy(posix(mutex)); }
int mtx_lock(mtx_t* mutex) { return outcome(::pthread_mutex_lock(posix(mutex))); }
int mtx_unlock(mtx_t* mutex) { return outcome(::pthread_mutex_unlock(posix(mutex))); }

int cnd_init(cnd_t* condition) { return outcome(::pthread_cond_init(posix(condition), nullptr)); }
void cnd_destroy(cnd_t* condition) { ::pthread_cond_destroy(posix(condition)); }
int cnd_signal(cnd_t* condition) { return outcome(::pthread_cond_signal(posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return outcome(::pthread_cond_broadcast(posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return outcome(::pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return outcome(::pthread_cond_timedwait(posix(condition), posix(mutex), until));
}

}  // extern "C"
