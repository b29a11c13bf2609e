// PresetEngine: an engine before another one, that gives every queue its settings by rules when it
// is made: before the first request goes through that would make it, its settings are put there.
// So no message is in a queue that has not got them. Where they cannot be put, that request fails.
//
// A queue that is there already keeps what it has: who starts puts that right, once.
//
// Invariants
//  1. Requests that name one queue and come in one after the other go on in that order.
//  2. A queue is asked for once; requests to it wait meanwhile, those to others do not.
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
