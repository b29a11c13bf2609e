// WorkerRig: a worker on a scripted store. The test takes what the worker asks for, and answers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tarry/worker.h>

#include "core/request.h"
#include "support/scripted_engine.h"
#include "support/scripted_store.h"

namespace tarry::test {

// A gate between handlers and the test: handlers wait until the test opens it, and the test waits
// for handlers.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  // Waits until `count` handlers have come. Throws if they do not come.
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return waiting_ >= count; })) {
      throw std::runtime_error("the handlers did not begin");
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

// A worker on a scripted store, which runs on a thread of its own.
class WorkerRig : public testing::Test {
 public:
  ~WorkerRig() override {
    gate.open();
    if (running.valid()) {
      stop.request_stop();
      fake.engine().close();
      running.wait();
    }
  }

 protected:
  void start(WorkerOptions options, Handler handler) {
    worker = std::make_unique<Worker>(fake.store().queue("q"), options, std::move(handler));
    running = std::async(std::launch::async, [this] { return worker->run(stop.get_token()); });
  }

  void start(std::vector<QueueWork> queues, std::uint32_t total = 0) {
    worker = std::make_unique<Worker>(std::move(queues), total);
    running = std::async(std::launch::async, [this] { return worker->run(stop.get_token()); });
  }

  Result<void> finish() {
    stop.request_stop();
    // The worker may have asked for an extension that the test has not taken. It would wait for the
    // answer.
    fake.engine().refuse_untaken<core::ExtendRequest>({ErrorCode::unavailable, "not now"});
    return running.get();
  }

  template <typename R>
  auto next() {
    return fake.engine().next<R>();
  }
  void answer(core::Ticket ticket, Result<core::Reply> reply) {
    fake.engine().answer(ticket, std::move(reply));
  }
  // Answers the waiting claim with these messages.
  void hand_out(const std::vector<std::string>& keys, Millis lease = std::chrono::seconds(30)) {
    answer(next<core::ClaimRequest>().ticket, core::Reply(claimed(keys, lease)));
  }
  static std::string receipt(const core::SettleRequest& request, std::size_t i) {
    return std::string(core::view(request.bytes, request.items.at(i).receipt));
  }
  // Waits until that many messages are settled. Returns their settlements, which were all answered
  // with `outcome`.
  std::vector<std::pair<std::string, core::SettleItem>> settlements(std::size_t count,
                                                                    Outcome outcome) {
    std::vector<std::pair<std::string, core::SettleItem>> all;
    while (all.size() < count) {
      const auto asked = next<core::SettleRequest>();
      for (std::size_t i = 0; i < asked.request.items.size(); ++i) {
        all.emplace_back(receipt(asked.request, i), asked.request.items[i]);
      }
      answer(asked.ticket, core::Reply(outcomes(asked.request.items.size(), outcome)));
    }
    return all;
  }

  ScriptedStore fake;
  Gate gate;
  std::stop_source stop;
  std::unique_ptr<Worker> worker;
  std::future<Result<void>> running;
};

}  // namespace tarry::test
