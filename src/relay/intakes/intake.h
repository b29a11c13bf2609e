// Intake: the reverse of a relay. It takes messages from a queue of RabbitMQ and pushes them into
// the store. Once the store has confirmed a message, the intake acks it in RabbitMQ.
//
// One thread, which calls `run`, talks with the broker; the store's answers only wake it.
//
// Thread safety: `run` once, on one thread; `stats` from any.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include <tarry/result.h>
#include <tarry/time.h>

#include "core/engine.h"
#include "relay/intakes/intake_flow.h"
#include "relay/intakes/rabbit_source.h"

namespace tarry::relay {

struct IntakeOptions {
  RabbitSourceOptions source;
  std::string queue;        // the queue into which messages are pushed
  std::size_t batch = 500;  // 1 .. 10,000 messages per push
  Millis drain{10'000};     // after a stop: how long the store may take, up to 1 h
};

/// Errors: `invalid_argument`, which names the value and the limit; those of `base::load`.
[[nodiscard]] Result<void> check(const IntakeOptions& options);

class Intake {
 public:
  /// `who` is the broker, the store, or the queue for refused messages. An empty `why` means that
  /// it is available (again); otherwise `why` says why it is not. Called on the thread of `run`.
  using OnChange = std::function<void(const std::string& who, const std::string& why)>;

  /// The engine must outlive the intake. The options have been checked.
  Intake(core::Engine& engine, IntakeOptions options, OnChange on_change = {});
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// Runs until a stop is requested or the store is closed; both are success. Then it pushes
  /// nothing more, waits up to `drain` for the store's answers, and acks those messages. Messages
  /// that were not acked stay in the broker's queue. If broker or store is unavailable, the intake
  /// tries again after 100 ms to 5 s; the pause grows until a message could be acked. Errors: the
  /// broker's first answer, if a repeat would give the same (no such queue, no permission); the
  /// store's error, if the store can no longer be used.
  [[nodiscard]] Result<void> run(std::stop_token stop);

  [[nodiscard]] IntakeStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
