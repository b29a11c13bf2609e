#include "app/system/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/threads/thread.h"

namespace tarry::app {
namespace {

constexpr std::array<int, 2> kSignals{SIGTERM, SIGINT};

// Static, because a signal handler can only reach static objects. An eventfd counts the signals.
std::atomic<int> signalled{-1};
std::atomic<int> hung_up{-1};
std::array<struct sigaction, kSignals.size()> before;
struct sigaction before_hangup;

extern "C" void tarry_on_signal(int signal) {
  const int saved = errno;
  const std::uint64_t one = 1;
  // The write cannot block: for that the counter would have to reach 2^64.
  const int fd = signal == SIGHUP ? hung_up.load() : signalled.load();
  if (::write(fd, &one, sizeof one) < 0) errno = saved;
  errno = saved;
}

void handle(int signal, struct sigaction* old) {
  struct sigaction action{};
  action.sa_handler = tarry_on_signal;
  action.sa_flags = SA_RESTART;
  TARRY_ASSERT(::sigaction(signal, &action, old) == 0);
}

int new_event() {
  const int fd = ::eventfd(0, EFD_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

void count_hangups() {
  hung_up.store(new_event());
  handle(SIGHUP, &before_hangup);
}
void forget_hangups() {
  ::sigaction(SIGHUP, &before_hangup, nullptr);
  hung_up.store(-1);
}

}  // namespace

HangupsKept::HangupsKept() {
  TARRY_ASSERT(hung_up.load() == -1);
  count_hangups();
}

HangupsKept::~HangupsKept() { forget_hangups(); }

SignalWatch::SignalWatch(std::function<void(int)> on_signal, std::function<void()> on_hangup)
    : on_signal_(std::move(on_signal)),
      on_hangup_(std::move(on_hangup)),
      counts_hangups_(on_hangup_ != nullptr && hung_up.load() == -1),
      stop_(new_event()) {
  const int fd = new_event();
  const int other = signalled.exchange(fd);
  TARRY_ASSERT(other == -1);
  for (std::size_t i = 0; i < kSignals.size(); ++i) handle(kSignals[i], &before[i]);
  if (counts_hangups_) count_hangups();
  thread_ = base::start_thread("tarry-signals", [this] { watch(); });
}

SignalWatch::~SignalWatch() {
  const std::uint64_t one = 1;
  TARRY_ASSERT(::write(stop_, &one, sizeof one) == sizeof one);
  thread_.join();
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
  // The descriptors stay open: a handler may be running on another thread at this moment.
  if (counts_hangups_) forget_hangups();
  signalled.store(-1);
  ::close(stop_);
}

void SignalWatch::watch() {
  int count = 0;
  // poll ignores a negative descriptor.
  const int hangups = on_hangup_ ? hung_up.load() : -1;
  std::array<pollfd, 3> fds{
      {{signalled.load(), POLLIN, 0}, {stop_, POLLIN, 0}, {hangups, POLLIN, 0}}};
  while (true) {
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;  // EINTR
    if (fds[1].revents != 0) return;
    std::uint64_t more = 0;
    if (fds[2].revents != 0 && ::read(fds[2].fd, &more, sizeof more) == sizeof more) on_hangup_();
    if (fds[0].revents == 0) continue;
    if (::read(fds[0].fd, &more, sizeof more) != sizeof more) continue;
    for (; more > 0; --more) on_signal_(++count);
  }
}

}  // namespace tarry::app
