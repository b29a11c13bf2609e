#include "app/system/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <gtest/gtest.h>

namespace tarry::app {
namespace {

constexpr std::uint64_t kUnlimited = RLIM_INFINITY;

TEST(Descriptors, TheStoreKeepsHalfOfThem) {
  EXPECT_EQ(connections_within(1'000, 10'000), 400u);
  EXPECT_EQ(connections_within(20'000, 10'000), 8'000u);
  EXPECT_EQ(connections_within(1'000'000, 10'000), 10'000u);
  EXPECT_EQ(connections_within(kUnlimited, 10'000), 10'000u);
  EXPECT_EQ(connections_within(1'000, 7), 7u);
}

TEST(Descriptors, OfFewTheStoreKeepsMost) {
  EXPECT_EQ(connections_within(100, 10'000), 28u);
  EXPECT_EQ(connections_within(64, 10'000), 1u);
  EXPECT_EQ(connections_within(0, 10'000), 1u);
}

TEST(Descriptors, TheSoftLimitIsRaisedToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_GT(before.rlim_max, 100u);
  rlimit low = before;
  low.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_descriptor_limit(), before.rlim_max);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

// Runs `work` in a process of its own, because it closes standard descriptors that the test needs.
int exit_code_of_child(void (*work)()) {
  const pid_t child = ::fork();
  if (child == 0) work();
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Descriptors, StandardOnesThatAreClosedGoOnFailing) {
  EXPECT_EQ(exit_code_of_child([] {
              for (const int fd : {0, 1, 2}) ::close(fd);
              if (!secure_standard_descriptors()) ::_exit(1);
              char byte = 0;
              if (::read(0, &byte, 1) != -1 || errno != EBADF) ::_exit(2);
              for (const int fd : {1, 2}) {
                if (::write(fd, "x", 1) != -1 || errno != EBADF) ::_exit(3);
                if (is_open_for_writing(fd)) ::_exit(4);
              }
              ::_exit(::open("/dev/null", O_RDONLY) > 2 ? 0 : 5);
            }),
            0);
}

TEST(Descriptors, StandardOnesThatAreOpenStayAsTheyAre) {
  EXPECT_EQ(exit_code_of_child([] {
              const int null = ::open("/dev/null", O_RDWR);
              for (const int fd : {0, 1, 2}) ::dup2(null, fd);
              if (!secure_standard_descriptors()) ::_exit(1);
              ::_exit(::write(1, "x", 1) == 1 && is_open_for_writing(1) ? 0 : 2);
            }),
            0);
}

}  // namespace
}  // namespace tarry::app
