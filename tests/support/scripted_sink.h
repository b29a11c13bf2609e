// ScriptedSink: a sink for tests.
//
// Thread safety: that of a Sink.
#pragma once

#include <condition_variable>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads/thread.h"
#include "relay/sink.h"

namespace tarry::relay {

/// Answers from its own thread, as the test says. If the test gives no answer, the sink answers
/// `unknown` when it is closed.
class ScriptedSink final : public Sink {
 public:
  explicit ScriptedSink(std::function<std::optional<Answer>(const Delivery&)> rule)
      : rule_(std::move(rule)), thread_(base::start_thread("tarry-sink", [this] { run(); })) {}
  ~ScriptedSink() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void send(std::vector<Outgoing> batch) override {
    const std::lock_guard lock(mutex_);
    for (Outgoing& outgoing : batch) parcels_.push_back(std::move(outgoing));
    changed_.notify_all();
  }
  void close() override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] std::string title() const override { return "scripted"; }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    std::vector<Outgoing> kept;
    for (;;) {
      changed_.wait(lock,
                    [&] { return ended_ || !parcels_.empty() || (closed_ && !kept.empty()); });
      std::vector<Outgoing> batch = std::exchange(parcels_, {});
      const bool closed = closed_;
      if (closed) std::move(kept.begin(), kept.end(), std::back_inserter(batch));
      if (closed) kept.clear();
      if (ended_ && batch.empty()) return;
      lock.unlock();
      for (Outgoing& outgoing : batch) {
        auto answer = rule_(outgoing.delivery);
        if (!answer && closed) answer = unknown("closed");
        if (answer) {
          outgoing.done(*std::move(answer));
        } else {
          kept.push_back(std::move(outgoing));
        }
      }
      lock.lock();
    }
  }

  const std::function<std::optional<Answer>(const Delivery&)> rule_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Outgoing> parcels_;
  bool closed_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tarry::relay
