#include "engines/embedded/tools/salvage.h"

#include <algorithm>
#include <utility>

#include "engines/embedded/recovery/recovery.h"
#include "engines/embedded/store/store_files.h"
#include "engines/embedded/store/store_lock.h"
#include "engines/embedded/tools/salvage_identity.h"
#include "engines/embedded/tools/salvage_queues.h"
#include "engines/embedded/tools/salvage_read.h"
#include "engines/embedded/tools/salvage_writer.h"
#include "timing/real_clock.h"

namespace tarry::embedded {
namespace {

// Each byte is read by recovery, twice by the lenient replay, and once more to be copied.
constexpr std::uint64_t kReadPasses = 3;
constexpr std::uint64_t kPasses = kReadPasses + 1;

class Salvage {
 public:
  Salvage(storage::Directory& source, storage::Directory& target, const SalvageOptions& options)
      : source_(&source), target_(&target), options_(&options), clock_(options.clock) {
    if (!clock_) clock_ = std::make_shared<timing::RealClock>();
  }

  Result<SalvageReport> run() {
    auto lock = lock_store_shared(*source_);
    if (!lock) return std::move(lock).error();
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

  // All shards are read before the first is written, because one may know what another has lost.
  Result<void> salvage_shards() {
    measure();
    report_.per_shard.resize(identity_.shards);
    for (std::uint32_t shard = 0; shard < identity_.shards; ++shard) {
      report_.per_shard[shard].shard = shard;
      const std::uint64_t end = done_ + kReadPasses * bytes_[shard];
      auto read = read_shard(*source_, own_identity(shard), *clock_, report_.per_shard[shard],
                             [this](std::uint64_t bytes) { advance(bytes); });
      if (!read) return std::move(read).error();
      done_ = end;
      advance(0);
      if (read->state) queues_.tell(*read);
      shards_.push_back(std::move(*read));
    }
    stand_in_for_lost_shards();
    for (ReadShard& shard : shards_) {
      if (shard.empty) continue;  // the shard gets an empty directory
      if (auto done = write(shard); !done) return done;
      shard.state.reset();
    }
    return {};
  }

  ShardState::Identity own_identity(std::uint32_t shard) const {
    ShardState::Identity own;
    own.store_id = identity_.store_id;
    own.hash_seed = identity_.hash_seed;
    own.shard = shard;
    own.shards = identity_.shards;
    own.boot_id = clock_->boot_id();
    return own;
  }

  // Nobody knows how many ids the lost shards have given. The busiest other shard is the best
  // guess.
  void stand_in_for_lost_shards() {
    std::uint64_t highest_id_mark = 1;
    for (const ReadShard& shard : shards_) {
      if (shard.state) highest_id_mark = std::max(highest_id_mark, shard.state->next_id_mark());
    }
    for (std::uint32_t shard = 0; shard < identity_.shards; ++shard) {
      if (shards_[shard].state) continue;
      auto state = new_state(own_identity(shard), *clock_);
      state->evolve(MarksRecord{highest_id_mark, 0});
      state->skip_ids(kLostIds);
      shards_[shard].state = std::move(state);
    }
  }

  Result<void> write(ReadShard& shard) {
    ShardState& state = *shard.state;
    const std::uint32_t number = state.identity().shard;
    SalvagedShard& told = report_.per_shard[number];
    SegmentFiles files;
    if (shard.newest_segment != 0) {
      if (auto done = open_files(*source_, shard, files); !done) return done;
    }
    const auto named = queues_.name(identity_, shard, files);
    told.unnamed_queues = named.unnamed;
    told.unreachable_messages = named.unreachable;
    told.adopted_queues = queues_.agree(shard);
    auto directory = target_->subdirectory(shard_directory_name(number), true);
    if (!directory) return std::move(directory).error();
    if (auto synced = target_->sync(); !synced) return synced;
    SalvageTarget to;
    to.directory = directory->get();
    to.clock = clock_.get();
    to.version = identity_.version;
    to.segment_bytes = fitting_segment_bytes(
        *target_, options_->segment_bytes != 0 ? options_->segment_bytes
                                               : default_segment_bytes(*target_, identity_.shards));
    auto written = write_salvaged(state, files, shard.newest_segment, to,
                                  [this](std::uint64_t bytes) { advance(bytes); });
    if (!written) return std::move(written).error();
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
  std::vector<ReadShard> shards_;
  SalvagedQueues queues_;
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
