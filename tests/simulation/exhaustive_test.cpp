// Every short script, with every call of the disk in it, and every way in which that call can fail.
// After a prelude, which leaves messages in each state, scripts of up to kDepth operations are run
// once without a fault, and once for each combination of call, kind of fault and end.
//
// A crash after a call leaves the same disk as a crash before the next call, but in the second case
// more requests may have been answered, so the test demands more of it. Only that case is run.
// Faults are placed only in calls of the last operation, because shorter scripts are run too.
//
// TARRY_EXHAUSTIVE_DEPTH=2 (3, 4) runs all scripts of that length; CI has no time for all of them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "world.h"

namespace tarry::simulation {
namespace {

using storage::FaultPlan;
using Script = std::vector<Step>;
using End = Trial::End;

Options options() {
  Options options;
  options.seed = 1;
  options.segment_bytes = 8192;
  options.keys = 3;
  options.payload = 2000;
  return options;
}

// world_requests.cpp says what a, b and c mean. The key is b % 3.
constexpr Step push(std::uint8_t b, std::uint32_t c = 1500) { return {Op::push, 1, b, c}; }
constexpr Step claim(std::uint8_t most) {
  return {Op::claim, static_cast<std::uint8_t>(most - 1), 1, 0};
}

const std::vector<Step>& alphabet() {
  static const std::vector<Step> letters{
      push(1),                      // due soon
      {Op::push, 2, 5, 7 * 2},      // replaces the message
      {Op::push_many, 7, 4, 1500},  // without keys
      claim(2),
      {Op::ack, 0, 1, 0},
      {Op::retry, 0, 2, 0},
      {Op::bury, 0, 1, 0},
      {Op::cancel, 1, 0, 1},
      {Op::cancel, 1, 1, 1},
      {Op::reschedule, 1, 5, 1},
      {Op::configure, 0, 1, 0},
      {Op::purge, 0, 0, 0},
      {Op::revive, 0, 0, 0},
      {Op::advance, 1, 50, 0},  // a second
      {Op::advance, 3, 90, 0},  // longer than a lease
      {Op::close, 0, 0, 0},
      {Op::remove, 0, 1, 0},
  };
  return letters;
}

// One message is leased, one is scheduled, one is dead. Two segments are closed, one of them with
// few live bytes.
Script prelude() {
  return {{Op::configure, 10, 2, 0},  // remembers for 10 s
          push(0),
          push(4),
          {Op::push_many, 7, 0, 1500},
          {Op::advance, 1, 50, 0},
          claim(5),
          {Op::ack, 0, 1, 0},
          {Op::ack, 1, 1, 0},
          {Op::ack, 2, 1, 0},
          {Op::bury, 3, 1, 0},
          push(0),
          push(2),
          {Op::advance, 1, 50, 0},
          claim(1)};
}

struct Kind {
  const char* name;
  FaultPlan plan;
  bool short_write = false;
};

FaultPlan plan(ErrorCode code, bool for_good, bool half, bool dies) {
  FaultPlan plan;
  plan.code = code;
  plan.for_good = for_good;
  plan.short_write = half;
  plan.dies = dies;
  return plan;
}

const std::vector<Kind>& kinds() {
  constexpr auto kIo = ErrorCode::io_error;
  constexpr auto kFull = ErrorCode::no_space;
  static const std::vector<Kind> all{
      {"error", plan(kIo, false, false, false)},
      {"error for good", plan(kIo, true, false, false)},
      {"no space", plan(kFull, false, false, false)},
      {"no space for good", plan(kFull, true, false, false)},
      {"short write", plan(kIo, false, true, false), true},
      {"short write for want of room", plan(kFull, true, true, false), true},
      {"crash before", plan(kIo, false, false, true)},
      {"crash amid", plan(kIo, false, true, true), true},
  };
  return all;
}

const char* name_of(End end) {
  constexpr const char* names[] = {"kill", "drop", "power", "reboot"};
  return names[static_cast<int>(end)];
}

std::string tell(const Script& script) {
  std::string out;
  for (const Step& step : script) out += "  " + to_string(step) + "\n";
  return out;
}

class Exhaustive : public testing::Test {
 protected:
  Life live(const Script& script, const Trial& trial, const char* kind) {
    ++lives_;
    World world(options());
    Life life = world.live(prelude_, script, trial);
    if (life.failure) {
      std::string figures;
      for (const auto& [name, number] : life.figures) {
        if (name.starts_with("failed.")) figures += " " + name;
      }
      ADD_FAILURE() << "invariant " << life.failure->invariant << ": " << life.failure->what << "\n"
                    << kind << " at call " << trial.plan.fail_at << figures << ", then "
                    << name_of(trial.end) << " " << trial.seed << ", step " << life.failed_at
                    << " of\n"
                    << tell(script);
    }
    return life;
  }

  void attempt(const Script& script, bool all_ends) {
    ++scripts_;
    Trial healthy;
    healthy.plan.fail_at = UINT64_MAX;
    const Life unharmed = live(script, healthy, "nothing");
    if (unharmed.failure) return;
    const auto figure = [&](const Life& life, const std::string& name) {
      const auto found = life.figures.find(name);
      return found == life.figures.end() ? std::uint64_t{0} : found->second;
    };
    const std::uint64_t calls = figure(unharmed, "calls");
    const std::uint64_t before_last = figure(unharmed, "calls.before-last");
    for (std::uint64_t call = 1; call <= calls + 1 && !enough(); ++call) {
      bool writes = false;
      std::uint64_t number = scripts_;
      for (const Kind& kind : kinds()) {
        // CI has time for an eighth of the scripts with two operations: each script tries another
        // eighth of its faults.
        ++number;
        if (sampled_ && script.size() >= 2 && (number + call) % 8 != 0) continue;
        if (kind.short_write && !writes) continue;
        if (kind.plan.dies ? call <= before_last : call > calls) continue;
        Trial trial{kind.plan, End::kill, 1};
        trial.plan.fail_at = call;
        for (const End end : {End::kill, End::drop, End::power, End::reboot}) {
          const auto turn = static_cast<std::uint64_t>(end);
          if (!all_ends && (call + number) / 8 % 4 != turn) continue;
          trial.end = end;
          trial.seed = static_cast<std::uint32_t>(call);
          const Life life = live(script, trial, kind.name);
          writes = writes || figure(life, "failed.write_at") > 0;
        }
      }
    }
  }

  void all(Script& script, std::size_t depth) {
    if (depth == 0) return attempt(script, script.size() < 2);
    for (const Step& letter : alphabet()) {
      if (enough()) return;
      script.push_back(letter);
      all(script, depth - 1);
      script.pop_back();
    }
  }

  [[nodiscard]] static bool enough() {
    return testing::Test::HasFailure() && std::getenv("TARRY_EXHAUSTIVE_ALL") == nullptr;
  }

  const Script prelude_ = prelude();
  const bool sampled_ = std::getenv("TARRY_EXHAUSTIVE_DEPTH") == nullptr;
  std::uint64_t scripts_ = 0;
  std::uint64_t lives_ = 0;
};

TEST_F(Exhaustive, EveryShortScriptWithEveryFaultAtEveryCall) {
  const char* const wanted = std::getenv("TARRY_EXHAUSTIVE_DEPTH");
  const std::size_t depth = wanted == nullptr ? 2 : std::strtoul(wanted, nullptr, 10);
  ASSERT_TRUE(depth >= 1 && depth <= 4);
  for (std::size_t length = 1; length <= depth; ++length) {
    Script script;
    all(script, length);
  }
  std::cout << "scripts of up to " << depth << " operations: " << scripts_ << ", lives: " << lives_
            << "\n";
  EXPECT_GT(lives_, scripts_);
}

}  // namespace
}  // namespace tarry::simulation
