#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "relay/sinks/command_sink.h"
#include "relay/sinks/lines_sink.h"
#include "relay/sinks/redis_sink.h"
#include "support/parcels.h"
#include "support/redis_server.h"

namespace tarry::relay {
namespace {

using test::Answers;

constexpr const char* kLine =
    R"({"queue":"q","id":"1","key":"a","attempt":1,"due":"2020-09-13T12:26:40.000Z",)"
    R"("due_ms":1600000000000,"headers":{"lang":"de"},"payload":"payload-a"})";

// -- stdout

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

TEST(LinesSink, OneLineOfJsonEachInOrder) {
  Pipe pipe;
  Answers answers;
  LinesSink sink(pipe.writer(), [](Error) {});
  sink.send(answers.parcels({"a", "b", "c"}, {{"lang", "de"}}));
  EXPECT_EQ(pipe.read_line(), "");  // ends what may stand there
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
  sink.send(answers.parcels({"a"}));
  EXPECT_EQ(answers.fate("a"), Fate::down);
  EXPECT_EQ(told, "cannot write to stdout: Broken pipe");
}

TEST(LinesSink, AfterCloseNothingIsSent) {
  Pipe pipe;
  Answers answers;
  LinesSink sink(pipe.writer(), [](Error) {});
  sink.close();
  sink.send(answers.parcels({"a"}));
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
  const CloseAtEnd unblock(pipe);  // however the test ends
  // More than a pipe takes.
  sink.send(answers.parcels({"a", "b"}, {}, {std::string(4'000'000, 'x')}));
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
  sink.send(answers.parcels({"b"}));
  EXPECT_EQ(pipe.read_line(), "");
  EXPECT_NE(pipe.read_line().find("\"key\":\"b\""), std::string::npos);
  EXPECT_EQ(late.fate("a"), Fate::late);
}

TEST(LinesSink, WhatAnotherRunLeftInALineSpoilsNoMessage) {
  Pipe pipe;
  pipe.write("{\"queue\":\"q\",\"pay");
  Answers answers;
  LinesSink sink(pipe.writer(), [](Error) {});
  sink.send(answers.parcels({"a"}, {{"lang", "de"}}));
  EXPECT_EQ(pipe.read_line(), "{\"queue\":\"q\",\"pay");
  EXPECT_EQ(pipe.read_line(), kLine);
}

// What a sink adds to a file of such content, opened so.
std::string added_to(const std::string& before, int flags) {
  std::string name = "/tmp/tarry-lines-XXXXXX";
  ::close(::mkstemp(name.data()));
  std::ofstream(name) << before;
  const int fd = ::open(name.c_str(), flags);
  {
    Answers answers;
    LinesSink sink(fd, [](Error) {});
    sink.send(answers.parcels({"a"}, {{"lang", "de"}}));
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
  EXPECT_EQ(added_to("{\"qu", O_WRONLY), line);  // over it
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
  sink.send(answers.parcels({"a"}, {{"lang", "de"}}));
  EXPECT_EQ(answers.fate("a"), Fate::unknown);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  Answers next;
  sink.send(next.parcels({"a"}, {{"lang", "de"}}));
  EXPECT_EQ(next.fate("a"), Fate::confirmed);
  std::ostringstream all;
  all << std::ifstream(name).rdbuf();
  EXPECT_EQ(all.str(), std::string(kLine).substr(0, 10) + "\n" + kLine + "\n");
  ::close(fd);
  ::unlink(name.c_str());
}

// -- command

Answer run_command(const std::string& script) {
  Answers answers;
  CommandSink sink({"sh", "-c", script}, 2);
  sink.send(answers.parcels({"a"}));
  return answers.of("a");
}

// For commands, which are given no descriptors of ours.
std::string path_of(int descriptor) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor);
}

TEST(CommandSink, ExitStatusesAnswer) {
  EXPECT_EQ(run_command("[ $TARRY_KEY = a ] && [ $(cat) = payload-a ]").fate, Fate::confirmed);
  EXPECT_EQ(run_command("exit 75").fate, Fate::again);
  EXPECT_EQ(run_command("exit 1").reason, "the command exited with 1");
  EXPECT_EQ(run_command("exit 65").fate, Fate::refused);
  EXPECT_EQ(run_command("kill -9 $$").reason, "the command was killed by signal 9");
  EXPECT_EQ(run_command("kill -9 $$").fate, Fate::again);
}

TEST(CommandSink, ACommandThatIsNotThereIsDown) {
  Answers answers;
  CommandSink sink({"/no/such/program"}, 1);
  EXPECT_FALSE(sink.check());
  sink.send(answers.parcels({"a"}));
  EXPECT_EQ(answers.fate("a"), Fate::down);
}

TEST(CommandSink, NoneBeginsOnceItsLeaseHasEnded) {
  Pipe said;
  Pipe go_on;
  Answers answers;
  CommandSink sink({"sh", "-c",
                    "echo $TARRY_KEY > " + path_of(said.writer()) + "; exec head -c 1 < " +
                        path_of(go_on.reader())},
                   1);
  auto parcels = answers.parcels({"a", "b", "c"});
  const auto lease = std::make_shared<LeaseEnd>(Moment::max());
  parcels[1].lease = lease;
  sink.send(std::move(parcels));
  EXPECT_EQ(said.read_line(), "a");
  lease->lose();  // while it waits for its turn
  ASSERT_EQ(::write(go_on.writer(), "..", 2), 2);
  EXPECT_EQ(said.read_line(), "c");
  EXPECT_EQ(answers.fate("b"), Fate::late);
  EXPECT_EQ(answers.fate("c"), Fate::confirmed);
}

TEST(CommandSink, CloseEndsWhatRuns) {
  Pipe said;
  Answers answers;
  CommandSink sink(
      {"sh", "-c", "echo begun > " + path_of(said.writer()) + "; exec tail -f /dev/null"}, 1);
  sink.send(answers.parcels({"a", "b"}));
  EXPECT_EQ(said.read_line(), "begun");
  sink.close();
  EXPECT_EQ(answers.fate("b"), Fate::down);
  EXPECT_EQ(answers.fate("a"), Fate::again);
}

TEST(CommandSink, AbandonKillsWhatWillNotEnd) {
  Pipe said;
  Answers answers;
  CommandSink sink({"sh", "-c",
                    "trap 'echo asked > " + path_of(said.writer()) + "' TERM; echo begun > " +
                        path_of(said.writer()) + "; for i in 1 2 3; do sleep 60 & wait; done"},
                   1);
  sink.send(answers.parcels({"a"}));
  EXPECT_EQ(said.read_line(), "begun");
  sink.close();
  EXPECT_EQ(said.read_line(), "asked");
  sink.abandon();
  EXPECT_EQ(answers.of("a").reason, "the command was killed by signal 9");
}

// -- Redis

net::RedisOptions at(const testing::RedisServer& server) {
  net::RedisOptions options;
  options.unix_path = server.socket_path();
  return options;
}

TEST(RedisSink, ListStreamAndChannel) {
  testing::RedisServer server;
  Answers list;
  RedisSink to_list(at(server), {RedisTarget::Kind::list, "due"});
  to_list.send(list.parcels({"a", "b"}, {{"lang", "de"}}));
  EXPECT_EQ(list.fate("a"), Fate::confirmed);
  EXPECT_EQ(list.fate("b"), Fate::confirmed);
  EXPECT_EQ(server.ask({"LPOP", "due"}),
            "$" + std::to_string(std::string(kLine).size()) + "\r\n" + kLine + "\r\n");
  EXPECT_EQ(server.ask({"LLEN", "due"}), ":1\r\n");

  Answers stream;
  RedisSink to_stream(at(server), {RedisTarget::Kind::stream, "events", 1});
  to_stream.send(stream.parcels({"a"}, {{"lang", "de"}}));
  EXPECT_EQ(stream.fate("a"), Fate::confirmed);
  const std::string script =
      "return table.concat(redis.call('XRANGE', 'events', '-', '+')[1][2], '|')";
  const std::string fields =
      "queue|q|id|1|key|a|attempt|1|due_ms|1600000000000|header:lang|de|payload|payload-a";
  EXPECT_EQ(server.ask({"EVAL", script, "0"}),
            "$" + std::to_string(fields.size()) + "\r\n" + fields + "\r\n");

  Answers channel;
  RedisSink to_channel(at(server), {RedisTarget::Kind::channel, "news"});
  to_channel.send(channel.parcels({"a"}));
  EXPECT_EQ(channel.fate("a"), Fate::confirmed);  // nobody listens: at most once
  EXPECT_EQ(to_channel.title(), "redis " + server.socket_path() + ", channel \"news\"");
}

TEST(RedisSink, AKeyOfAnotherTypeIsNoMessagesFault) {
  testing::RedisServer server;
  ASSERT_EQ(server.ask({"SET", "due", "a string"}), "+OK\r\n");
  Answers answers;
  RedisSink sink(at(server), {RedisTarget::Kind::list, "due"});
  sink.send(answers.parcels({"a"}));
  EXPECT_EQ(answers.fate("a"), Fate::down);
  EXPECT_TRUE(answers.of("a").reason.starts_with("redis: WRONGTYPE")) << answers.of("a").reason;
}

TEST(RedisSink, NorIsAUserThatMayNotWriteThere) {
  testing::RedisServer server;
  ASSERT_EQ(server.ask({"ACL", "SETUSER", "app", "on", ">pw", "~other", "+@all"}), "+OK\r\n");
  net::RedisOptions options = at(server);
  options.user = "app";
  options.password = "pw";
  Answers answers;
  RedisSink sink(std::move(options), {RedisTarget::Kind::stream, "due"});
  sink.send(answers.parcels({"a"}));
  EXPECT_EQ(answers.fate("a"), Fate::down);
  EXPECT_TRUE(answers.of("a").reason.starts_with("redis: NOPERM")) << answers.of("a").reason;
}

TEST(RedisSink, WhatIsNotSentIsDownWhatIsNotAnsweredUnknown) {
  testing::RedisServer server;
  RedisSink sink(at(server), {RedisTarget::Kind::list, "due"});
  Answers first;
  sink.send(first.parcels({"a"}));
  EXPECT_EQ(first.fate("a"), Fate::confirmed);
  server.pause();
  Answers second;
  sink.send(second.parcels({"b"}));
  sink.close();
  EXPECT_NE(second.fate("b"), Fate::confirmed);
  Answers third;
  sink.send(third.parcels({"c"}));
  EXPECT_EQ(third.fate("c"), Fate::down);
  server.cont();
}

TEST(RedisSink, WhatAServerDoesNotReadWaitsWhereItsLeaseIsLookedAt) {
  testing::RedisServer server;
  RedisSink sink(at(server), {RedisTarget::Kind::list, "due"});
  server.pause();
  Answers answers;
  const std::string large(512 * 1024, 'x');
  auto parcels = answers.parcels({"a", "b", "c"}, {}, {large, large, large});
  const auto lease = std::make_shared<LeaseEnd>(Moment::max());
  parcels[1].lease = lease;
  sink.send(std::move(parcels));
  lease->lose();
  server.cont();
  EXPECT_EQ(answers.fate("a"), Fate::confirmed);
  EXPECT_EQ(answers.fate("b"), Fate::late);
  EXPECT_EQ(answers.fate("c"), Fate::confirmed);
  EXPECT_EQ(server.ask({"LLEN", "due"}), ":2\r\n");
}

TEST(RedisSink, AServerThatIsFullOrGoneIsDown) {
  testing::RedisServer server;
  ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "1"}), "+OK\r\n");
  RedisSink sink(at(server), {RedisTarget::Kind::list, "due"});
  Answers full;
  sink.send(full.parcels({"a"}));
  EXPECT_EQ(full.fate("a"), Fate::down);
  server.kill9();
  RedisSink another(at(server), {RedisTarget::Kind::list, "due"});
  Answers gone;
  another.send(gone.parcels({"a"}));
  EXPECT_EQ(gone.fate("a"), Fate::down);
}

}  // namespace
}  // namespace tarry::relay
