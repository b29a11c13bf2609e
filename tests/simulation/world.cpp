#include "world.h"

#include <algorithm>

namespace tarry::simulation {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr int kMostTurns = 10'000;  // of any loop that must end

}  // namespace

World::World(const Options& options) : options_(options), oracle_(options, clock_) {}

Life World::live(const std::vector<Step>& script) {
  Life life;
  open(0, false);
  life.failed_at = script.size();
  for (std::size_t i = 0; i < script.size() && !oracle_.failure(); ++i) {
    step(script[i]);
    if (oracle_.failure()) life.failed_at = i;
  }
  if (!oracle_.failure()) heal();
  shard_.reset();
  life.failure = oracle_.failure();
  count("answers", oracle_.answers());
  count("deliveries", oracle_.deliveries());
  const storage::VirtualDisk::Damage& damage = disk_.damage();
  count("fault.sector-dropped", damage.sectors_dropped);
  count("fault.sector-zeroed", damage.sectors_zeroed);
  count("fault.sector-garbled", damage.sectors_garbled);
  count("fault.sector-kept", damage.sectors_kept);
  count("fault.sector-lost-by-failed-sync", damage.sectors_evicted);
  count("fault.size-lost", damage.sizes_lost);
  count("fault.name-lost", damage.names_lost);
  count("fault.name-back", damage.names_back);
  life.figures = std::move(figures_);
  return life;
}

// -- turns

void World::turn() {
  shard_->turn();
  if (armed_ && faults_->failed() > 0) {
    oracle_.expect_errors();
    if (disk_.failed_syncs() > 0) oracle_.expect_no_answers();
  }
  oracle_.turn_ended(*shard_);
}

bool World::commit() {
  // A job answers after its own sync. If that sync failed, errors are allowed already.
  const bool done = shard_->commit();
  if (armed_ && faults_->failed() > 0) oracle_.expect_errors();
  return done;
}

void World::settle() {
  for (int i = 0; i < kMostTurns && !oracle_.failure(); ++i) {
    turn();
    while (commit()) {
    }
    if (shard_->idle()) return;
  }
  if (!oracle_.failure()) {
    const embedded::Journal& journal = shard_->journal();
    oracle_.fail(9, "the shard always has more to do: closed " +
                        std::to_string(journal.closed_bytes()) + " in " +
                        std::to_string(journal.closed().size()) + " segments, opening " +
                        std::to_string(journal.opening_bytes()) + ", live " +
                        std::to_string(shard_->state().live.total_bytes()));
  }
}

void World::flow(const Step& step) {
  if (step.turns) turn();
  for (int i = 0; i < step.commits && commit(); ++i) {
  }
  if (step.c % 2 == 0) shard_->read_ahead();
}

void World::pass_time(std::int64_t ms) { clock_.advance(ms); }

// -- steps

void World::step(const Step& step) {
  count("step." + std::string(to_string(step.op)));
  switch (step.op) {
    case Op::advance: {
      // Mostly a short time; sometimes as long as a lease, or long enough for everything.
      const std::int64_t ms = step.a % 8 == 0   ? step.b * kSecond * 60
                              : step.a % 3 == 0 ? step.b * kSecond
                                                : step.b * 20;
      pass_time(ms);
      break;
    }
    case Op::step: {
      const bool back = step.a % 2 == 0;
      std::int64_t ms = (1 + step.b % 60) * 10 * kSecond;
      if (step.b % 5 == 0) ms = kHour;
      if (options_.small_steps && step.b % 3 == 0) ms = 1 + step.b * 3;
      clock_.step_realtime(back ? -ms : ms);
      count("fault.clock-step");
      break;
    }
    case Op::drift: {
      if (!options_.small_steps) break;
      const timing::Instant now = clock_.now();
      clock_.set({now.realtime_ms + step.b + step.a % 7, now.boottime_ms + step.b});
      count("fault.clock-drift");
      break;
    }
    case Op::sync:
      shard_->committer().sync_pending();
      if (shard_->committer().failed()) oracle_.expect_errors();
      break;
    case Op::fill:
      if (armed_) break;
      disk_.set_capacity(disk_.used_bytes() + step.b % 4 * storage::VirtualDisk::kPage);
      oracle_.disk_full(true);
      count("fault.disk-full");
      break;
    case Op::room:
      disk_.set_capacity(UINT64_MAX);
      settle();
      oracle_.disk_full(false);
      break;
    case Op::fault: {
      if (armed_) break;
      storage::FaultPlan plan;
      plan.fail_at = 1 + step.b % 12;
      plan.code = step.a % 4 == 0 ? ErrorCode::no_space : ErrorCode::io_error;
      plan.for_good = step.a % 3 == 0;
      plan.short_write = step.a % 5 == 0;
      faults_->arm(plan);
      armed_ = true;
      if (plan.code == ErrorCode::no_space) oracle_.disk_was_full();
      break;
    }
    case Op::kill: return crash(End::kill, step.c);
    case Op::power: return crash(End::power, step.c);
    case Op::reboot: return crash(End::reboot, step.c);
    case Op::close: return crash(End::close, step.c);
    case Op::rebuild: return rebuild();
    case Op::rot: return rot(step.c);
    case Op::remove: return remove(step);
    default:
      if (auto request = request_of(step)) submit(std::move(*request));
      break;
  }
  flow(step);
}

// Nothing else may be running: the oracle would not see when requests that wait for the removal are
// decided.
void World::remove(const Step& step) {
  settle();
  if (oracle_.failure() || oracle_.is_full() || shard_->shard().failure()) return;
  submit(core::RemoveRequest{queue_of(step), step.a % 2 == 0});
  if (step.b % 2 == 0) {
    for (int turns = step.b / 2 % 8; turns > 0 && !oracle_.failure(); --turns) {
      turn();
      if (turns > 1 || step.c % 2 == 0) commit();
    }
    constexpr End kEnds[] = {End::kill, End::power, End::reboot};
    if (!oracle_.failure()) crash(kEnds[step.c / 2 % 3], step.c);
    return;
  }
  settle();
}

// -- afterwards

// Ends all faults. Then everything that is due must be delivered, and the store must free its space
// on the disk.
void World::heal() {
  disk_.set_capacity(UINT64_MAX);
  if (armed_ || shard_->shard().failure() || shard_->committer().failed()) crash(End::kill, 7);
  if (oracle_.failure()) return;
  settle();
  oracle_.disk_full(false);
  for (std::uint32_t i = 0; i < options_.queues && !oracle_.failure(); ++i) {
    submit(core::ResumeRequest{"q" + std::to_string(i)});
    settle();
  }
  drain();
  if (oracle_.failure()) return;
  // Segments that were there at the opening are cleaned only after a write.
  if (shard_->journal().head().number == 0) {
    submit(core::PauseRequest{"q0", std::nullopt});
    submit(core::ResumeRequest{"q0"});
    settle();
    if (oracle_.failure()) return;
  }
  rebuild();
  if (oracle_.failure()) return;
  const embedded::Journal& journal = shard_->journal();
  const std::uint64_t live = shard_->state().live.total_bytes();
  const std::uint64_t openings = (journal.closed().size() + 1) * journal.opening_bytes();
  // If cleaning copies only a few bytes at a time, each copy is a batch of its own, and may be
  // longer than the original.
  const std::uint64_t most = options_.cleaning_slice < 1000 ? 3 * live : live + live / 2;
  // Bytes that the cleaner leaves after a round without gain.
  constexpr std::uint64_t kRests = 4096;
  if (journal.closed_bytes() > most + openings + 2 * journal.largest_segment() + kRests) {
    oracle_.fail(12, "the journal keeps " + std::to_string(journal.closed_bytes()) + " bytes for " +
                         std::to_string(live) + " live ones");
  }
}

// Lets time pass, and claims and acks messages, until none is left.
void World::drain() {
  for (int round = 0; round < 200 && oracle_.pending() && !oracle_.failure(); ++round) {
    pass_time(round < 20 ? 30 * 60 * kSecond : 24 * kHour);
    settle();
    for (int claims = 0; claims < 50 && !oracle_.failure(); ++claims) {
      const std::uint64_t before = oracle_.deliveries();
      for (std::uint32_t i = 0; i < options_.queues; ++i) {
        core::ClaimRequest request;
        request.queues = {"q" + std::to_string(i)};
        request.max = 10;
        request.lease = Millis(kHour);
        submit(std::move(request));
      }
      settle();
      if (oracle_.deliveries() == before) break;
      core::SettleRequest acks;
      const auto& receipts = oracle_.receipts();
      const auto fresh = static_cast<std::size_t>(oracle_.deliveries() - before);
      for (std::size_t i = receipts.size() - std::min(fresh, receipts.size()); i < receipts.size();
           ++i) {
        core::SettleItem item;
        item.receipt = core::append(acks.bytes, receipts[i]);
        acks.items.push_back(item);
      }
      submit(std::move(acks));
      settle();
    }
  }
  if (!oracle_.failure() && oracle_.pending()) {
    oracle_.fail(9, "messages are left that no claim gets");
  }
}

}  // namespace tarry::simulation
