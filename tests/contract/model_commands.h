// The commands of the model test. Each is random, but takes the model's state into account, so that
// most commands meet something.
#pragma once

#include <memory>

#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include "model.h"
#include "model_bench.h"

namespace tarry::contract {

class Act : public rc::state::Command<Model, ModelBench> {
 public:
  /// Runs on the model, and also on the bench if there is one.
  virtual void play(Model& model, ModelBench* bench) const = 0;

  // What the command has brought back too late expires before the next one.
  void apply(Model& model) const override {
    play(model, nullptr);
    model.expire();
  }
  void run(const Model& before, ModelBench& bench) const override {
    Model model = before;
    play(model, &bench);
    model.expire();
    bench.check_stats(model);
  }
};

using ActPtr = std::shared_ptr<const rc::state::Command<Model, ModelBench>>;

/// The next command for this state of the model. With `reopens`, some commands close the store and
/// open it again.
[[nodiscard]] rc::Gen<ActPtr> any_act(const Model& model, bool reopens);

}  // namespace tarry::contract
