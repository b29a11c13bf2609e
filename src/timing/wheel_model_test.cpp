// Random sequences of operations, on the wheel and on a std::multimap as the model.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include "timing/test_wheel.h"
#include "timing/wheel.h"

namespace tarry::timing {
namespace {

using test::Handle;
using test::Node;
using test::Slab;

enum class Kind { insert, remove, advance, slice, drain, rebase };

struct Op {
  Kind kind;
  std::int64_t distance;  // a deadline's, or a time's, from now
  std::uint32_t choice;   // which node, how large a slice, the callback's action
};

std::ostream& operator<<(std::ostream& out, const Op& op) {
  constexpr const char* kNames[] = {"insert", "remove", "advance", "slice", "drain", "rebase"};
  return out << kNames[static_cast<int>(op.kind)] << " " << op.distance << " " << op.choice;
}

// Distances of every order of magnitude, often near a border of the levels.
rc::Gen<std::int64_t> distances() {
  const auto any =
      rc::gen::map(rc::gen::pair(rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 46),
                                 rc::gen::inRange(0, 46)),
                   [](const auto& drawn) { return drawn.first >> drawn.second; });
  const auto border = rc::gen::map(
      rc::gen::pair(rc::gen::inRange(0, 8), rc::gen::inRange<std::int64_t>(-2, 3)),
      [](const auto& drawn) { return (std::int64_t{1} << (6 * drawn.first)) + drawn.second; });
  return rc::gen::weightedOneOf<std::int64_t>({{4, rc::gen::inRange<std::int64_t>(-5, 200)},
                                               {4, any},
                                               {3, border},
                                               {1, rc::gen::inRange<std::int64_t>(-70'000, 0)}});
}

rc::Gen<std::vector<Op>> operations(std::vector<Kind> kinds) {
  return rc::gen::scale(3, rc::gen::container<std::vector<Op>>(rc::gen::apply(
                               [](Kind kind, std::int64_t distance, std::uint32_t choice) {
                                 return Op{kind, distance, choice};
                               },
                               rc::gen::elementOf(std::move(kinds)), distances(),
                               rc::gen::inRange<std::uint32_t>(0, 1'000))));
}

rc::Gen<std::int64_t> starts() {
  return rc::gen::oneOf(
      rc::gen::element<std::int64_t>(0, 63, 64, 4095, Wheel<Slab>::kHorizon - 5'000,
                                     (1LL << 42) - 1, 1LL << 42, 1'795'168'800'000),
      rc::gen::inRange<std::int64_t>(0, 1LL << 45));
}

class Pair {
 public:
  explicit Pair(std::int64_t start) : wheel_(Slab{&nodes_}, start) {}

  void run(const Op& op) {
    switch (op.kind) {
      case Kind::insert: insert(wheel_.now() + op.distance); break;
      case Kind::remove: remove(op.choice); break;
      case Kind::advance: advance(op.distance, kNoLimit, op.choice); break;
      case Kind::slice: advance(op.distance, op.choice % 7, op.choice); break;
      case Kind::drain: drain(op.distance, op.choice % 7 + 1); break;
      case Kind::rebase: rebase(std::max<std::int64_t>(0, wheel_.now() - op.distance)); break;
    }
    check();
  }

  // Every message that can fall due has been given out.
  void finish() {
    advance(Wheel<Slab>::kHorizon, kNoLimit, kQuiet);
    for (const auto& [release, handle] : model_) RC_ASSERT(release >= Wheel<Slab>::kHorizon);
    check();
  }

 private:
  // Release time -> handle. Among equal times, the order of insertion decides. A node inserted when
  // it was due is released at that moment, not at its deadline.
  using Model = std::multimap<std::int64_t, Handle>;
  static constexpr std::uint32_t kQuiet = 1'000'000;
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  void insert(std::int64_t deadline) {
    Handle handle = 0;
    if (free_.empty()) {
      handle = static_cast<Handle>(nodes_.size());
      nodes_.emplace_back();
    } else {
      handle = free_.back();
      free_.pop_back();
    }
    nodes_[handle].deadline = deadline;
    wheel_.insert(handle);
    model_.emplace(std::max(deadline, wheel_.now()), handle);
  }

  void remove(std::uint32_t choice) {
    if (model_.empty()) return;
    const auto chosen =
        std::next(model_.begin(), static_cast<std::ptrdiff_t>(choice % model_.size()));
    wheel_.remove(chosen->second);
    free_.push_back(chosen->second);
    model_.erase(chosen);
  }

  void advance(std::int64_t distance, std::size_t limit, std::uint32_t choice) {
    const std::int64_t before = wheel_.now();
    const std::int64_t target = std::min(before + distance, Wheel<Slab>::kHorizon - 1);
    std::size_t calls = 0;
    const std::size_t count = wheel_.advance_to(
        target,
        [&](Handle handle) {
          RC_ASSERT(!model_.empty());
          RC_ASSERT(model_.begin()->second == handle);
          RC_ASSERT(model_.begin()->first <= target);
          RC_ASSERT(nodes_[handle].deadline <= wheel_.now());
          RC_ASSERT(wheel_.now() <= target);
          model_.erase(model_.begin());
          free_.push_back(handle);
          RC_ASSERT(wheel_.size() == model_.size());
          act_inside(++calls, choice);
        },
        limit);
    RC_ASSERT(count == calls);
    RC_ASSERT(count <= limit);
    RC_ASSERT(wheel_.now() >= before);
    RC_ASSERT(wheel_.now() <= std::max(before, target));
    if (target >= before && limit == kNoLimit) {
      RC_ASSERT(wheel_.now() == target);
      RC_ASSERT(model_.empty() || model_.begin()->first > target);
    }
  }

  // Actions that an owner may take in the callback. Their number is limited, because a node
  // inserted here may be due at once.
  void act_inside(std::size_t call, std::uint32_t choice) {
    if (choice == kQuiet || call > 20) return;
    switch ((choice + call) % 11) {
      case 0: insert(wheel_.now()); break;
      case 1: insert(wheel_.now() - 3); break;
      case 2: insert(wheel_.now() + 1); break;
      case 3: insert(wheel_.now() + 64 + choice); break;
      case 4: remove(0); break;  // the node that would be given out next
      case 5: remove(choice); break;
      default: break;
    }
  }

  // Advances in slices until nothing due is left, as a shard does.
  void drain(std::int64_t distance, std::size_t limit) {
    if (distance < 0) return;
    const std::int64_t target = std::min(wheel_.now() + distance, Wheel<Slab>::kHorizon - 1);
    // A node is placed again once after a rebase and once for each level above the lowest, then
    // given out.
    const std::size_t most = model_.size() * (1 + Wheel<Slab>::kLevels);
    for (std::size_t slices = 0; !model_.empty() && *wheel_.next_due() <= target; ++slices) {
      RC_ASSERT(slices < most);
      advance(target - wheel_.now(), limit, kQuiet);
    }
    RC_ASSERT(model_.empty() || model_.begin()->first > target);
  }

  void rebase(std::int64_t to) {
    if (to < wheel_.now()) {
      Model rebased;
      for (const auto& [release, handle] : model_) {
        rebased.emplace(std::max(nodes_[handle].deadline, to), handle);
      }
      model_ = std::move(rebased);
    }
    wheel_.rebase(to);
  }

  void check() {
    wheel_.check();
    RC_ASSERT(wheel_.size() == model_.size());
    const auto next = wheel_.next_due();
    RC_ASSERT(next.has_value() == !model_.empty());
    if (!next) return;
    const std::int64_t truth = model_.begin()->first;
    RC_ASSERT(*next >= wheel_.now());
    RC_ASSERT(*next <= truth);
    if (truth <= wheel_.now()) RC_ASSERT(*next == wheel_.now());
    // If no cascade is outstanding and the next node is due within the current 64 ms, the time is
    // exact.
    if (*next > wheel_.now() && truth >> 6 == wheel_.now() >> 6) RC_ASSERT(*next == truth);
  }

  std::vector<Node> nodes_;
  std::vector<Handle> free_;
  Wheel<Slab> wheel_;
  Model model_;
};

void play(std::vector<Kind> kinds) {
  const auto start = *starts();
  const auto ops = *operations(std::move(kinds));
  Pair pair(start);
  for (const Op& op : ops) pair.run(op);
  pair.finish();
}

RC_GTEST_PROP(WheelModel, InsertRemoveAdvance, ()) {
  play({Kind::insert, Kind::insert, Kind::insert, Kind::remove, Kind::advance});
}

RC_GTEST_PROP(WheelModel, Slices, ()) {
  play({Kind::insert, Kind::insert, Kind::insert, Kind::insert, Kind::remove, Kind::slice,
        Kind::slice, Kind::drain});
}

RC_GTEST_PROP(WheelModel, Everything, ()) {
  play({Kind::insert, Kind::insert, Kind::insert, Kind::insert, Kind::insert, Kind::remove,
        Kind::advance, Kind::slice, Kind::slice, Kind::drain, Kind::rebase});
}

// Few distinct deadlines, so lists are long, and mistakes in the order of equal deadlines show.
RC_GTEST_PROP(WheelModel, EqualDeadlinesThroughSlicesAndRebases, ()) {
  const auto kinds = std::vector<Kind>{Kind::insert, Kind::insert, Kind::insert, Kind::insert,
                                       Kind::insert, Kind::remove, Kind::slice,  Kind::rebase};
  auto ops = *operations(kinds);
  Pair pair(1'795'168'800'000 >> 24 << 24);
  for (Op& op : ops) {
    op.distance =
        op.kind == Kind::insert ? std::int64_t{64} << op.choice % 3 * 6 : op.distance % 200;
    pair.run(op);
  }
  pair.finish();
}

}  // namespace
}  // namespace tarry::timing
