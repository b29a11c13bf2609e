#include "relay/sinks/command/command_sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "support/outgoing.h"
#include "support/pipe.h"

namespace tarry::relay {
namespace {

using test::Answers;
using test::Pipe;

Answer run_command(const std::string& script) {
  Answers answers;
  CommandSink sink({"sh", "-c", script}, 2);
  sink.send(answers.batch({"a"}));
  return answers.of("a");
}

// A path by which a command can open a descriptor of this process; commands inherit none.
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
  sink.send(answers.batch({"a"}));
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
  auto batch = answers.batch({"a", "b", "c"});
  const auto lease = std::make_shared<LeaseEnd>(Moment::max());
  batch[1].lease = lease;
  sink.send(std::move(batch));
  EXPECT_EQ(said.read_line(), "a");
  lease->lose();  // the lease ends while the message waits for its turn
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
  sink.send(answers.batch({"a", "b"}));
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
  sink.send(answers.batch({"a"}));
  EXPECT_EQ(said.read_line(), "begun");
  sink.close();
  EXPECT_EQ(said.read_line(), "asked");
  sink.abandon();
  EXPECT_EQ(answers.of("a").reason, "the command was killed by signal 9");
}

}  // namespace
}  // namespace tarry::relay
