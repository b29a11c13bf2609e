#include "app/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include "base/assert.h"

namespace tarry::app {
namespace {

constexpr std::array<int, 2> kSignals{SIGTERM, SIGINT};

// A handler can reach nothing but what is static. An eventfd counts the signals for us.
std::atomic<int> signalled{-1};
std::array<struct sigaction, kSignals.size()> before;

extern "C" void tarry_on_signal(int /*signal*/) {
  const int saved = errno;
  const std::uint64_t one = 1;
  // Cannot block: the counter would have to reach 2^64.
  if (::write(signalled.load(), &one, sizeof one) < 0) errno = saved;
  errno = saved;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void(int)> on_signal)
    : on_signal_(std::move(on_signal)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  const int fd = ::eventfd(0, EFD_CLOEXEC);
  TARRY_ASSERT(fd >= 0 && stop_ >= 0);
  const int other = signalled.exchange(fd);
  TARRY_ASSERT(other == -1);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = tarry_on_signal;
    action.sa_flags = SA_RESTART;
    TARRY_ASSERT(::sigaction(kSignals[i], &action, &before[i]) == 0);
  }
  thread_ = std::thread([this] { watch(); });
}

SignalWatch::~SignalWatch() {
  const std::uint64_t one = 1;
  TARRY_ASSERT(::write(stop_, &one, sizeof one) == sizeof one);
  thread_.join();
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
  // The descriptor stays open: a handler may be running on another thread at this moment.
  signalled.store(-1);
  ::close(stop_);
}

void SignalWatch::watch() {
  int count = 0;
  std::array<pollfd, 2> fds{{{signalled.load(), POLLIN, 0}, {stop_, POLLIN, 0}}};
  while (true) {
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;  // EINTR
    if (fds[1].revents != 0) return;
    std::uint64_t more = 0;
    if (::read(fds[0].fd, &more, sizeof more) != sizeof more) continue;
    for (; more > 0; --more) on_signal_(++count);
  }
}

}  // namespace tarry::app
