#include "engines/embedded/salvage.h"

#include <algorithm>
#include <utility>

#include "engines/embedded/forgiving_file.h"
#include "engines/embedded/lenient_replay.h"
#include "engines/embedded/recovery.h"
#include "engines/embedded/salvage_identity.h"
#include "engines/embedded/salvage_writer.h"
#include "engines/embedded/store_files.h"
#include "timing/real_clock.h"

namespace tarry::embedded {
namespace {

// Each byte is read by recovery, twice by the lenient replay, and once more to be copied.
constexpr std::uint64_t kPasses = 4;

class Salvage {
 public:
  Salvage(storage::Directory& source, storage::Directory& target, const SalvageOptions& options)
      : source_(&source), target_(&target), options_(&options), clock_(options.clock) {
    if (!clock_) clock_ = std::make_shared<timing::RealClock>();
  }

  Result<SalvageReport> run() {
    // The file is made by whoever opens the store: without it nobody can hold it.
    auto lock = source_->lock_shared(kLockName);
    if (!lock && lock.error().code != ErrorCode::not_found) return std::move(lock).error();
    auto known = salvage_identity(*source_, random_number);
    if (!known) return std::move(known).error();
    identity_ = known->identity;
    report_.store_id = identity_.store_id;
    report_.shards = identity_.shards;
    report_.store_file = std::move(known->store_file);
    if (auto done = begin_target(); !done) return std::move(done).error();
    if (auto done = salvage_shards(); !done) return std::move(done).error();
    if (auto done = end_target(); !done) return std::move(done).error();
    return std::move(report_);
  }

 private:
  // -- the new directory

  Result<void> begin_target() {
    auto names = target_->list();
    if (!names) return std::move(names).error();
    std::erase(*names, "lost+found");
    if (!names->empty()) {
      return Unexpected(ErrorCode::invalid_argument,
                        target_->path() + " is not empty; a salvaged store needs a new directory");
    }
    auto mark = target_->open(kSalvageName, storage::OpenMode::create_new);
    if (!mark) return std::move(mark).error();
    return target_->sync();
  }

  Result<void> end_target() {
    if (auto done = write_identity(*target_, identity_); !done) return done;
    if (auto done = target_->remove(kSalvageName); !done) return done;
    return target_->sync();
  }

  // -- shards

  Result<void> salvage_shards() {
    measure();
    report_.per_shard.resize(identity_.shards);
    std::vector<std::uint32_t> nothing_there;
    for (std::uint32_t shard = 0; shard < identity_.shards; ++shard) {
      report_.per_shard[shard].shard = shard;
      auto found = salvage_shard(shard);
      if (!found) return std::move(found).error();
      if (!*found) nothing_there.push_back(shard);
    }
    // How many ids these have given nobody knows; the busiest of the others is the best guess.
    for (const std::uint32_t shard : nothing_there) {
      auto state = new_state(shard);
      state->evolve(MarksRecord{highest_id_mark_, 0});
      state->finish_replay(clock_->now());
      state->skip_ids(kLostIds);
      if (auto done = write(shard, *state, SegmentFiles(), 0); !done) return done;
    }
    return {};
  }

  std::unique_ptr<ShardState> new_state(std::uint32_t shard) const {
    ShardState::Identity own;
    own.store_id = identity_.store_id;
    own.hash_seed = identity_.hash_seed;
    own.shard = shard;
    own.shards = identity_.shards;
    own.boot_id = clock_->boot_id();
    auto state = std::make_unique<ShardState>(own, clock_->now());
    state->begin_replay();
    return state;
  }

  // False where nothing of it could be read.
  Result<bool> salvage_shard(std::uint32_t shard) {
    SalvagedShard& told = report_.per_shard[shard];
    const std::uint64_t end = done_ + kPasses * bytes_[shard];
    auto directory = source_->subdirectory(shard_directory_name(shard), false);
    if (!directory) {
      if (directory.error().code != ErrorCode::not_found) return std::move(directory).error();
      told.losses.push_back(
          {source_->path() + "/" + shard_directory_name(shard), 0, 0, "is missing"});
      return false;
    }
    auto whole = copy_sound(shard, **directory);
    if (!whole) return whole;
    Result<bool> found = true;
    if (!*whole) found = copy_damaged(shard, **directory);
    done_ = end;
    advance(0);
    return found;
  }

  // False where recovery refuses it, or would cut what checks.
  Result<bool> copy_sound(std::uint32_t shard, storage::Directory& directory) {
    SalvagedShard& told = report_.per_shard[shard];
    const auto state = new_state(shard);
    SegmentFiles unused;
    RecoveryOptions recovery;
    recovery.store_id = identity_.store_id;
    recovery.shard = shard;
    recovery.read_only = true;
    recovery.progress = [this](std::uint64_t bytes) { advance(bytes); };
    auto recovered = recover(directory, unused, *state, recovery);
    if (!recovered) {
      const ErrorCode code = recovered.error().code;
      if (code == ErrorCode::damaged || code == ErrorCode::io_error) return false;
      return std::move(recovered).error();
    }
    if (recovered->report.cut_batches > 0) return false;  // recovery would lose them
    told.sound = true;
    told.segments = recovered->report.segments;
    told.batches = recovered->report.batches;
    told.records = recovered->report.records;
    told.torn_bytes = recovered->report.torn_bytes;
    if (recovered->report.files == 0) return true;  // as new as the directory that is made for it
    state->finish_replay(clock_->now());
    if (!recovered->report.clean) state->skip_ids(kLostIds);
    SegmentFiles files;
    std::uint64_t newest = 0;
    for (const SegmentInfo& segment : recovered->tail.segments) {
      auto file = directory.open(segment_name(segment.number), storage::OpenMode::read_only);
      if (!file) return std::move(file).error();
      files.add(segment.number, std::make_shared<ForgivingFile>(std::move(*file)));
      newest = segment.number;
    }
    if (auto done = write(shard, *state, files, newest); !done) return std::move(done).error();
    return true;
  }

  Result<bool> copy_damaged(std::uint32_t shard, storage::Directory& directory) {
    SalvagedShard& told = report_.per_shard[shard];
    const auto state = new_state(shard);
    JournalWalk walk(directory, identity_.store_id, shard);
    if (auto done = walk.open(); !done) return std::move(done).error();
    LenientReplay replay(walk, *state);
    auto replayed = replay.run([this](std::uint64_t bytes) { advance(bytes); });
    if (!replayed) return std::move(replayed).error();
    told.segments = replayed->walk.segments;
    told.batches = replayed->walk.batches;
    told.records = replayed->records;
    told.torn_bytes = replayed->walk.torn_bytes;
    told.lost_batches = replayed->walk.lost_batches;
    told.lost_messages = replayed->lost_messages;
    told.uncertain_messages = replayed->uncertain_messages;
    told.unnamed_queues = replayed->unnamed_queues;
    told.losses = std::move(replayed->walk.losses);
    if (told.batches == 0) return false;
    state->finish_replay(clock_->now());
    state->skip_ids(kLostIds);
    if (auto done = write(shard, *state, walk.files(), walk.newest_segment()); !done) {
      return std::move(done).error();
    }
    return true;
  }

  Result<void> write(std::uint32_t shard, ShardState& state, const SegmentFiles& files,
                     std::uint64_t newest) {
    highest_id_mark_ = std::max(highest_id_mark_, state.next_id_mark());
    auto directory = target_->subdirectory(shard_directory_name(shard), true);
    if (!directory) return std::move(directory).error();
    if (auto synced = target_->sync(); !synced) return synced;
    SalvageTarget to;
    to.directory = directory->get();
    to.clock = clock_.get();
    to.random = random_number;
    to.segment_bytes = options_->segment_bytes != 0
                           ? options_->segment_bytes
                           : default_segment_bytes(*target_, identity_.shards);
    auto written =
        write_salvaged(state, files, newest, to, [this](std::uint64_t bytes) { advance(bytes); });
    if (!written) return std::move(written).error();
    SalvagedShard& told = report_.per_shard[shard];
    told.messages = written->messages;
    told.remembered = written->remembered;
    told.damaged_messages = written->damaged;
    return {};
  }

  // -- progress

  void measure() {
    bytes_.resize(identity_.shards);
    for (std::uint32_t shard = 0; shard < identity_.shards; ++shard) {
      auto directory = source_->subdirectory(shard_directory_name(shard), false);
      if (!directory) continue;
      if (auto bytes = journal_bytes(**directory)) bytes_[shard] = *bytes;
      total_ += kPasses * bytes_[shard];
    }
  }

  void advance(std::uint64_t bytes) {
    done_ += bytes;
    if (options_->progress) options_->progress(std::min(done_, total_), total_);
  }

  storage::Directory* source_;
  storage::Directory* target_;
  const SalvageOptions* options_;
  std::shared_ptr<const timing::Clock> clock_;
  StoreIdentity identity_;
  SalvageReport report_;
  std::uint64_t highest_id_mark_ = 1;
  std::vector<std::uint64_t> bytes_;  // of each shard's journal
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

Result<SalvageReport> salvage(storage::Directory& source, storage::Directory& target,
                              const SalvageOptions& options) {
  return Salvage(source, target, options).run();
}

}  // namespace tarry::embedded
