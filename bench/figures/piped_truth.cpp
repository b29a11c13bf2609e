#include "figures/piped_truth.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

using Taken = std::vector<std::uint32_t>;

// Pushes `keys`, due already, each with `payload`. Returns the positions of those that were taken.
Taken pushed(Piped& design, std::initializer_list<std::string_view> keys,
             std::string_view payload) {
  std::vector<Message> batch;
  for (const std::string_view key : keys) batch.push_back({payload, now_ms() - 1, key});
  Taken all;
  design.run([&] {
    design.push(batch, [&](std::span<const std::uint32_t> taken) {
      all.assign(taken.begin(), taken.end());
    });
  });
  return all;
}

std::shared_ptr<const Claimed> claimed(Piped& design) {
  std::shared_ptr<const Claimed> got;
  design.run([&] {
    design.claim(100, [&](std::shared_ptr<const Claimed> claimed) { got = std::move(claimed); });
  });
  return got;
}

void settle(Piped& design, const Claimed& claimed) {
  design.run([&] { design.settle(claimed, [] {}); });
}

}  // namespace

void prove_truth(Piped& design) {
  const std::string told = std::string(design.name()) + " tells which keys are taken";
  must(pushed(design, {"a", "b"}, "first").empty(), told);
  must(pushed(design, {"b", "c", "c", "a"}, "second, longer") == Taken{0, 2, 3}, told);
  const auto live = claimed(design);
  must(live->size() == 3 && live->proof() == 2 * proof_of("first") + proof_of("second, longer"),
       "a push to a key that is taken changes nothing");
  must(pushed(design, {"a", "d", "c"}, "third") == Taken{0, 2}, told);
  settle(design, *live);
  must(pushed(design, {"a", "d", "c"}, "fourth") == Taken{1}, told);
  settle(design, *claimed(design));
  must(pushed(design, {"a", "b", "c", "d"}, "fifth").empty(), told);
}

}  // namespace tarry::bench
