#include "engines/embedded/embedded_engine.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <shared_mutex>
#include <utility>

#include "base/text/text.h"
#include "engines/embedded/front/front.h"
#include "engines/embedded/recovery/recovery.h"
#include "engines/embedded/store/store_files.h"
#include "engines/embedded/store/store_lock.h"
#include "storage/memory_storage.h"
#include "storage/posix_storage.h"
#include "timing/real_clock.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kMinSegmentBytes = 64ull << 10;

std::optional<Error> check(const EmbeddedOptions& options) {
  const auto bad = [](std::string message) {
    return Error{ErrorCode::invalid_argument, std::move(message)};
  };
  if (options.shards > core::kMaxShards) {
    return bad("shards " + std::to_string(options.shards) + " is not within 1.." +
               std::to_string(core::kMaxShards));
  }
  const std::uint64_t segment = options.segment_bytes;
  if (segment != 0 && (segment < kMinSegmentBytes || segment > kMaxSegmentBytes)) {
    return bad("segment of " + std::to_string(options.segment_bytes) + " bytes is not within " +
               std::to_string(kMinSegmentBytes) + ".." + std::to_string(kMaxSegmentBytes));
  }
  if (options.limits.max_payload < 1 || options.limits.max_payload > core::kMaxMaxPayload) {
    return bad("max_payload of " + std::to_string(options.limits.max_payload) +
               " bytes is not within 1.." + std::to_string(core::kMaxMaxPayload));
  }
  return std::nullopt;
}

class Opening {
 public:
  explicit Opening(EmbeddedOptions options) : options_(std::move(options)) {
    if (!options_.clock) options_.clock = std::make_shared<timing::RealClock>();
    // In RAM there is no disk to wait for.
    if (options_.path.empty() && !options_.directory) options_.sync = SyncPolicy::os;
    if (options_.holder.empty()) options_.holder = "pid " + std::to_string(getpid());
  }

  Result<std::unique_ptr<core::Engine>> run() {
    if (auto error = check(options_)) return std::move(*error);
    if (auto done = open_directory(); !done) return std::move(done).error();
    if (auto done = identify(); !done) return std::move(done).error();

    gates_ = std::make_shared<QueueGates>(identity_.shards);
    Front::Config config;
    config.identity = identity_;
    config.limits = options_.limits;
    config.durable = !options_.path.empty();
    config.lends = options_.sync != SyncPolicy::always;
    config.clock = options_.clock;
    config.log = options_.log;
    config.gates = gates_;
    auto front = std::make_unique<Front>(std::move(config));

    std::vector<ShardParts> shards;
    if (auto done = measure(); !done) return std::move(done).error();
    for (std::uint32_t shard = 0; shard < identity_.shards; ++shard) {
      auto parts = open_shard(shard, *front);
      if (!parts) return std::move(parts).error();
      shards.push_back(std::move(*parts));
    }
    front->start(std::move(shards), std::move(directory_), std::move(lock_));
    return std::unique_ptr<core::Engine>(std::move(front));
  }

 private:
  Result<void> open_directory() {
    if (options_.directory) {
      directory_ = options_.directory();
      if (auto looked = read_identity(*directory_); !looked) return std::move(looked).error();
    } else if (options_.path.empty()) {
      directory_ = storage::memory_directory(options_.memory_bytes);
    } else {
      auto opened = storage::open_directory(options_.path, true);
      if (!opened) return std::move(opened).error();
      directory_ = std::move(*opened);
      // This comes before the lock, which would create a file even in a directory that is not a
      // store.
      if (auto looked = read_identity(*directory_); !looked) return std::move(looked).error();
    }
    auto lock = lock_store(*directory_, options_.holder);
    if (!lock) return std::move(lock).error();
    lock_ = std::move(*lock);
    return {};
  }

  Result<void> identify() {
    auto found = read_identity(*directory_);
    if (!found) return std::move(found).error();
    if (*found) {
      identity_ = **found;
      if (options_.shards != 0 && options_.shards != identity_.shards) {
        return Unexpected(ErrorCode::invalid_argument,
                          directory_->path() +
                              " was made with shards=" + std::to_string(identity_.shards) +
                              ", not " + std::to_string(options_.shards) + "; the number is fixed");
      }
      return finish_making(*directory_);
    }
    identity_.version = kFormatVersion;
    identity_.shards = options_.shards == 0 ? 1 : options_.shards;
    identity_.store_id = random_number();
    identity_.hash_seed = random_number();
    return write_identity(*directory_, identity_);
  }

  Result<void> measure() {
    if (!options_.progress) return {};
    for (std::uint32_t shard = 0; shard < identity_.shards; ++shard) {
      auto directory = directory_->subdirectory(shard_directory_name(shard), false);
      if (!directory) continue;  // open_shard reports the error
      auto bytes = journal_bytes(**directory);
      if (!bytes) return std::move(bytes).error();
      total_bytes_ += *bytes;
    }
    return {};
  }

  Result<ShardParts> open_shard(std::uint32_t number, Router& router) {
    ShardParts parts;
    auto directory = directory_->subdirectory(shard_directory_name(number), false);
    if (!directory) return shard_directory_error(std::move(directory).error());
    parts.directory = std::move(*directory);
    auto sleeper = make_sleeper(options_.clock);
    if (!sleeper) return std::move(sleeper).error();
    parts.sleeper = std::move(*sleeper);

    auto tail = recover_state(number, parts, router);
    if (!tail) return std::move(tail).error();
    parts.reads = std::make_unique<RecordReads>(*parts.files, *parts.directory);
    parts.committer = std::make_unique<Committer>(options_.sync, *parts.directory, *parts.files,
                                                  *options_.clock, parts.reads.get());
    parts.committer->start_at(tail->next_batch - 1, tail->begun);

    Journal::Config config;
    config.version = identity_.version;
    config.store_id = identity_.store_id;
    config.hash_seed = identity_.hash_seed;
    config.shard = number;
    config.segment_bytes = segment_bytes();
    config.policy = options_.sync;
    config.disk_room = disk_room_;
    parts.journal = std::make_unique<Journal>(
        config, *parts.directory, *parts.files, *parts.committer, *std::move(tail),
        [state = parts.state.get(), clock = options_.clock](std::string& out) {
          state->append_opening(out, clock->now());
        });

    ShardConfig shard;
    shard.number = number;
    shard.limits = options_.limits;
    shard.rounding_ms = options_.clock->rounding_ms();
    shard.gates = gates_;
    parts.shard = std::make_unique<Shard>(shard, *parts.state, *parts.journal, *parts.committer,
                                          *parts.reads, *parts.files, router);
    parts.shard->keep_back();
    return parts;
  }

  // Makes the shard's state from its files.
  Result<JournalTail> recover_state(std::uint32_t number, ShardParts& parts, Router& router) {
    const timing::Instant now = options_.clock->now();
    ShardState::Identity identity;
    identity.store_id = identity_.store_id;
    identity.hash_seed = identity_.hash_seed;
    identity.shard = number;
    identity.shards = identity_.shards;
    identity.boot_id = options_.clock->boot_id();
    parts.state = std::make_unique<ShardState>(identity, now);
    parts.state->begin_replay();

    RecoveryOptions recovery;
    recovery.version = identity_.version;
    recovery.store_id = identity_.store_id;
    recovery.hash_seed = identity_.hash_seed;
    recovery.shard = number;
    recovery.progress = [this](std::uint64_t bytes) {
      done_bytes_ += bytes;
      if (options_.progress) options_.progress(std::min(done_bytes_, total_bytes_), total_bytes_);
    };
    auto recovered = recover(*parts.directory, *parts.files, *parts.state, recovery);
    if (!recovered) return std::move(recovered).error();
    tell(number, recovered->report, now, router);
    parts.state->finish_replay(options_.clock->now());
    if (recovered->report.files > 0 && !recovered->report.clean) {
      parts.state->skip_ids(kLostIds);
    }
    return std::move(recovered->tail);
  }

  std::uint64_t segment_bytes() const {
    const std::uint64_t wanted = options_.segment_bytes != 0
                                     ? options_.segment_bytes
                                     : default_segment_bytes(*directory_, identity_.shards);
    return fitting_segment_bytes(*directory_, wanted);
  }

  static void tell(std::uint32_t shard, const RecoveryReport& report, timing::Instant now,
                   Router& router) {
    const std::string who = "shard " + std::to_string(shard) + ": ";
    if (report.torn_bytes > 0) {
      router.log({LogLevel::warning, "journal_cut", who + "cut " + describe_tear(report)});
    }
    if (report.last_realtime_ms - now.realtime_ms > ClockEras::kStepMs) {
      router.log({LogLevel::warning, "clock_behind",
                  who + "the wall clock reads " +
                      std::to_string(report.last_realtime_ms - now.realtime_ms) +
                      " ms less than when the journal was last written"});
    }
  }

  EmbeddedOptions options_;
  std::unique_ptr<storage::Directory> directory_;
  std::unique_ptr<storage::Lock> lock_;
  StoreIdentity identity_;
  std::shared_ptr<QueueGates> gates_;
  std::shared_ptr<std::shared_mutex> disk_room_ = std::make_shared<std::shared_mutex>();
  std::uint64_t total_bytes_ = 0;
  std::uint64_t done_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<core::Engine>> open_embedded(EmbeddedOptions options) {
  return Opening(std::move(options)).run();
}

}  // namespace tarry::embedded
