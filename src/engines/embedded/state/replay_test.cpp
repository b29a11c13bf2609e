// Random lives of one shard, on one thread. At any moment, replaying the journal gives the state of
// the shard that wrote it. After a power failure, replay gives a state that the shard was in, and
// that is no older than the last answer.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/disks/faulty_storage.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/life.h"

namespace tarry::embedded {
namespace {

using storage::VirtualDisk;
using test::gen_steps;
using test::Life;
using test::OneShard;
using test::Step;
using test::Steps;

std::unique_ptr<OneShard> open(VirtualDisk& disk, timing::ManualClock& clock, SyncPolicy policy) {
  auto shard = std::make_unique<OneShard>(disk.root(), clock, OneShard::Options{4096, policy});
  if (shard->error()) RC_FAIL(shard->error()->message);
  return shard;
}

// -- invariant 11

RC_GTEST_PROP(Replay, EqualsTheLifeItRecords, ()) {
  VirtualDisk disk;
  timing::ManualClock clock;
  Life life(clock);
  auto shard = open(disk, clock, SyncPolicy::always);
  const Steps steps = *gen_steps();
  std::size_t count = 0;
  for (const Step& step : steps) {
    life.submit(*shard, step);
    shard->settle();
    RC_ASSERT(test::conserves(shard->state()));
    ++count;
    if (count % 8 != 0 && count != steps.size()) continue;
    const auto image = disk.copy();
    test::Recovery recovery(*image->root(), true, clock.boot_id(), clock.now());
    if (!recovery.ok()) RC_FAIL(recovery.error());
    RC_ASSERT(test::describe(recovery.state) == test::describe(shard->state()));
    if (count % 24 == 0) {  // the store is opened again, every second time in another boot
      if (count % 48 == 0) clock.new_boot(clock.boot_id() + 1, 1000);
      shard.reset();
      shard = open(disk, clock, SyncPolicy::always);
    }
  }
}

// -- power failures

void live_and_crash(SyncPolicy policy) {
  timing::ManualClock clock;
  auto disk = std::make_unique<VirtualDisk>();
  for (int epoch = 0; epoch < 3; ++epoch) {
    Life life(clock);
    auto shard = open(*disk, clock, policy);
    const std::uint64_t base = shard->history().begin()->first;
    for (const Step& step : *gen_steps()) {
      life.submit(*shard, step);
      shard->turn();
      // Not every turn's job is committed at once; some wait.
      for (int i = *rc::gen::inRange(0, 3); i > 0 && shard->commit(); --i) {
      }
      if (*rc::gen::inRange(0, 10) == 0) shard->committer().sync_pending();
    }
    const std::uint64_t synced = shard->committer().durable();
    const auto history = shard->history();
    if (policy == SyncPolicy::always) RC_ASSERT(shard->answered() <= synced);
    shard.reset();

    disk->lose_power(*rc::gen::arbitrary<std::uint64_t>());
    const auto image = disk->copy();
    test::Recovery recovery(*image->root(), true, clock.boot_id(), clock.now());
    if (!recovery.ok()) RC_FAIL(recovery.error());
    const std::uint64_t last = recovery.result->tail.next_batch - 1;
    RC_ASSERT(last >= base);
    RC_ASSERT(last >= synced);
    RC_ASSERT(test::conserves(recovery.state));
    const std::string state = test::describe(recovery.state, false);
    // If the last batch is in the middle of a turn, there is no state to compare with.
    if (const auto found = history.find(last); found != history.end()) {
      RC_ASSERT(state == found->second);
    }

    // A second failure during the recovery changes nothing.
    disk = image->copy();
    auto faults = std::make_shared<storage::Faults>();
    faults->arm({.fail_at = *rc::gen::inRange<std::uint64_t>(1, 12), .for_good = true});
    {
      storage::FaultyDirectory faulty(disk->root(), faults);
      const test::Recovery interrupted(faulty, false, clock.boot_id(), clock.now());
      RC_ASSERT(interrupted.ok() == (faults->failed() == 0));
    }
    disk->lose_power(*rc::gen::arbitrary<std::uint64_t>());
    const auto second = disk->copy();
    test::Recovery again(*second->root(), false, clock.boot_id(), clock.now());
    if (!again.ok()) RC_FAIL(again.error());
    RC_ASSERT(test::describe(again.state, false) == state);
    disk = second->copy();
  }
}

RC_GTEST_PROP(PowerFailure, AlwaysKeepsWhatWasAnswered, ()) { live_and_crash(SyncPolicy::always); }
RC_GTEST_PROP(PowerFailure, Every100MsKeepsWhatWasSynced, ()) {
  live_and_crash(SyncPolicy::every_100ms);
}
RC_GTEST_PROP(PowerFailure, OsKeepsAPrefix, ()) { live_and_crash(SyncPolicy::os); }

}  // namespace
}  // namespace tarry::embedded
