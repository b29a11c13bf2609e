#include "base/threads/thread.h"

#include <pthread.h>

#include <algorithm>
#include <string>

namespace tarry::base {

ThreadName::ThreadName(std::string_view name, std::size_t number) {
  const std::string end = "-" + std::to_string(number);
  const std::size_t room = kMost - std::min(kMost, end.size());
  const std::string full = std::string(name.substr(0, room)) + end;
  std::copy_n(full.begin(), std::min(kMost, full.size()), text_.begin());
}

SignalsBlocked::SignalsBlocked() noexcept {
  sigset_t blocked;
  ::sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    ::sigdelset(&blocked, fault);
  }
  // Adds these signals to those that the program itself has blocked.
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

SignalsBlocked::~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void detail::name_this_thread(const ThreadName& name) noexcept {
  ::pthread_setname_np(::pthread_self(), name.c_str());
}

}  // namespace tarry::base
