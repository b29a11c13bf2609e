// World: one life of a store, or several: a shard with its journal, committer, recovery and
// cleaning as in production, but with a virtual clock and a virtual disk, and on one thread. A
// script drives it, and an Oracle watches it.
//
// Thread safety: none. The same options and steps give the same life, always.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oracle.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/one_shard.h"
#include "timing/manual_clock.h"
#include "workload.h"

namespace tarry::simulation {

/// Counts of events, by name: faults injected, crashes, branches taken, answers.
using Figures = std::map<std::string, std::uint64_t>;

struct Life {
  std::optional<Failure> failure;
  // The step at which it failed; the script's size if it failed after the script.
  std::size_t failed_at = 0;
  Figures figures;
};

/// One fault, and how the run with it ends.
struct Trial {
  enum class End : std::uint8_t {
    kill,    // everything that was written is there
    drop,    // only bytes and names that were synced are there
    power,   // something between the two
    reboot,  // like power, followed by another boot
  };
  storage::FaultPlan plan;
  End end = End::kill;
  std::uint32_t seed = 0;
};

class World {
 public:
  explicit World(const Options& options);
  Life live(const std::vector<Step>& script);
  /// Runs `prelude` without faults, then `script` with the trial's fault, then ends the run and
  /// checks the store. A `close` in the script also opens the store again, and the fault may occur
  /// in that. Uses sync=always. Figures: "calls" that the script made, "calls.before-last" up to
  /// its last step, and "failed.CALL" for the first call that failed.
  Life live(const std::vector<Step>& prelude, const std::vector<Step>& script, const Trial& trial);

 private:
  using OneShard = embedded::test::OneShard;

  // world.cpp
  void step(const Step& step);
  void flow(const Step& step);
  void turn();
  bool commit();
  void settle();
  void heal();
  void remove(const Step& step);
  void drain();
  void count(const std::string& name, std::uint64_t by = 1) { figures_[name] += by; }
  void pass_time(std::int64_t ms);

  // world_requests.cpp
  [[nodiscard]] std::optional<core::Request> request_of(const Step& step);
  [[nodiscard]] std::string queue_of(const Step& step) const;
  [[nodiscard]] std::string key_for(const Step& step, const std::string& queue) const;
  [[nodiscard]] std::string receipt_of(std::uint8_t number) const;
  void submit(core::Request request);
  core::Request push(const Step& step, std::size_t items);
  core::Request move(const Step& step);
  core::Request claim(const Step& step);
  core::Request settle(const Step& step, core::SettleAction action);
  core::Request configure(const Step& step);

  // world_crashes.cpp
  enum class End : std::uint8_t { kill, power, reboot, close };
  void open(std::uint64_t least, bool new_boot);
  void look_on(std::uint64_t least, bool new_boot);
  void finish_removals();
  void crash(End end, std::uint32_t seed);
  bool interrupt_recovery(std::uint32_t seed, bool power);
  void rebuild();
  void rot(std::uint32_t seed);
  [[nodiscard]] std::uint64_t least(End end) const;
  [[nodiscard]] OneShard::Options shard_options();

  // trial.cpp
  void close_and_open();
  void end(const Trial& trial);

  const Options options_;
  timing::ManualClock clock_;
  std::shared_ptr<storage::Faults> faults_ = std::make_shared<storage::Faults>();
  storage::VirtualDisk disk_{faults_};
  Oracle oracle_;
  std::unique_ptr<OneShard> shard_;
  Figures figures_;
  std::uint64_t base_ = 0;  // the last batch that was durable when the shard was opened
  std::uint64_t pushed_ = 0;
  std::uint64_t boots_ = 1;
  bool armed_ = false;
  std::uint64_t kept_ = 0;  // the batch that an earlier life, whose shard is gone, owes to the next
};

}  // namespace tarry::simulation
