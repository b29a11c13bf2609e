#include "server/beanstalk/command_reader.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/beanstalk/job_ids.h"

namespace tarry::beanstalk {
namespace {

/// Feeds the bytes to a reader, `piece` bytes at a time, and returns the commands that it read.
std::vector<std::string> read_in(const std::string& bytes, std::size_t piece) {
  CommandReader reader(100);
  std::vector<std::string> read;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.append(std::string_view(bytes).substr(at, piece));
    while (const auto command = reader.next()) {
      read.push_back(std::string(to_string(command->verb)) + " " +
                     std::to_string(static_cast<int>(command->fault)) + " " +
                     std::string(command->body));
    }
  }
  if (reader.is_lost()) read.emplace_back("lost");
  return read;
}

TEST(CommandReader, reads_the_same_in_any_pieces) {
  const std::string bytes = "put 1 2 3 5\r\nab\r\nc\r\nuse x\r\n\r\nput 1 2 3 101\r\n" +
                            std::string(101, 'x') + "\r\nstats\r\n" + std::string(300, 'y') +
                            "\r\nput 0 0 0 0\r\n\r\nreserve\r\n";
  const std::vector<std::string> whole = read_in(bytes, bytes.size());
  EXPECT_EQ(whole, (std::vector<std::string>{"put 0 ab\r\nc", "use 0 ", "none 2 ", "put 3 ",
                                             "stats 0 ", "none 1 ", "put 0 ", "reserve 0 "}));
  for (std::size_t piece = 1; piece < 20; ++piece) EXPECT_EQ(read_in(bytes, piece), whole);
}

TEST(CommandReader, reads_nothing_after_a_job_of_the_wrong_length) {
  for (const char* put : {"put 1 2 3 2\r\nabc\r\n", "put 1 2 3 x\r\nabc\r\n", "put 1 2 3\r\n",
                          "put 1 2 3 4 5\r\nabcd\r\n", "put-key k 1 2 3 2\r\nabc\r\n"}) {
    for (const std::size_t piece : {1u, 7u, 100u}) {
      const auto read = read_in(std::string(put) + "delete 1\r\n", piece);
      ASSERT_EQ(read.size(), 2u) << put;
      EXPECT_EQ(read.back(), "lost");
    }
  }
}

TEST(CommandReader, returns_a_command_again) {
  CommandReader reader(10);
  reader.append("put 0 0 0 11\r\n0123456789x\r\ntouch 7\r\n");
  ASSERT_EQ(reader.next()->fault, Fault::too_big);
  reader.rewind();
  ASSERT_EQ(reader.next()->fault, Fault::too_big);
  ASSERT_EQ(reader.next()->id, 7u);
  reader.rewind();
  ASSERT_EQ(reader.next()->id, 7u);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.is_empty());
}

TEST(CommandReader, throws_a_refused_body_away) {
  CommandReader reader(1000);
  reader.append("put 0 0 0 500\r\nabc");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.awaited(), 502u);
  reader.refuse_body();
  EXPECT_FALSE(reader.next());
  reader.append(std::string(497, 'x') + "\r\nquit\r\n");
  EXPECT_EQ(reader.next()->fault, Fault::out_of_memory);
  EXPECT_EQ(reader.next()->verb, Verb::quit);
}

TEST(Command, reads_numbers_as_beanstalkd) {
  EXPECT_EQ(parse_command("release  1   2 3").delay, 3u);
  EXPECT_EQ(parse_command("reserve-with-timeout x").timeout, 0);
  EXPECT_EQ(parse_command("reserve-with-timeout -1").timeout, -1);
  EXPECT_EQ(parse_command("reserve-with-timeout 4294967295").timeout, -1);
  EXPECT_EQ(parse_command("kick -1").count, 4'294'967'295u);
  EXPECT_EQ(parse_command("delete 18446744073709551615").fault, Fault::none);
  EXPECT_EQ(parse_command("delete 18446744073709551616").fault, Fault::bad_format);
  EXPECT_EQ(parse_command("put 4294967296 0 0 0").fault, Fault::bad_format);
}

TEST(JobIds, finds_its_own_numbers_again) {
  JobIds ids;
  core::PushReply reply;
  reply.items.resize(3);
  for (std::uint64_t i = 0; i < 3; ++i) reply.items[i].id = 17 + i;
  ids.add(reply);
  ASSERT_EQ(ids.left(), 93u);
  std::uint64_t last = 0;
  while (ids.left() > 0) {
    const std::uint64_t job = ids.take("tube");
    EXPECT_NE(job, last);
    last = job;
    EXPECT_TRUE(may_be_in(job, "tube"));
    EXPECT_EQ(job_of("tube", std::to_string(job), 5), job);
  }
  const std::uint64_t foreign = job_of("tube", "order:42", 5);
  EXPECT_FALSE(is_key_of_job(foreign));
  EXPECT_NE(foreign, job_of("tube", "order:43", 6));
  EXPECT_FALSE(is_key_of_job(job_of("tube", "007", 5)));
}

}  // namespace
}  // namespace tarry::beanstalk
