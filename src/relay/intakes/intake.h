// Intake: the reverse of a relay: takes what arrives in a queue of RabbitMQ, pushes it, and acks it
// there once the store has confirmed that it has it.
//
// One thread, whoever calls `run`, talks with the broker; the store's answers only wake it.
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
  std::string queue;        // where to push
  std::size_t batch = 500;  // 1 .. 10,000 messages a push
  Millis drain{10'000};     // after a stop: how long the store may take, to 1 h
};

/// `invalid_argument`, naming value and limit.
[[nodiscard]] Result<void> check(const IntakeOptions& options);

class Intake {
 public:
  /// The broker's queue is consumed, the store is back, or the queue for what is refused takes it
  /// again: then `why` is empty; or one of them is away. On the thread of `run`.
  using OnChange = std::function<void(const std::string& who, const std::string& why)>;

  /// The engine outlives the intake and closes; the options have been checked.
  Intake(core::Engine& engine, IntakeOptions options, OnChange on_change = {});
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// Until a stop is requested or the store is closed, both of which are success; then pushes
  /// nothing more, waits up to `drain` for what the store has been given, and acks that. What was
  /// not acked stays in the broker's queue. Who is away is tried again after 100 ms to 5 s, longer
  /// each time until something could be acked.
  /// Errors: what the broker said at first where it will say so again (no such queue, no
  /// permission); what the store said when it could no longer be used.
  [[nodiscard]] Result<void> run(std::stop_token stop);

  [[nodiscard]] IntakeStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
