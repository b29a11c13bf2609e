// The commands that the model test plays: each made at random, with an eye on where the model
// stands, so that most of them meet something.
#pragma once

#include <memory>

#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include "model.h"
#include "model_bench.h"

namespace tarry::contract {

class Act : public rc::state::Command<Model, ModelBench> {
 public:
  /// Plays on the model, and on the bench where there is one.
  virtual void play(Model& model, ModelBench* bench) const = 0;

  void apply(Model& model) const override { play(model, nullptr); }
  void run(const Model& before, ModelBench& bench) const override {
    Model model = before;
    play(model, &bench);
    bench.check_stats(model);
  }
};

using ActPtr = std::shared_ptr<const rc::state::Command<Model, ModelBench>>;

/// The next command, given where the model stands. With `reopens`, the store is at times closed and
/// opened again.
[[nodiscard]] rc::Gen<ActPtr> any_act(const Model& model, bool reopens);

}  // namespace tarry::contract
