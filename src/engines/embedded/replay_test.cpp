// Random lives of one shard, on one thread: what replay makes of the journal equals the shard that
// wrote it, at any moment; and whatever a power failure leaves is a state that the shard was in, no
// older than the last answer.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <tuple>

#include "engines/embedded/test_requests.h"
#include "engines/embedded/test_shard.h"
#include "storage/faulty_storage.h"

namespace tarry::embedded {
namespace {

using test::OneShard;
using Step = std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>;  // what, and two numbers
using Steps = std::vector<Step>;

constexpr std::int64_t kSecond = 1000;

class Life {
 public:
  explicit Life(timing::ManualClock& clock) : clock_(&clock) {}

  /// Hands the step's request to the shard, or moves the clock.
  void submit(OneShard& shard, const Step& step) {
    const auto [what, a, b] = step;
    const std::string queue = a % 5 == 0 ? "other" : "q";
    switch (what % 24) {
      default: push(shard, queue, a, b); break;
      case 6:
      case 7:
      case 8: claim(shard, queue, a, b); break;
      case 9: settle(shard, core::SettleAction::ack, a, b); break;
      case 10: settle(shard, core::SettleAction::retry, a, b); break;
      case 11: settle(shard, core::SettleAction::release, a, b); break;
      case 12: settle(shard, core::SettleAction::bury, a, b); break;
      case 13: shard.submit(test::extend(receipt(a), Millis((1 + b) * kSecond))); break;
      case 14: shard.submit(test::cancel(queue, key(b))); break;
      case 15: shard.submit(test::reschedule(queue, key(b), Due::after(Millis(a * 100)))); break;
      case 16: configure(shard, queue, a, b); break;
      case 17:
        if (b % 2 == 0) {
          shard.submit(core::PauseRequest{queue, std::nullopt});
        } else {
          shard.submit(core::ResumeRequest{queue});
        }
        break;
      case 18:
        if (b % 4 == 0) {
          shard.submit(core::PurgeRequest{queue});
        } else {
          core::ReviveRequest revive;
          revive.queue = queue;
          revive.all = true;
          shard.submit(std::move(revive));
        }
        break;
      case 19: move(shard, queue, a, b); break;
      case 20: clock_->advance(b * 100); break;
      case 21: clock_->advance(b * kSecond); break;
      case 22: clock_->step_realtime((b - 128) * 50); break;
      case 23: settle(shard, core::SettleAction::move_away, a, b); break;
    }
  }

 private:
  static std::string key(std::uint8_t number) { return "key-" + std::to_string(number % 16); }
  std::string receipt(std::uint8_t number) const {
    if (receipts_.empty()) return "r" + std::string(30, 'A');
    return receipts_[receipts_.size() - 1 - number % std::min<std::size_t>(8, receipts_.size())];
  }

  void push(OneShard& shard, const std::string& queue, std::uint8_t a, std::uint8_t b) {
    const std::string name = a % 7 == 0 ? "" : key(b);
    const Due due = a % 3 == 0 ? Due::at(Time(Millis(clock_->now().realtime_ms + b * 50)))
                               : Due::after(Millis((b % 32) * 100));
    auto request = test::push(queue, name.c_str(), due, std::string(a * 4u, 'p'));
    request.items[0].if_exists = static_cast<IfExists>(a % 5);
    request.items[0].priority = b % 3;
    request.items[0].max_attempts = a % 4;
    shard.submit(std::move(request));
  }

  void claim(OneShard& shard, const std::string& queue, std::uint8_t a, std::uint8_t b) {
    auto request = test::claim(queue, 1 + a % 4);
    request.lease = Millis((1 + b % 20) * kSecond);
    if (b % 6 == 0) {
      request.keys = {key(a), key(static_cast<std::uint8_t>(a + 1))};
      request.any_state = true;
    }
    shard.submit(std::move(request), [this](const Result<core::Reply>& reply) {
      if (!reply) return;
      const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
      receipts_.insert(receipts_.end(), receipts.begin(), receipts.end());
    });
  }

  void settle(OneShard& shard, core::SettleAction action, std::uint8_t a, std::uint8_t b) {
    auto request = test::settle({receipt(a), receipt(b)}, action,
                                action == core::SettleAction::bury ? key(b) : "");
    if (b % 2 == 0) request.items[0].priority = b;
    if (action == core::SettleAction::retry && a % 2 == 0) {
      request.items[0].delay = Millis(b * 10);
    }
    shard.submit(std::move(request));
  }

  static void configure(OneShard& shard, const std::string& queue, std::uint8_t a, std::uint8_t b) {
    core::ConfigureRequest request;
    request.queue = queue;
    request.patch.remember = Millis(a % 3 * 5 * kSecond);
    request.patch.dead_keep = Millis((1 + b % 3) * 10 * kSecond);
    request.patch.max_attempts = 1 + b % 4;
    request.patch.if_exists = static_cast<IfExists>(a % 5);
    shard.submit(std::move(request));
  }

  static void move(OneShard& shard, const std::string& queue, std::uint8_t a, std::uint8_t b) {
    core::MoveRequest request;
    request.queue = queue;
    core::MoveItem item;
    item.push.key = core::append(request.bytes, key(b));
    item.push.payload = core::append(request.bytes, "moved");
    item.attempt = a % 3;
    item.tallies = {a, b, 1, 2, 3};
    item.dead = a % 2 == 0;
    if (item.dead) item.reason = core::append(request.bytes, "was dead there");
    request.items.push_back(item);
    shard.submit(std::move(request));
  }

  timing::ManualClock* clock_;
  std::vector<std::string> receipts_;
};

rc::Gen<Steps> gen_steps() { return rc::gen::scale(2.0, rc::gen::arbitrary<Steps>()); }

std::unique_ptr<OneShard> open(test::CrashDisk& disk, timing::ManualClock& clock,
                               SyncPolicy policy) {
  auto shard = std::make_unique<OneShard>(disk.root(), clock, OneShard::Options{4096, policy});
  if (shard->error()) RC_FAIL(shard->error()->message);
  return shard;
}

// -- invariant 11

RC_GTEST_PROP(Replay, EqualsTheLifeItRecords, ()) {
  test::CrashDisk disk;
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
    const auto image = disk.as_written();
    test::Recovery recovery(*image->root(), true, clock.boot_id(), clock.now());
    if (!recovery.ok()) RC_FAIL(recovery.error());
    RC_ASSERT(test::describe(recovery.state) == test::describe(shard->state()));
    if (count % 24 == 0) {  // goes on where it was, another boot each second time
      if (count % 48 == 0) clock.new_boot(clock.boot_id() + 1, 1000);
      shard.reset();
      shard = open(disk, clock, SyncPolicy::always);
    }
  }
}

// -- power failures

void live_and_crash(SyncPolicy policy) {
  timing::ManualClock clock;
  auto disk = std::make_unique<test::CrashDisk>();
  for (int epoch = 0; epoch < 3; ++epoch) {
    Life life(clock);
    auto shard = open(*disk, clock, policy);
    const std::uint64_t base = shard->history().begin()->first;
    for (const Step& step : *gen_steps()) {
      life.submit(*shard, step);
      shard->turn();
      // Some jobs wait for the ones before.
      for (int i = *rc::gen::inRange(0, 3); i > 0 && shard->commit(); --i) {
      }
      if (*rc::gen::inRange(0, 10) == 0) shard->committer().sync_pending();
    }
    const std::uint64_t synced = shard->committer().durable();
    const auto history = shard->history();
    if (policy == SyncPolicy::always) RC_ASSERT(shard->answered() <= synced);
    shard.reset();

    const auto image = disk->lose_power(*rc::gen::arbitrary<std::uint64_t>());
    test::Recovery recovery(*image->root(), true, clock.boot_id(), clock.now());
    if (!recovery.ok()) RC_FAIL(recovery.error());
    const std::uint64_t last = recovery.result->tail.next_batch - 1;
    RC_ASSERT(last >= base);
    RC_ASSERT(last >= synced);
    RC_ASSERT(test::conserves(recovery.state));
    const std::string state = test::describe(recovery.state, false);
    // Between the batches of one turn the shard was in no state of its own.
    if (const auto found = history.find(last); found != history.end()) {
      RC_ASSERT(state == found->second);
    }

    // A second failure, while the first is being recovered from, changes nothing.
    disk = std::make_unique<test::CrashDisk>(*image);
    auto faults = std::make_shared<storage::Faults>();
    faults->arm({.fail_at = *rc::gen::inRange<std::uint64_t>(1, 12), .for_good = true});
    {
      storage::FaultyDirectory faulty(disk->root(), faults);
      const test::Recovery interrupted(faulty, false, clock.boot_id(), clock.now());
      RC_ASSERT(interrupted.ok() == (faults->failed() == 0));
    }
    const auto second = disk->lose_power(*rc::gen::arbitrary<std::uint64_t>());
    test::Recovery again(*second->root(), false, clock.boot_id(), clock.now());
    if (!again.ok()) RC_FAIL(again.error());
    RC_ASSERT(test::describe(again.state, false) == state);
    disk = std::make_unique<test::CrashDisk>(*second);
  }
}

RC_GTEST_PROP(PowerFailure, AlwaysKeepsWhatWasAnswered, ()) { live_and_crash(SyncPolicy::always); }
RC_GTEST_PROP(PowerFailure, Every100MsKeepsWhatWasSynced, ()) {
  live_and_crash(SyncPolicy::every_100ms);
}
RC_GTEST_PROP(PowerFailure, OsKeepsAPrefix, ()) { live_and_crash(SyncPolicy::os); }

}  // namespace
}  // namespace tarry::embedded
