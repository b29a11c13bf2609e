// ModelBench: an engine under test beside the model. It says each command to the engine, and holds
// the engine's answer against the model's; a difference throws, which fails the property and lets
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

  /// Configures the queue so; engine and model stand at the same place then.
  [[nodiscard]] Model initial_model(const SettingsPatch& settings);
  [[nodiscard]] bool can_reopen() const {
    return rig_.spec().kind != Kind::memory && rig_.spec().by == By::library;
  }

  // Each takes what the model says must be answered.
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

  /// One message as `get` shows it; nothing where the model has none.
  void check_key(const Model& model, KeyId key);
  /// Stats, counters, conservation.
  void check_stats(const Model& model);
  /// Everything: each message by list (in pages of `limit`) and by get, and the stats.
  void check_all(const Model& model, std::uint32_t limit);

 private:
  [[nodiscard]] Queue queue() { return rig_.store().queue("q"); }
  [[nodiscard]] std::string key(KeyId id) const;
  void check_answer(const char* verb, const Answer& got, const ModelAnswer& want) const;
  void check_info(const Model& model, const ModelMessage& want, const MessageInfo& got,
                  bool with_payload) const;

  Rig rig_;
  std::map<Uid, std::uint64_t> ids_;
  std::map<KeyId, std::string> generated_keys_;
  std::vector<std::string> receipts_;  // by claim
};

}  // namespace tarry::contract
