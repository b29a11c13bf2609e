// The threads of the library inside a program: their names, and that signals reach the program's
// own threads.
#include <gtest/gtest.h>
#include <tarry/server.h>
#include <tarry/store.h>
#include <tarry/worker.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_directory.h"

namespace tarry {
namespace {

struct SeenThread {
  std::string name;
  std::uint64_t blocked = 0;  // bit N-1: signal N
};

std::map<std::string, SeenThread> threads_of_process() {
  std::map<std::string, SeenThread> seen;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    SeenThread thread;
    std::ifstream(task.path() / "comm") >> thread.name;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigBlk:"))
        std::istringstream(line.substr(7)) >> std::hex >> thread.blocked;
    }
    seen.emplace(task.path().filename(), thread);
  }
  return seen;
}

constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }

// A worker whose handler runs while the test looks at the threads.
struct Work {
  explicit Work(const Store& store)
      : worker(store.queue("q"), {},
               [this](const Delivery&, const std::stop_token&) {
                 begun.set_value();
                 let_go.get_future().wait();
                 return ack();
               }),
        runner([this](const std::stop_token& stop) { EXPECT_TRUE(worker.run(stop)); }) {}

  std::promise<void> begun;
  std::promise<void> let_go;
  Worker worker;
  std::jthread runner;
};

TEST(LibraryThreads, HaveNamesAndLeaveSignalsToTheProgram) {
  std::thread([] {}).join();  // now the threads that a sanitizer starts beside the first one exist
  std::set<std::string> names;
  const auto before = threads_of_process();

  const storage::TempDirectory directory;
  const auto ram = tarry::open("memory:");
  const auto disk = tarry::open("file:" + directory.path() + "/store?shards=2");
  ASSERT_TRUE(ram && disk);
  Server server(*disk, directory.path() + "/x.sock");
  ASSERT_TRUE(server.start());
  const auto remote = tarry::open(server.url());
  ASSERT_TRUE(remote) << remote.error().message;
  Work work(*remote);
  ASSERT_TRUE(remote->queue("q").push({.key = "k"}));
  work.begun.get_future().wait();

  std::size_t unnamed = 0;
  for (const auto& [id, thread] : threads_of_process()) {
    if (before.contains(id)) continue;
    if (!thread.name.starts_with("tarry-")) {
      ++unnamed;  // the test's own thread, which runs the worker
      continue;
    }
    names.insert(thread.name);
    for (int signal = 1; signal <= 31; ++signal) {
      const bool fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
                         signal == SIGILL || signal == SIGABRT || signal == SIGTRAP ||
                         signal == SIGSYS;
      if (signal == SIGKILL || signal == SIGSTOP) continue;
      EXPECT_EQ((thread.blocked & bit(signal)) != 0, !fault) << thread.name << ' ' << signal;
    }
  }
  EXPECT_EQ(unnamed, 1u);
  for (const char* name : {"tarry-shard-0", "tarry-shard-1", "tarry-sync-1", "tarry-answers",
                           "tarry-close", "tarry-server", "tarry-remote", "tarry-worker-0"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  work.let_go.set_value();
}

TEST(LibraryThreads, AProgramThatWaitsForASignalAfterItOpenedAStoreGetsIt) {
  const auto store = tarry::open("memory:?shards=4");
  ASSERT_TRUE(store);
  // The signal goes to the process, as a service manager sends SIGTERM. It would end the process if
  // it reached a thread of the library.
  sigset_t wanted;
  sigset_t before;
  ::sigemptyset(&wanted);
  ::sigaddset(&wanted, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &wanted, &before), 0);
  ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
  int got = 0;
  ASSERT_EQ(::sigwait(&wanted, &got), 0);
  EXPECT_EQ(got, SIGUSR1);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

// Returns a Queue that outlives its closed store.
Queue opened_and_closed(const std::string& url) {
  const auto before = threads_of_process().size();
  auto store = tarry::open(url);
  EXPECT_TRUE(store) << url;
  Queue queue = store->queue("q");
  EXPECT_TRUE(queue.push({.key = "k"}));
  EXPECT_EQ(queue.claim({.lease = std::chrono::hours(1)})->size(), 1u);
  std::promise<ErrorCode> ended;
  queue.claim({.wait = std::chrono::minutes(5)}, [&](const auto& claimed) {
    ended.set_value(claimed ? ErrorCode::invalid_argument : claimed.error().code);
  });
  EXPECT_GT(threads_of_process().size(), before) << url;
  store->close();
  EXPECT_EQ(ended.get_future().get(), ErrorCode::closed) << url;
  return queue;
}

TEST(ClosedStore, HasNeitherThreadsNorDescriptorsThoughAQueueLivesOn) {
  std::thread([] {}).join();
  const storage::TempDirectory directory;
  const auto threads = threads_of_process();
  const std::size_t descriptors = open_descriptors();
  std::vector<Queue> queues;
  const auto expect_nothing_left = [&] {
    for (const auto& [id, thread] : threads_of_process()) {
      EXPECT_TRUE(threads.contains(id)) << thread.name;
    }
    EXPECT_EQ(open_descriptors(), descriptors);
  };
  queues.push_back(opened_and_closed("memory:?shards=3"));
  expect_nothing_left();
  queues.push_back(opened_and_closed(file_url(directory.path() + "/store") + "?shards=2"));
  expect_nothing_left();
  {
    const auto served = tarry::open("memory:");
    ASSERT_TRUE(served);
    Server server(*served, directory.path() + "/x.sock");
    ASSERT_TRUE(server.start());
    queues.push_back(opened_and_closed(server.url()));
  }
  expect_nothing_left();
  for (const Queue& queue : queues) {
    const auto pushed = queue.push({.key = "k"});
    ASSERT_FALSE(pushed);
    EXPECT_EQ(pushed.error().code, ErrorCode::closed);
  }
}

}  // namespace
}  // namespace tarry
