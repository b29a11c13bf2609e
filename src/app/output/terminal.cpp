#include "app/output/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tarry::app {

namespace {
constexpr std::size_t kUsualWidth = 80;
}

Terminal::Terminal(int fd) noexcept : is_terminal_(::isatty(fd) == 1) {
  if (!is_terminal_) return;
  winsize size{};
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  width_ = known ? size.ws_col : kUsualWidth;
}

}  // namespace tarry::app
