// ModelBench: an engine under test beside the model. It gives each command to the engine, and
// compares the answer with the model's. A difference throws, which fails the property and lets
// rapidcheck shrink the sequence.
//
// Not thread safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "contract.h"
#include "model.h"
#include "rig.h"

namespace tarry::contract {

/// The keys that a test pushes by name, from harmless to hostile.
[[nodiscard]] const std::vector<std::string>& key_pool();

class ModelBench {
 public:
  explicit ModelBench(const EngineSpec& spec);

  /// Gives the queue these settings, of which `group` stays. The returned model then agrees with
  /// the engine.
  [[nodiscard]] Model initial_model(const SettingsPatch& settings);
  [[nodiscard]] bool can_reopen() const {
    return rig_.spec().kind != Kind::memory && rig_.spec().by == By::library;
  }

  // Each takes the answer that the model gives.
  void push(const std::vector<ModelPush>& messages, const std::vector<ModelPushed>& want);
  void cancel(const std::vector<KeyId>& keys, const std::vector<ModelAnswer>& want);
  void reschedule(KeyId key, Due due, std::optional<std::uint32_t> priority,
                  const ModelAnswer& want);
  void claim(const ClaimOptions& options, const std::vector<ModelMessage>& want);
  void settle(std::size_t claim, Action action, std::optional<Millis> delay,
              std::optional<std::uint32_t> priority, const std::string& reason,
              const ModelAnswer& want);
  void extend(std::size_t claim, std::optional<Millis> lease, const ModelAnswer& want);
  void purge(std::uint64_t want);
  void revive(const std::vector<KeyId>& keys, std::uint64_t want);
  void remove(bool force, std::optional<std::uint64_t> want);
  void pause(std::optional<Time> until);
  void resume();
  void configure(const SettingsPatch& patch, const QueueSettings& want);
  void forecast(const ForecastOptions& options, const Forecast& want);
  void advance(Millis by);
  void step(Millis by);
  void reopen() { rig_.reopen(); }

  /// Compares one message as `get` shows it; the model may have none.
  void check_key(const Model& model, KeyId key);
  /// Compares stats and counters, and checks conservation.
  void check_stats(const Model& model);
  /// Compares everything: each message by list (in pages of `limit`) and by get, and the stats.
  void check_all(const Model& model, std::uint32_t limit);

 private:
  [[nodiscard]] Queue queue() { return rig_.store().queue("q"); }
  [[nodiscard]] std::string key(KeyId id) const;
  void check_answer(const char* verb, const Answer& got, const ModelAnswer& want) const;
  void check_info(const Model& model, const ModelMessage& want, const MessageInfo& got,
                  bool with_payload) const;

  Rig rig_;
  bool any_order_ = false;  // of the messages of one claim
  std::map<Uid, std::uint64_t> ids_;
  std::map<KeyId, std::string> generated_keys_;
  std::vector<std::string> receipts_;  // by the claim's number
};

}  // namespace tarry::contract
