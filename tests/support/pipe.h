// Pipe: both ends of a pipe, closed at the end of a test. SIGPIPE is ignored from then on.
//
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tarry::test {

class Pipe {
 public:
  Pipe() {
    std::signal(SIGPIPE, SIG_IGN);
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("pipe");
  }
  ~Pipe() {
    close_reader();
    ::close(ends_[1]);
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_reader() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  [[nodiscard]] char read_some() const {
    char c = 0;
    return ::read(ends_[0], &c, 1) == 1 ? c : '\0';
  }
  [[nodiscard]] std::string read_line() const {
    std::string line;
    for (char c = 0; ::read(ends_[0], &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  void write(std::string_view text) const {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace tarry::test
