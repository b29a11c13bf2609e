// World: a short run with one fault at any place, including the closing and opening of the store.
#include "base/assert.h"
#include "world.h"

namespace tarry::simulation {

Life World::live(const std::vector<Step>& prelude, const std::vector<Step>& script,
                 const Trial& trial) {
  TARRY_ASSERT(options_.policy == embedded::SyncPolicy::always);
  Life life;
  open(0, false);
  for (std::size_t i = 0; i < prelude.size() && !oracle_.failure(); ++i) step(prelude[i]);
  life.failed_at = script.size();
  storage::FaultPlan plan = trial.plan;
  plan.reads_too = true;
  faults_->arm(plan);
  armed_ = true;
  std::uint64_t calls = 0;
  for (std::size_t i = 0; i < script.size() && shard_ && !faults_->dead(); ++i) {
    if (armed_) calls = faults_->calls();
    if (i + 1 == script.size()) count("calls.before-last", calls);
    // A claimed message that cannot be read becomes dead, which the oracle does not know. So reads
    // of claims do not fail.
    faults_->count_reads(script[i].op != Op::claim);
    if (script[i].op == Op::close) {
      close_and_open();
    } else {
      step(script[i]);
    }
    if (!oracle_.failure()) continue;
    life.failed_at = i;
    break;
  }
  if (armed_) {
    count("calls", faults_->calls());
    const std::string& first = faults_->first_failed();
    if (!first.empty()) count("failed." + first.substr(0, first.find(' ')));
  }
  if (!oracle_.failure()) end(trial);
  // Draining takes longer than anything else, and checks the same after each end. So it runs for
  // one kind of end only.
  if (!oracle_.failure() && trial.end == Trial::End::kill) {
    heal();
  } else if (!oracle_.failure()) {
    settle();
    if (!oracle_.failure()) rebuild();
  }
  shard_.reset();
  life.failure = oracle_.failure();
  life.figures = std::move(figures_);
  return life;
}

// Acts like a caller who does not know about the fault: closes the store, ignores the result, and
// opens it again.
void World::close_and_open() {
  const bool failed = shard_->shard().failure() || shard_->committer().failed();
  if (!failed) {
    oracle_.expect_errors();  // waiting claims get an error, because the store closes
    shard_->close();
    oracle_.turn_ended(*shard_);
  }
  kept_ = least(failed ? End::kill : End::close);
  shard_.reset();
  if (oracle_.failure() || faults_->dead()) return;
  disk_.kill(1);
  disk_.forget_failed_syncs();
  shard_ = std::make_unique<OneShard>(disk_.root(), clock_, shard_options());
  if (shard_->error()) {
    if (faults_->failed() == 0) oracle_.fail(1, "recovery refuses: " + shard_->error()->message);
    shard_.reset();
    return;
  }
  look_on(kept_, false);
}

void World::end(const Trial& trial) {
  const std::uint64_t must = shard_ ? least(End::power) : kept_;
  shard_.reset();
  faults_->disarm();
  switch (trial.end) {
    case Trial::End::kill: disk_.kill(trial.seed); break;
    case Trial::End::drop: disk_.drop_unsynced(); break;
    case Trial::End::power: disk_.lose_power(trial.seed); break;
    case Trial::End::reboot:
      disk_.lose_power(trial.seed);
      clock_.new_boot(++boots_, 1000);
      break;
  }
  open(must, trial.end == Trial::End::reboot);
}

}  // namespace tarry::simulation
