// PresetEngine: an engine in front of another one. It gives every new queue its settings by rules:
// before the first request that would make the queue goes through, it configures the settings. So
// no message is in a queue without them. If that fails, the request fails.
//
// An existing queue keeps its settings; the program corrects them once, at its start.
//
// Invariants
//  1. Requests that name one queue and come in one after the other go on in that order.
//  2. A queue is checked once. Requests to it wait meanwhile; requests to other queues do not.
//
// Thread safety: that of an engine; `set_rules` may be called from any thread.
#pragma once

#include <memory>

#include "core/engine.h"
#include "server/presets/queue_rules.h"

namespace tarry::presets {

class PresetEngine final : public core::Engine {
 public:
  /// The inner engine outlives this one, and completes everything before it goes itself.
  PresetEngine(core::Engine& inner, QueueRules rules);
  ~PresetEngine() override;

  core::Ticket submit(core::Request request, core::Completion completion) override;
  void withdraw(core::Ticket ticket) override { inner_.withdraw(ticket); }
  [[nodiscard]] core::Capabilities capabilities() const override { return inner_.capabilities(); }
  [[nodiscard]] core::ClaimWatches& claim_watches() noexcept override {
    return inner_.claim_watches();
  }
  void close() override { inner_.close(); }

  /// From now on queues are made by these.
  void set_rules(QueueRules rules);

 private:
  class Desk;

  core::Engine& inner_;
  std::shared_ptr<Desk> desk_;
};

}  // namespace tarry::presets
