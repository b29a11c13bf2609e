// World: how lives end, and how the next one begins.
#include <random>

#include "support/embedded/journal.h"
#include "world.h"

namespace tarry::simulation {
namespace {

using embedded::SyncPolicy;

constexpr std::int64_t kAnHour = 3'600'000;

}  // namespace

World::OneShard::Options World::shard_options() {
  OneShard::Options options;
  options.segment_bytes = options_.segment_bytes;
  options.policy = options_.policy;
  options.keeps_history = false;
  options.slices = {options_.wheel_slice, options_.sweep_slice, options_.cleaning_slice};
  options.work_base = options_.work_base;
  options.kept_claims = options_.kept_claims;
  options.recent_bytes = options_.recent_bytes;
  options.mark = [this](std::string_view branch) {
    count("mark." + std::string(branch));
    if (branch == "time.amid-turn") oracle_.watch(*shard_, OneShard::Moment::time, nullptr);
  };
  options.skips_ids = true;
  return options;
}

void World::open(std::uint64_t least, bool new_boot) {
  faults_->disarm();
  disk_.forget_failed_syncs();
  armed_ = false;
  shard_ = std::make_unique<OneShard>(disk_.root(), clock_, shard_options());
  if (shard_->error()) {
    oracle_.fail(1, "recovery refuses: " + shard_->error()->message);
    return;
  }
  look_on(least, new_boot);
}

void World::look_on(std::uint64_t least, bool new_boot) {
  base_ = shard_->last_taken();
  shard_->watch([this](OneShard::Moment moment, const embedded::Part* part) {
    if (armed_ && faults_->failed() > 0) oracle_.expect_errors();
    if (shard_->shard().failure()) oracle_.expect_errors();
    oracle_.watch(*shard_, moment, part);
  });
  oracle_.opened(*shard_, base_, least, new_boot);
  if (!oracle_.failure()) finish_removals();
}

// Finishes removals that a crash interrupted, as the engine's front does before it accepts requests
// for the queue.
void World::finish_removals() {
  std::vector<std::string> going;
  const embedded::ShardState& state = shard_->state();
  for (embedded::QueueId queue = 0; queue < state.queues.size(); ++queue) {
    if (state.queue(queue).removed) going.push_back(state.queue(queue).name);
  }
  for (const std::string& queue : going) {
    count("removal-finished");
    shard_->shard().freeze(queue);
    submit(core::RemoveRequest{queue, true});
    settle();
  }
}

// The last batch that must survive.
std::uint64_t World::least(End end) const {
  const bool lost = disk_.failed_syncs() > 0;
  const std::uint64_t synced = std::max(base_, shard_->committer().durable());
  if (end == End::close) return shard_->committer().failed() ? synced : shard_->last_taken();
  switch (options_.policy) {
    case SyncPolicy::always: return std::max(base_, shard_->answered());
    case SyncPolicy::every_100ms:
    case SyncPolicy::os:
      if (end == End::kill && !lost) return std::max(base_, shard_->answered());
      return synced;
  }
  return base_;
}

void World::crash(End end, std::uint32_t seed) {
  const char* const names[] = {"kill", "power", "reboot", "close"};
  count("crash." + std::string(names[static_cast<int>(end)]));
  if (armed_ && faults_->failed() > 0) {
    count("fault." + faults_->first_failed().substr(0, faults_->first_failed().find(' ')));
  }
  if (disk_.failed_syncs() > 0) count("fault.failed-sync", disk_.failed_syncs());
  std::mt19937_64 random(seed);
  const bool failed = shard_->shard().failure() || shard_->committer().failed();
  if (end == End::close && !failed) {
    faults_->disarm();
    armed_ = false;
    oracle_.expect_errors();  // waiting claims get an error, because the store closes
    shard_->close();
    oracle_.turn_ended(*shard_);
    if (oracle_.failure()) return;
  }
  // A shard that has failed cannot close, so it ends as if it were killed.
  const std::uint64_t least = this->least(end == End::close && failed ? End::kill : end);
  const std::uint64_t synced = std::max(base_, shard_->committer().durable());
  const bool synced_only = options_.policy == SyncPolicy::always;
  shard_.reset();
  faults_->disarm();
  const bool power = end == End::power || end == End::reboot;
  if (power) {
    disk_.lose_power(random());
  } else {
    disk_.kill(random());
  }
  if (end == End::reboot) clock_.new_boot(++boots_, 1000);
  if (random() % 3 == 0) clock_.advance(static_cast<std::int64_t>(random() % 4) * kAnHour / 4);
  std::uint64_t must = least;
  if (random() % 4 == 0 && interrupt_recovery(static_cast<std::uint32_t>(random()), power) &&
      !synced_only) {
    must = std::min(must, synced);
  }
  if (!oracle_.failure()) open(must, end == End::reboot);
}

// Crashes once or twice during recovery; the next recovery must find the same. True if a sync
// failed, so that bytes which were not synced before are lost too.
bool World::interrupt_recovery(std::uint32_t seed, bool power) {
  const auto last_batch = [&]() -> std::optional<std::uint64_t> {
    const embedded::test::Recovery look(*disk_.root(), true, clock_.boot_id(), clock_.now());
    if (!look.ok()) {
      oracle_.fail(1, "recovery refuses: " + look.error());
      return std::nullopt;
    }
    return look.result->tail.next_batch - 1;
  };
  const auto before = last_batch();
  if (!before) return false;
  std::mt19937_64 random(seed);
  const int times = 1 + static_cast<int>(random() % 2);
  for (int i = 0; i < times; ++i) {
    storage::FaultPlan plan;
    plan.fail_at = 1 + random() % 10;
    plan.for_good = true;
    faults_->arm(plan);
    {
      const embedded::test::Recovery interrupted(*disk_.root(), false, clock_.boot_id(),
                                                 clock_.now());
      if (faults_->failed() > 0) count("fault.recovery-interrupted");
      if (faults_->failed() > 0 && interrupted.ok()) {
        oracle_.fail(8, "recovery went on after " + faults_->first_failed() + " had failed");
      }
    }
    faults_->disarm();
    if (power) {
      disk_.lose_power(random());
    } else {
      disk_.kill(random());
    }
  }
  const bool lost = disk_.failed_syncs() > 0;
  const auto after = last_batch();
  if (after && *after != *before && !lost) {
    oracle_.fail(8, "recovery found batch " + std::to_string(*before) + " at first, then " +
                        std::to_string(*after));
  }
  return lost;
}

// Checks invariant 11.
void World::rebuild() {
  if (armed_ || oracle_.was_full() || shard_->shard().failure()) return;
  turn();
  while (commit()) {
  }
  if (oracle_.failure() || (armed_ && faults_->failed() > 0)) return;
  const embedded::test::Recovery recovery(*disk_.root(), true, clock_.boot_id(), clock_.now());
  if (!recovery.ok()) return oracle_.fail(11, "the journal cannot be read: " + recovery.error());
  count("rebuilt");
  const std::string rebuilt = embedded::test::describe(recovery.state, false);
  const std::string living = embedded::test::describe(shard_->state(), false);
  // Time changes a state without a record. And a store that has skipped ids writes that only with
  // its next batch.
  const auto without_marks = [](const std::string& text) {
    return text.substr(0, text.rfind("next id"));
  };
  if (without_marks(rebuilt) != without_marks(living)) {
    oracle_.fail(11, "rebuilt from the journal\n" + rebuilt + "living\n" + living);
  }
  if (!embedded::test::conserves(shard_->state())) oracle_.fail(13, "counts do not add up");
}

// One byte of a closed store changes on the disk. When a copy of it is opened, it must either be
// refused, with file and offset, or contain what it contained before.
void World::rot(std::uint32_t seed) {
  if (armed_ || shard_->shard().failure()) return;
  turn();
  while (commit()) {
  }
  if (oracle_.failure()) return;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 3 && !oracle_.failure(); ++i) {
    const auto copy = disk_.copy();
    const auto names = copy->root()->list();
    if (!names || names->empty()) return;
    const std::string name = (*names)[random() % names->size()];
    const auto size = copy->root()->open(name, storage::OpenMode::read_only).value()->size();
    if (!size || *size == 0) continue;
    if (!copy->flip(name, random() % *size, static_cast<std::uint8_t>(1 + random() % 255)))
      continue;
    count("fault.rot");
    const auto mark = [this](embedded::Row row) {
      count("mark." + std::string(embedded::name_of(row)));
    };
    const embedded::test::Recovery recovery(*copy->root(), true, clock_.boot_id(), clock_.now(),
                                            mark);
    if (!recovery.ok()) {
      count("rot.refused");
      if (recovery.code() != ErrorCode::damaged && recovery.code() != ErrorCode::unsupported) {
        oracle_.fail(4, "rot was refused as something else: " + recovery.error());
      }
      continue;
    }
    // Bytes that the journal itself does not prove to be durable may be taken for a torn tail.
    // These are the end of the last segment, and with policy os the end of any segment.
    const std::uint64_t newest = shard_->journal().newest_segment();
    const bool proven = options_.policy != SyncPolicy::os &&
                        embedded::segment_number(name) < newest &&
                        shard_->committer().durable() >= shard_->journal().head().first_batch;
    if (recovery.result->report.torn_bytes > 0) {
      if (proven) oracle_.fail(4, "a turned byte of " + name + " was taken for a torn tail");
      count("rot.tail");
      continue;
    }
    count("rot.harmless");
    if (embedded::test::describe(recovery.state, false) !=
        embedded::test::describe(
            embedded::test::Recovery(*disk_.root(), true, clock_.boot_id(), clock_.now()).state,
            false)) {
      oracle_.fail(4, "a turned byte of " + name + " changed what is there, and nothing said so");
    }
  }
}

}  // namespace tarry::simulation
