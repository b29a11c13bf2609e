#include "relay/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>

#include "base/threads/thread.h"

namespace tarry::relay {
namespace {

class ChildProcessTest : public ::testing::Test {
 public:
  ~ChildProcessTest() override { std::filesystem::remove_all(directory_); }

 protected:
  ChildProcessTest() {
    std::signal(SIGPIPE, SIG_IGN);
    std::string name = "/tmp/tarry-child-XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  static Ended run(const std::string& script, std::string_view input = {},
                   const std::map<std::string, std::string>& variables = {}) {
    ChildProcesses children({"sh", "-c", script});
    const auto ended = children.run(input, variables);
    EXPECT_TRUE(ended.has_value());
    return ended ? *ended : Ended{-1, -1};
  }

 private:
  std::filesystem::path directory_;
};

TEST_F(ChildProcessTest, ACommandThatReadsNothingEndsNobodyElse) {
  std::signal(SIGPIPE, SIG_DFL);
  ChildProcesses processes({"true"});
  const auto ended = processes.run(std::string(1 << 20, 'x'), {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->status, 0);
}

TEST_F(ChildProcessTest, AnswersTheExitStatus) {
  EXPECT_EQ(run("exit 0").status, 0);
  EXPECT_EQ(run("exit 75").status, 75);
  EXPECT_EQ(run("kill -9 $$").signal, SIGKILL);
}

// Ignores SIGCHLD as long as the object lives.
class ChildrenIgnored {
 public:
  ChildrenIgnored() { std::signal(SIGCHLD, SIG_IGN); }
  ~ChildrenIgnored() { std::signal(SIGCHLD, SIG_DFL); }
  ChildrenIgnored(const ChildrenIgnored&) = delete;
  ChildrenIgnored& operator=(const ChildrenIgnored&) = delete;
};

TEST_F(ChildProcessTest, WhereChildrenAreIgnoredNobodyKnowsHowItEnded) {
  const ChildrenIgnored ignored;
  ChildProcesses children({"sh", "-c", "sh -c 'exit 3'; echo $? > " + path("out")});
  const auto ended = children.run("", {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error(), (Error{ErrorCode::unknown_outcome,
                                  "\"sh\" has ended, nobody knows how: SIGCHLD is ignored, or its "
                                  "exit status was taken by somebody else"}));
  EXPECT_EQ(content("out"), "3\n");
}

TEST_F(ChildProcessTest, AShortageIsNoReasonToGiveUp) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  ChildProcesses children({"true"});
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto refused = children.run("", {});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(),
            (Error{ErrorCode::unavailable, "cannot make a pipe: Too many open files"}));
  const auto ended = children.run("", {});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 0);

  const auto missing = ChildProcesses({"/no/such/program"}).run("", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::io_error);
}

TEST_F(ChildProcessTest, FeedsBytesOfAnyKind) {
  std::string input;
  for (int i = 0; i < 300'000; ++i) input += static_cast<char>(i * 7);  // more than a pipe holds
  EXPECT_EQ(run("cat > " + path("out"), input).status, 0);
  EXPECT_EQ(content("out"), input);
}

TEST_F(ChildProcessTest, TheCommandBlocksNoSignalThoughOurThreadsDo) {
  base::start_thread("tarry-test", [&] {
    // Runs grep directly, because a shell would unblock the signals.
    ChildProcesses looking({"grep", "-qE", "^SigBlk:.0+$", "/proc/self/status"});
    const auto ended = looking.run("", {});
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->status, 0);
  }).join();
}

TEST_F(ChildProcessTest, AnEmptyInputEndsAtOnce) {
  EXPECT_EQ(run("cat > " + path("out")).status, 0);
  EXPECT_EQ(content("out"), "");
}

TEST_F(ChildProcessTest, ACommandThatDoesNotReadIsNoError) {
  const std::string input(1'000'000, 'x');
  EXPECT_EQ(run("exit 3", input).status, 3);
  EXPECT_EQ(run("exec <&-; exit 4", input).status, 4);
  EXPECT_EQ(run("head -c 10 > /dev/null; exit 5", input).status, 5);
}

TEST_F(ChildProcessTest, AGrandchildThatKeepsTheInputDoesNotHangUs) {
  const std::string input(1'000'000, 'x');
  // `sleep` keeps the pipe open without reading, for longer than this test can take.
  EXPECT_EQ(run("sleep 600 & echo $! > " + path("pid") + "; exit 6", input).status, 6);
  ::kill(std::stoi(content("pid")), SIGKILL);
}

TEST_F(ChildProcessTest, HandsOnTheEnvironment) {
  ::setenv("TARRY_KEY", "an older one", 1);
  EXPECT_EQ(
      run("printf '%s' \"$TARRY_KEY|$HOME\" > " + path("out"), {}, {{"TARRY_KEY", "a=b\n"}}).status,
      0);
  EXPECT_EQ(content("out"), std::string("a=b\n|") + std::getenv("HOME"));
}

TEST_F(ChildProcessTest, HandsOnNothingElseThatIsOpen) {
  // Like a descriptor of a library, which exec does not close.
  const int open = ::fcntl(STDERR_FILENO, F_DUPFD, 200);
  ASSERT_GE(open, 0);
  EXPECT_EQ(run("test -e /dev/fd/" + std::to_string(open)).status, 1);
  ::close(open);
}

TEST_F(ChildProcessTest, TheLimitOfOpenFilesIsTheOneThatIsWanted) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  for (const std::uint64_t wanted : {std::uint64_t{20}, std::uint64_t{before.rlim_max}}) {
    ChildProcesses children({"sh", "-c", "ulimit -Sn > " + path("out")}, {.descriptors = wanted});
    ASSERT_TRUE(children.run("", {}).has_value());
    EXPECT_EQ(content("out"), std::to_string(wanted) + "\n");
  }
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_cur);
}

TEST_F(ChildProcessTest, WhatIsWithheldIsNotInTheEnvironment) {
  ::setenv("TARRY_TOKEN", "sesame", 1);
  ChildProcesses children({"sh", "-c", "env > " + path("out")}, {.withheld = {"TARRY_TOKEN"}});
  ASSERT_TRUE(children.run("", {{"TARRY_KEY", "k"}}).has_value());
  EXPECT_EQ(content("out").find("TARRY_TOKEN"), std::string::npos);
  EXPECT_NE(content("out").find("TARRY_KEY=k"), std::string::npos);
  ::unsetenv("TARRY_TOKEN");
}

TEST_F(ChildProcessTest, NoSignalIsBlockedOrHandledAsItIsHere) {
  sigset_t blocked;
  sigset_t before;
  ::sigfillset(&blocked);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  std::signal(SIGUSR1, [](int) {});
  const auto ended = run("kill -USR1 $$; exit 0");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(ended.signal, SIGUSR1);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST_F(ChildProcessTest, NoShellReadsTheArguments) {
  ChildProcesses children({"sh", "-c", "printf '%s' \"$1\" > \"$0\"", path("out"), "$(id) ;'"});
  ASSERT_TRUE(children.run("", {}).has_value());
  EXPECT_EQ(content("out"), "$(id) ;'");
}

TEST_F(ChildProcessTest, TheCommandDiesOfABrokenPipeAsUsual) {
  // This process ignores SIGPIPE; a command that inherited this would run for ever.
  EXPECT_EQ(run("yes | head -n 1 > /dev/null").status, 0);
}

TEST_F(ChildProcessTest, ChecksWhetherTheProgramIsThere) {
  EXPECT_TRUE(ChildProcesses({"sh"}).check());
  EXPECT_TRUE(ChildProcesses({"/bin/sh"}).check());
  EXPECT_EQ(ChildProcesses({"no-such-program"}).check().error().code, ErrorCode::not_found);
  EXPECT_EQ(ChildProcesses({"/no/such/program"}).check().error().code, ErrorCode::not_found);
  EXPECT_EQ(ChildProcesses({""}).check().error().code, ErrorCode::not_found);
  std::ofstream(path("plain")) << "text";
  EXPECT_FALSE(ChildProcesses({path("plain")}).check());
}

TEST_F(ChildProcessTest, AProgramThatCannotBeStartedIsAnError) {
  ChildProcesses children({"/no/such/program"});
  const auto ended = children.run("", {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::io_error);
  EXPECT_NE(ended.error().message.find("/no/such/program"), std::string::npos);
}

TEST_F(ChildProcessTest, SignalsWhatRunsAndWhatThatHasStarted) {
  // The command opens a pipe to show that it runs; the test waits for that.
  ASSERT_EQ(::mkfifo(path("ready").c_str(), 0600), 0);
  ChildProcesses children({"sh", "-c", "sleep 600 & echo x > " + path("ready") + "; wait"});
  auto ended = std::async(std::launch::async, [&] { return children.run("", {}); });
  std::string word;
  std::ifstream(path("ready")) >> word;
  EXPECT_EQ(word, "x");
  children.signal_all(SIGTERM);
  const auto result = ended.get();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->signal, SIGTERM);
}

TEST_F(ChildProcessTest, WhatComesAfterASignalIsNotStarted) {
  ChildProcesses children({"true"});
  children.signal_all(SIGTERM);
  const auto ended = children.run("", {});
  ASSERT_FALSE(ended);  // a command started now would never get the signal
  EXPECT_EQ(ended.error().code, ErrorCode::closed);
}

}  // namespace
}  // namespace tarry::relay
