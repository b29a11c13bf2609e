// ScriptedStore: a Store over a ScriptedEngine, for code that needs a Store or a Queue.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <tarry/store.h>

#include "open/handles/store_state.h"
#include "support/scripted_engine.h"

namespace tarry::test {

class ScriptedStore {
 public:
  explicit ScriptedStore(Executor executor = {})
      : ScriptedStore(std::make_unique<ScriptedEngine>(), std::move(executor)) {}

  [[nodiscard]] ScriptedEngine& engine() noexcept { return *engine_; }
  [[nodiscard]] Store& store() noexcept { return store_; }

 private:
  ScriptedStore(std::unique_ptr<ScriptedEngine> engine, Executor executor)
      : engine_(engine.get()),
        store_(std::make_shared<detail::StoreState>(std::move(engine), std::move(executor),
                                                    std::nullopt)) {}

  ScriptedEngine* engine_;
  Store store_;
};

/// A reply with one message for each key. Its receipt is "receipt-" and the key.
[[nodiscard]] inline core::ClaimReply claimed(const std::vector<std::string>& keys,
                                              Millis lease = std::chrono::seconds(30)) {
  core::ClaimReply reply;
  for (const std::string& key : keys) {
    core::ClaimedItem& item = reply.items.emplace_back();
    item.queue = core::append(reply.bytes, "q");
    item.key = core::append(reply.bytes, key);
    item.payload = core::append(reply.bytes, "payload-" + key);
    item.receipt = core::append(reply.bytes, "receipt-" + key);
    item.lease_ms = lease.count();
    item.attempt = 1;
  }
  return reply;
}

/// The same outcome for `count` items.
[[nodiscard]] inline core::ItemsReply outcomes(std::size_t count, Outcome outcome) {
  core::ItemsReply reply;
  reply.items.resize(count);
  for (core::ItemResult& item : reply.items) item.outcome = outcome;
  return reply;
}

}  // namespace tarry::test
