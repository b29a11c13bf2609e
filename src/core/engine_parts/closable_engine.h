// ClosableEngine: wraps an engine. `close` destroys that engine with all of its threads and
// descriptors. Later requests answer `closed`.
//
// Each verb takes a shared lock, so it is meant for engines that wait for a network anyway.
//
// Thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "core/engine.h"
#include "core/engine_parts/answer_thread.h"
#include "core/engine_parts/spread.h"

namespace tarry::core {

class ClosableEngine final : public Engine {
 public:
  /// Which engine chooses the due times of pushes with a spread: this one, or the one inside.
  enum class Spreads : std::uint8_t { here, inside };
  /// `now` is called from any thread, and not if due times are chosen inside.
  using Now = std::function<SpreadTime()>;
  ClosableEngine(std::unique_ptr<Engine> inner, Spreads spreads, Now now);
  /// An engine that is closed from the beginning.
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
  Ticket pass_on(Request request, Completion completion);

  const std::shared_ptr<ClaimWatches> watches_;
  const Capabilities capabilities_;
  const Spreads spreads_ = Spreads::inside;
  const Now now_;
  SpreadCalendars calendars_;
  std::atomic<bool> closed_ = false;
  std::mutex closing_;
  mutable std::shared_mutex mutex_;  // exclusive: to destroy the engine
  std::unique_ptr<Engine> inner_;
  AnswerThread answers_;  // answers requests after the engine is destroyed
};

}  // namespace tarry::core
