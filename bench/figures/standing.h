// Standing: a store with many pending messages, and the cost of a push and a claim in it. The test
// moves the time: in each step some messages from all over the store fall due, and are claimed and
// settled; as many are pushed, due at any time within a month.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <tarry/store.h>

#include "figures/payloads.h"
#include "harness/scratch.h"

namespace tarry::bench {

class Standing {
 public:
  /// Pushes `pending` messages into a new store below `directory`.
  Standing(const std::string& directory, std::uint64_t pending);

  /// Nanoseconds per message, in batches of 256.
  struct Cost {
    double push_ns = 0;
    double claim_ns = 0;
  };
  /// Pushes 4,096 messages, and claims and settles about as many.
  Cost step();

 private:
  void push(std::size_t count);
  void settle(const std::vector<Delivery>& batch);

  Scratch scratch_;
  std::uint64_t pending_;
  ManualClock clock_;
  Payloads payloads_{100};
  std::mt19937_64 random_{1};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace tarry::bench
