#include "engines/embedded/tools/salvage_read.h"

#include <utility>

#include "engines/embedded/recovery/forgiving_file.h"
#include "engines/embedded/recovery/lenient_replay.h"
#include "engines/embedded/recovery/recovery.h"
#include "engines/embedded/store/store_files.h"

namespace tarry::embedded {
namespace {

class Reader {
 public:
  Reader(storage::Directory& directory, const ShardState::Identity& identity,
         const timing::Clock& clock, SalvagedShard& told,
         const std::function<void(std::uint64_t)>& progress)
      : directory_(&directory),
        identity_(identity),
        clock_(&clock),
        told_(&told),
        progress_(&progress) {}

  Result<ReadShard> run() {
    auto sound = read_sound();
    if (!sound) return std::move(sound).error();
    if (*sound) return std::move(shard_);
    if (auto done = read_damaged(); !done) return std::move(done).error();
    return std::move(shard_);
  }

 private:
  // False if recovery refuses the shard, or would cut intact batches. Batches after a tear were not
  // durable, but here no process has to continue from them.
  Result<bool> read_sound() {
    auto state = begun_state();
    SegmentFiles unused;
    RecoveryOptions recovery;
    recovery.store_id = identity_.store_id;
    recovery.hash_seed = identity_.hash_seed;
    recovery.shard = identity_.shard;
    recovery.read_only = true;
    recovery.progress = *progress_;
    auto recovered = recover(*directory_, unused, *state, recovery);
    if (!recovered) {
      const ErrorCode code = recovered.error().code;
      if (code == ErrorCode::damaged || code == ErrorCode::io_error) return false;
      return std::move(recovered).error();
    }
    if (recovered->report.cut_batches > 0) return false;  // recovery would lose them
    told_->sound = shard_.sound = true;
    told_->segments = recovered->report.segments;
    told_->batches = recovered->report.batches;
    told_->records = recovered->report.records;
    told_->torn_bytes = recovered->report.torn_bytes;
    shard_.empty = recovered->report.files == 0;
    state->finish_replay(clock_->now());
    if (!recovered->report.clean) state->skip_ids(kLostIds);
    const auto& segments = recovered->tail.segments;
    if (!segments.empty()) shard_.newest_segment = segments.back().number;
    shard_.state = std::move(state);
    return true;
  }

  Result<void> read_damaged() {
    auto state = begun_state();
    JournalWalk walk(*directory_, {identity_.store_id, identity_.shard, 0}, identity_.hash_seed);
    if (auto done = walk.open(); !done) return std::move(done).error();
    LenientReplay replay(walk, *state);
    auto replayed = replay.run(*progress_);
    if (!replayed) return std::move(replayed).error();
    told_->segments = replayed->walk.segments;
    told_->batches = replayed->walk.batches;
    told_->records = replayed->records;
    told_->torn_bytes = replayed->walk.torn_bytes;
    told_->lost_batches = replayed->walk.lost_batches;
    told_->lost_messages = replayed->lost_messages;
    told_->uncertain_messages = replayed->uncertain_messages;
    told_->losses = std::move(replayed->walk.losses);
    if (told_->batches == 0) return {};
    state->finish_replay(clock_->now());
    state->skip_ids(kLostIds);
    shard_.newest_segment = walk.newest_segment();
    shard_.unnamed = std::move(replayed->unnamed);
    shard_.queues_told_ms = std::move(replayed->queues_told_ms);
    shard_.state = std::move(state);
    return {};
  }

  [[nodiscard]] std::unique_ptr<ShardState> begun_state() const {
    auto state = new_state(identity_, *clock_);
    state->begin_replay();
    return state;
  }

  storage::Directory* directory_;
  ShardState::Identity identity_;
  const timing::Clock* clock_;
  SalvagedShard* told_;
  const std::function<void(std::uint64_t)>* progress_;
  ReadShard shard_;
};

}  // namespace

std::unique_ptr<ShardState> new_state(const ShardState::Identity& identity,
                                      const timing::Clock& clock) {
  return std::make_unique<ShardState>(identity, clock.now());
}

Result<ReadShard> read_shard(storage::Directory& store, const ShardState::Identity& identity,
                             const timing::Clock& clock, SalvagedShard& told,
                             const std::function<void(std::uint64_t)>& progress) {
  const std::string name = shard_directory_name(identity.shard);
  auto directory = store.subdirectory(name, false);
  if (!directory) {
    const bool missing = directory.error().code == ErrorCode::not_found;
    const Error error = shard_directory_error(std::move(directory).error());
    if (error.code != ErrorCode::damaged) return error;
    told.losses.push_back(
        {store.path() + "/" + name, 0, 0, missing ? "is missing" : "is no directory"});
    return ReadShard();
  }
  return Reader(**directory, identity, clock, told, progress).run();
}

Result<void> open_files(storage::Directory& store, const ReadShard& shard, SegmentFiles& files) {
  auto directory = store.subdirectory(shard_directory_name(shard.state->identity().shard), false);
  if (!directory) return std::move(directory).error();
  auto names = (*directory)->list();
  if (!names) return std::move(names).error();
  for (const std::string& name : *names) {
    const std::uint64_t segment = segment_number(name);
    if (segment == 0 || segment > shard.newest_segment) continue;
    auto file = open_segment(**directory, name, storage::OpenMode::read_only);
    if (!file && file.error().code == ErrorCode::damaged) continue;
    if (!file) return std::move(file).error();
    files.add(segment, std::make_shared<ForgivingFile>(std::move(*file)));
  }
  return {};
}

}  // namespace tarry::embedded
