// ObjectiveSampler: shows a LatenessMeter the states of queues that have an objective, once a
// second. Once a minute it looks at all queues, to find new objectives.
//
// It has a thread of its own. The engine, the meter and `now` must outlive it.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include <tarry/time.h>

#include "core/engine.h"
#include "metrics/lateness_meter.h"

namespace tarry::metrics {

class ObjectiveSampler {
 public:
  /// `now`: the store's time, from any thread. Throws std::system_error if the system gives no
  /// thread.
  ObjectiveSampler(core::Engine& engine, LatenessMeter& meter, std::function<Time()> now);
  ObjectiveSampler(const ObjectiveSampler&) = delete;
  ObjectiveSampler& operator=(const ObjectiveSampler&) = delete;
  ~ObjectiveSampler() = default;  // does not wait for the engine's answer

 private:
  void run(const std::stop_token& stop);
  /// An empty name: all queues.
  void look_at(const std::string& queue, const std::stop_token& stop);

  core::Engine& engine_;
  LatenessMeter& meter_;
  const std::function<Time()> now_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace tarry::metrics
