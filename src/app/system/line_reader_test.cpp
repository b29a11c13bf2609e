#include "app/system/line_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

namespace tarry::app {
namespace {

/// A file with this content, positioned at its beginning.
class File {
 public:
  explicit File(const std::string& content) : file_(std::tmpfile()) {
    std::fwrite(content.data(), 1, content.size(), file_);
    std::fflush(file_);
    ::lseek(fd(), 0, SEEK_SET);
  }
  ~File() { std::fclose(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int fd() const { return ::fileno(file_); }

 private:
  std::FILE* file_;
};

struct Line {
  std::string text;
  bool too_long = false;
  friend bool operator==(const Line&, const Line&) = default;
};

std::vector<Line> lines_of(const std::string& content, std::size_t longest) {
  const File file(content);
  LineReader reader(file.fd(), longest);
  std::vector<Line> lines;
  std::string_view line;
  while (true) {
    const auto more = reader.next(line);
    EXPECT_TRUE(more.has_value());
    if (!more || !*more) break;
    lines.push_back({std::string(line), reader.too_long()});
    EXPECT_EQ(reader.number(), lines.size());
  }
  EXPECT_EQ(reader.bytes(), content.size());
  return lines;
}

using Lines = std::vector<Line>;

TEST(LineReader, ReadsLines) {
  EXPECT_EQ(lines_of("", 100), Lines{});
  EXPECT_EQ(lines_of("\n", 100), (Lines{{""}}));
  EXPECT_EQ(lines_of("a\nb\n", 100), (Lines{{"a"}, {"b"}}));
  EXPECT_EQ(lines_of("a\r\nb", 100), (Lines{{"a"}, {"b"}}));
  EXPECT_EQ(lines_of("a\n\nb", 100), (Lines{{"a"}, {""}, {"b"}}));
}

TEST(LineReader, KnowsWhetherALineCameToItsEnd) {
  const File file("a\nb");
  LineReader reader(file.fd(), 100);
  std::string_view line;
  ASSERT_TRUE(*reader.next(line));
  EXPECT_FALSE(reader.unended());
  ASSERT_TRUE(*reader.next(line));
  EXPECT_TRUE(reader.unended());
}

TEST(LineReader, CutsAndMarksWhatIsTooLong) {
  EXPECT_EQ(lines_of("abcdef\nb\n", 3), (Lines{{"abc", true}, {"b"}}));
  const std::string huge(3'000'000, 'x');
  EXPECT_EQ(lines_of("a\n" + huge + "\nb", 10), (Lines{{"a"}, {"xxxxxxxxxx", true}, {"b"}}));
  EXPECT_EQ(lines_of(huge, 10), (Lines{{"xxxxxxxxxx", true}}));
  EXPECT_EQ(lines_of(huge + "\nb", 3'000'000), (Lines{{huge}, {"b"}}));
}

TEST(LineReader, CountsACarriageReturnThatEndsAChunkWithTheLineEnd) {
  // As long as a chunk, together with the carriage return.
  const std::string longest(256 * 1024 - 1, 'x');
  EXPECT_EQ(lines_of(longest + "\r\nb", longest.size()), (Lines{{longest}, {"b"}}));
  EXPECT_EQ(lines_of(longest + "\r", longest.size()), (Lines{{longest}}));
  EXPECT_EQ(lines_of(longest + "xx\nb", longest.size()), (Lines{{longest, true}, {"b"}}));
  EXPECT_EQ(lines_of("xx\r" + longest + "\nb", 3), (Lines{{"xx\r", true}, {"b"}}));
}

RC_GTEST_PROP(LineReader, LosesNothingAcrossChunks, ()) {
  // Lines about as long as the chunks in which the file is read, so that they end at all places of
  // a chunk.
  const auto sizes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 300'000));
  std::string content;
  Lines lines;
  for (const int size : sizes) {
    lines.push_back(
        {std::string(static_cast<std::size_t>(size), static_cast<char>('a' + size % 26)), false});
    content += lines.back().text + "\n";
  }
  RC_ASSERT(lines_of(content, 300'000) == lines);
}

TEST(LineReader, SaysWhatItCannotRead) {
  LineReader reader(-1, 10);
  std::string_view line;
  const auto more = reader.next(line);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::io_error);
}

TEST(ReadAll, StopsAtTheLimit) {
  const std::string content(1'000'000, 'x');
  EXPECT_EQ(*read_all(File(content).fd(), content.size()), content);
  EXPECT_EQ(read_all(File(content).fd(), content.size() - 1).error().code, ErrorCode::too_large);
  EXPECT_EQ(*read_all(File("").fd(), 0), "");
}

class LinePipe {
 public:
  LinePipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~LinePipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  LinePipe(const LinePipe&) = delete;
  LinePipe& operator=(const LinePipe&) = delete;
  [[nodiscard]] int reading() const { return ends_[0]; }
  void say(std::string_view text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(LineReader, ALineThatHasNotEndedByThenIsWaitedForNoLonger) {
  using Clock = std::chrono::steady_clock;
  const auto in = [](int ms) { return Clock::now() + std::chrono::milliseconds(ms); };
  const LinePipe pipe;
  const base::StopEvent stop;
  LineReader reader(pipe.reading(), 100, &stop);
  pipe.say("first\nsec");
  std::string_view line;
  EXPECT_TRUE(*reader.has_line_by(in(60'000)));
  ASSERT_TRUE(*reader.next(line));
  EXPECT_EQ(line, "first");
  EXPECT_FALSE(*reader.has_line_by(in(1)));
  pipe.say("ond\n");
  EXPECT_TRUE(*reader.has_line_by(in(60'000)));
  ASSERT_TRUE(*reader.next(line));
  EXPECT_EQ(line, "second");
  pipe.say(std::string(200, 'x'));
  EXPECT_TRUE(*reader.has_line_by(in(60'000)));  // the line is too long already
}

TEST(LineReader, AStopEndsTheWaitForALine) {
  const LinePipe pipe;
  base::StopEvent stop;
  LineReader reader(pipe.reading(), 100, &stop);
  stop.set();
  const auto there = reader.has_line_by(std::chrono::steady_clock::time_point::max());
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().code, ErrorCode::closed);
}

}  // namespace
}  // namespace tarry::app
