#include "base/threads/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <string>

namespace tarry::base {
namespace {

std::string own_name() {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return name.data();
}

bool blocks(int signal) {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return ::sigismember(&mask, signal) == 1;
}

TEST(ThreadTest, ItTakesNoSignalButFaultsAndTheStarterTakesWhatItTook) {
  ASSERT_FALSE(blocks(SIGTERM));
  std::string name;
  start_thread("tarry-test", [&] {
    name = own_name();
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE, SIGXFSZ, SIGUSR1}) {
      EXPECT_TRUE(blocks(signal)) << signal;
    }
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
      EXPECT_FALSE(blocks(fault)) << fault;
    }
  }).join();
  EXPECT_EQ(name, "tarry-test");
  EXPECT_FALSE(blocks(SIGTERM));
}

TEST(ThreadTest, AJoiningThreadIsToldToStop) {
  bool stopped = false;
  {
    const std::jthread thread = start_jthread("tarry-test", [&](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      stopped = blocks(SIGTERM);
    });
  }
  EXPECT_TRUE(stopped);
}

TEST(ThreadTest, ALongNameIsCutItsNumberNever) {
  EXPECT_STREQ(ThreadName("tarry-shard", 255).c_str(), "tarry-shard-255");
  EXPECT_STREQ(ThreadName("tarry-worker", 1023).c_str(), "tarry-work-1023");
  EXPECT_STREQ(ThreadName("order-timeout-relay", 0).c_str(), "order-timeout-0");
  EXPECT_STREQ(ThreadName("", 7).c_str(), "-7");
}

}  // namespace
}  // namespace tarry::base
