#include "app/output/screen.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include "base/assert.h"

namespace tarry::app {
namespace {

// Switches to another screen, and hides the cursor. kLeave undoes both.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

constexpr std::size_t kUsualHeight = 24;

void put_out(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  std::fflush(stdout);
}

std::size_t height() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : kUsualHeight;
}

}  // namespace

Screen::Screen(bool whole)
    : drawn_on_(whole && Terminal(STDOUT_FILENO).is_terminal()),
      ended_(::eventfd(0, EFD_CLOEXEC)),
      signals_([this](int) {
        const std::uint64_t one = 1;
        TARRY_ASSERT(::write(ended_, &one, sizeof one) == sizeof one);
      }) {
  if (ended_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  if (!drawn_on_) return;
  termios now{};
  if (::tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    // Ctrl-Z is disabled: a stopped program would leave the shell on the other screen.
    now.c_cc[VSUSP] = _POSIX_VDISABLE;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  put_out(kEnter);
}

Screen::~Screen() {
  if (!drawn_on_) return;
  put_out(kLeave);
  if (before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

void Screen::draw(std::string_view picture) {
  if (!drawn_on_) {
    put_out(picture);
    return;
  }
  std::string text = "\x1b[H";
  std::size_t left = height() - 1;
  while (!picture.empty() && left > 0) {
    const auto end = std::min(picture.find('\n'), picture.size() - 1);
    text.append(picture.substr(0, end)).append("\x1b[K\r\n");
    picture.remove_prefix(end + 1);
    --left;
  }
  put_out(text + "\x1b[J");
}

bool Screen::ends_within(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + time;
  bool keys = before_.has_value();
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> fds{{{ended_, POLLIN, 0}, {keys ? STDIN_FILENO : -1, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), static_cast<int>(left.count())) <= 0) continue;
    if (fds[0].revents != 0) return true;
    char key = 0;
    const auto got = ::read(STDIN_FILENO, &key, 1);
    if (got == 1 && (key == 'q' || key == 'Q')) return true;
    if (got <= 0) keys = false;
  }
}

std::size_t Screen::width() const noexcept { return Terminal(STDOUT_FILENO).width(); }

}  // namespace tarry::app
