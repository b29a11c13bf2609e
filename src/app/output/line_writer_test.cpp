#include "app/output/line_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace tarry::app {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    close_writing();
    ::close(ends_[0]);
  }

  [[nodiscard]] int writing() const noexcept { return ends_[1]; }
  void close_writing() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }
  // Returns an empty text at the end.
  std::string read_some() {
    std::array<char, 65536> bytes{};
    const ssize_t n = ::read(ends_[0], bytes.data(), bytes.size());
    return {bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
  }

 private:
  std::array<int, 2> ends_{};
};

std::string lost_line(std::uint64_t lines) { return "lost " + std::to_string(lines) + "\n"; }

TEST(LineWriter, WritesWhatItWasToldBeforeItEnds) {
  Pipe pipe;
  {
    LineWriter writer(pipe.writing(), lost_line);
    writer.write("a\n");
    writer.write("b\n");
  }
  pipe.close_writing();
  EXPECT_EQ(pipe.read_some(), "a\nb\n");
}

// Without the writer's own thread, the second line that does not fit into the pipe would block for
// ever.
TEST(LineWriter, NobodyWaitsForAReaderWhoTakesNothing) {
  static Pipe& pipe = *new Pipe;  // never destroyed, because a thread hangs in a write to it
  const std::string line(1023, 'x');
  const std::size_t lines = 3 * LineWriter::kMostBytes / 1024;
  {
    LineWriter writer(pipe.writing(), lost_line);
    for (std::size_t i = 0; i < lines; ++i) writer.write(line + "\n");
  }  // the end of the writer does not wait either
  Pipe other;
  LineWriter writer(other.writing(), lost_line);
  for (std::size_t i = 0; i < lines; ++i) writer.write(line + "\n");
  // The writer continues once somebody reads, and reports how many lines were left out.
  std::string text;
  while (text.find("lost ") == std::string::npos) {
    text += other.read_some();
  }
  const std::size_t told = text.find("lost ");
  const std::size_t lost = std::stoul(text.substr(told + 5));
  EXPECT_EQ(told % 1024, 0u);
  EXPECT_EQ(told / 1024 + lost, lines);
  EXPECT_GT(lost, 0u);
}

TEST(LineWriter, ADescriptorThatTakesNoMoreEndsNothing) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  LineWriter(full, lost_line).write("a\n");
  ::close(full);
}

}  // namespace
}  // namespace tarry::app
