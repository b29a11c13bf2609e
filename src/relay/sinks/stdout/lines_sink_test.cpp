#include "relay/sinks/stdout/lines_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include "support/outgoing.h"
#include "support/pipe.h"

namespace tarry::relay {
namespace {

using test::Answers;
using test::kLine;
using test::Pipe;

TEST(LinesSink, OneLineOfJsonEachInOrder) {
  Pipe pipe;
  Answers answers;
  LinesSink sink(pipe.writer(), [](Error) {});
  sink.send(answers.batch({"a", "b", "c"}, {{"lang", "de"}}));
  EXPECT_EQ(pipe.read_line(), "");  // ends the half line that an earlier run may have left
  EXPECT_EQ(pipe.read_line(), kLine);
  EXPECT_NE(pipe.read_line().find("\"key\":\"b\""), std::string::npos);
  EXPECT_NE(pipe.read_line().find("\"key\":\"c\""), std::string::npos);
  EXPECT_EQ(answers.fate("c"), Fate::confirmed);
}

TEST(LinesSink, AReaderThatHasGoneIsDown) {
  Pipe pipe;
  pipe.close_reader();
  Answers answers;
  std::string told;
  LinesSink sink(pipe.writer(), [&](const Error& error) { told = error.message; });
  sink.send(answers.batch({"a"}));
  EXPECT_EQ(answers.fate("a"), Fate::down);
  EXPECT_EQ(told, "cannot write to stdout: Broken pipe");
}

TEST(LinesSink, AfterCloseNothingIsSent) {
  Pipe pipe;
  Answers answers;
  LinesSink sink(pipe.writer(), [](Error) {});
  sink.close();
  sink.send(answers.batch({"a"}));
  EXPECT_EQ(answers.fate("a"), Fate::down);
}

class CloseAtEnd {
 public:
  explicit CloseAtEnd(Pipe& pipe) : pipe_(pipe) {}
  ~CloseAtEnd() { pipe_.close_reader(); }
  CloseAtEnd(const CloseAtEnd&) = delete;
  CloseAtEnd& operator=(const CloseAtEnd&) = delete;

 private:
  Pipe& pipe_;
};

TEST(LinesSink, CloseEndsAWriteThatNobodyReads) {
  Pipe pipe;
  Answers answers;
  LinesSink sink(pipe.writer(), [](Error) {});
  const CloseAtEnd unblock(pipe);  // lets the sink end even if an assertion fails
  // More than the pipe holds.
  sink.send(answers.batch({"a", "b"}, {}, {std::string(4'000'000, 'x')}));
  EXPECT_EQ(pipe.read_line(), "");
  EXPECT_EQ(pipe.read_some(), '{');
  sink.close();
  EXPECT_EQ(answers.fate("b"), Fate::down);
  EXPECT_EQ(answers.fate("a"), Fate::unknown);
}

TEST(LinesSink, WhatIsTooLateIsNotWritten) {
  Pipe pipe;
  Answers late;
  Answers answers;
  LinesSink sink(pipe.writer(), [](Error) {});
  sink.send(late.late_parcels({"a"}));
  sink.send(answers.batch({"b"}));
  EXPECT_EQ(pipe.read_line(), "");
  EXPECT_NE(pipe.read_line().find("\"key\":\"b\""), std::string::npos);
  EXPECT_EQ(late.fate("a"), Fate::late);
}

TEST(LinesSink, WhatAnotherRunLeftInALineSpoilsNoMessage) {
  Pipe pipe;
  pipe.write("{\"queue\":\"q\",\"pay");
  Answers answers;
  LinesSink sink(pipe.writer(), [](Error) {});
  sink.send(answers.batch({"a"}, {{"lang", "de"}}));
  EXPECT_EQ(pipe.read_line(), "{\"queue\":\"q\",\"pay");
  EXPECT_EQ(pipe.read_line(), kLine);
}

// Returns a file's content after a sink has written a message to it. `before`: the content until
// then; `flags`: how it is opened.
std::string added_to(const std::string& before, int flags) {
  std::string name = "/tmp/tarry-lines-XXXXXX";
  ::close(::mkstemp(name.data()));
  std::ofstream(name) << before;
  const int fd = ::open(name.c_str(), flags);
  {
    Answers answers;
    LinesSink sink(fd, [](Error) {});
    sink.send(answers.batch({"a"}, {{"lang", "de"}}));
    EXPECT_EQ(answers.fate("a"), Fate::confirmed);
  }
  ::close(fd);
  std::ostringstream all;
  all << std::ifstream(name).rdbuf();
  ::unlink(name.c_str());
  return all.str();
}

TEST(LinesSink, AFileIsLookedAt) {
  const std::string line = std::string(kLine) + "\n";
  EXPECT_EQ(added_to("", O_WRONLY | O_APPEND), line);
  EXPECT_EQ(added_to("{}\n", O_WRONLY | O_APPEND), "{}\n" + line);
  EXPECT_EQ(added_to("{\"qu", O_WRONLY | O_APPEND), "{\"qu\n" + line);
  EXPECT_EQ(added_to("{\"qu", O_WRONLY), line);  // overwrites it
}

TEST(LinesSink, AfterALineThatTheDiskDidNotTakeAnotherBegins) {
  std::string name = "/tmp/tarry-lines-XXXXXX";
  const int fd = ::mkstemp(name.data());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Answers answers;
  LinesSink sink(fd, [](Error) {});
  sink.send(answers.batch({"a"}, {{"lang", "de"}}));
  EXPECT_EQ(answers.fate("a"), Fate::unknown);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  Answers next;
  sink.send(next.batch({"a"}, {{"lang", "de"}}));
  EXPECT_EQ(next.fate("a"), Fate::confirmed);
  std::ostringstream all;
  all << std::ifstream(name).rdbuf();
  EXPECT_EQ(all.str(), std::string(kLine).substr(0, 10) + "\n" + kLine + "\n");
  ::close(fd);
  ::unlink(name.c_str());
}

}  // namespace
}  // namespace tarry::relay
