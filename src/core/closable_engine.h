// ClosableEngine: stands before an engine, and lets go of it whole when it is closed, with every
// thread and descriptor that it has. What is asked later is answered `closed`.
//
// For engines that wait for a network anyway: each verb takes a lock that verbs share.
//
// Thread safety: all of it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "core/answer_thread.h"
#include "core/engine.h"

namespace tarry::core {

class ClosableEngine final : public Engine {
 public:
  explicit ClosableEngine(std::unique_ptr<Engine> inner);
  /// One that is closed from the beginning.
  ClosableEngine();
  ~ClosableEngine() override;

  Ticket submit(Request request, Completion completion) override;
  void submit_waiting(Request request, Completion completion) override;
  void withdraw(Ticket ticket) override;
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] ClaimWatches& claim_watches() noexcept override { return *watches_; }
  void close() override;
  [[nodiscard]] bool is_closed() const noexcept override { return closed_.load(); }

 private:
  const std::shared_ptr<ClaimWatches> watches_;
  const Capabilities capabilities_;
  std::atomic<bool> closed_ = false;
  std::mutex closing_;
  mutable std::shared_mutex mutex_;  // alone: to let go of the engine
  std::unique_ptr<Engine> inner_;
  AnswerThread answers_;  // for what is asked when it has gone
};

}  // namespace tarry::core
