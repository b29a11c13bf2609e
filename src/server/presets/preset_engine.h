// PresetEngine: an engine that wraps another one and gives every new queue its settings by rules.
// Before it passes on the first request that would make a queue, it configures the queue's
// settings. So no message is ever in a queue without these settings. If the configuring fails, the
// request fails.
//
// It does not change existing queues. The program corrects their settings at its start and when it
// reloads its configuration (src/app/serve/queue_presets.cpp).
//
// Invariants
//  1. Requests for one queue that come one after the other are passed on in that order.
//  2. A queue is checked once. Meanwhile requests for that queue wait; requests for other queues do
//     not.
//
// Thread safety: that of an engine; `set_rules` may be called from any thread.
#pragma once

#include <memory>

#include "core/engine.h"
#include "server/presets/queue_rules.h"

namespace tarry::presets {

class PresetEngine final : public core::Engine {
 public:
  /// The inner engine must outlive this one, and completes all requests before it is destroyed.
  PresetEngine(core::Engine& inner, QueueRules rules);
  ~PresetEngine() override;

  core::Ticket submit(core::Request request, core::Completion completion) override;
  core::Ticket submit_lending(core::Request request, core::Completion completion,
                              core::Lent& lent) override;
  void lend(core::Lent& lent) noexcept override { inner_.lend(lent); }
  void withdraw(core::Ticket ticket) override { inner_.withdraw(ticket); }
  [[nodiscard]] core::Capabilities capabilities() const override { return inner_.capabilities(); }
  [[nodiscard]] core::ClaimWatches& claim_watches() noexcept override {
    return inner_.claim_watches();
  }
  void close() override { inner_.close(); }

  /// From now on new queues get their settings by these rules.
  void set_rules(QueueRules rules);

 private:
  class Desk;

  core::Engine& inner_;
  std::shared_ptr<Desk> desk_;
};

}  // namespace tarry::presets
