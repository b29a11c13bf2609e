#include "engines/embedded/tools/inspect.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "engines/embedded/recovery/recovery.h"
#include "engines/embedded/store/store_files.h"
#include "engines/embedded/store/store_lock.h"
#include "storage/posix_storage.h"
#include "timing/real_clock.h"

namespace tarry::embedded {
namespace {

constexpr std::size_t kMaxProblems = 100;  // reported for one shard
// A look rarely meets a segment that is just being begun or cleaned. Two looks in a row meet one
// even more rarely.
constexpr int kMostLooks = 10;

// Checks that every live message's record exists and its payload has the right checksum. Messages
// in segments that were removed since have been copied, or have ended.
Result<void> check_messages(storage::Directory& directory, ShardState& state,
                            const SegmentFiles& files, const std::set<std::uint64_t>& gone,
                            std::uint64_t newest, ShardInspection& shard) {
  std::string buffer;
  for (Handle handle = 0; handle < state.slab.end(); ++handle) {
    if (!state.slab.is_live(handle) || shard.problems.size() >= kMaxProblems) continue;
    const Message& message = state.slab[handle];
    const std::uint64_t segment = message.position.segment(newest);
    if (gone.contains(segment)) continue;
    auto put = read_put(files, segment, message.position, buffer);
    if (!put && put.error().code != ErrorCode::damaged) return std::move(put).error();
    if (put && put->ref.id == message.id && (put->damaged || payload_checks(*put))) continue;
    if (const auto file = files.get(segment)) {
      const auto still = directory.is_named(segment_name(segment), *file);
      if (still && !*still) continue;
    }
    shard.problems.push_back(segment_name(segment) + " offset " +
                             std::to_string(message.position.offset()) + ": message " +
                             std::to_string(message.id) + " does not check");
  }
  return {};
}

// Returns the segments that are gone by now: the program that has the store has cleaned them.
Result<std::set<std::uint64_t>> open_segments(storage::Directory& directory,
                                              const std::deque<SegmentInfo>& segments,
                                              SegmentFiles& files) {
  std::set<std::uint64_t> gone;
  for (const SegmentInfo& segment : segments) {
    auto file = directory.open(segment_name(segment.number), storage::OpenMode::read_only);
    if (file) {
      files.add(segment.number, std::move(*file));
    } else if (file.error().code == ErrorCode::not_found) {
      gone.insert(segment.number);
    } else {
      return std::move(file).error();
    }
  }
  return gone;
}

Result<ShardInspection> look_at_shard(storage::Directory& directory, const StoreIdentity& identity,
                                      std::uint32_t number, bool deep,
                                      const std::function<void(std::uint64_t)>& progress) {
  ShardInspection shard;
  shard.shard = number;
  const timing::RealClock clock;
  ShardState::Identity own;
  own.store_id = identity.store_id;
  own.hash_seed = identity.hash_seed;
  own.shard = number;
  own.shards = identity.shards;
  own.boot_id = clock.boot_id();
  ShardState state(own, clock.now());
  state.begin_replay();
  SegmentFiles files;
  RecoveryOptions options;
  options.store_id = identity.store_id;
  options.hash_seed = identity.hash_seed;
  options.shard = number;
  options.read_only = true;
  options.progress = progress;
  if (auto bytes = journal_bytes(directory)) shard.allocated = *bytes;
  auto recovered = recover(directory, files, state, options);
  if (!recovered && recovered.error().code != ErrorCode::damaged) {
    return std::move(recovered).error();
  }
  if (!recovered) {
    shard.problems.push_back(recovered.error().message);
    return shard;
  }
  const RecoveryReport& report = recovered->report;
  shard.segments = report.segments;
  shard.bytes = report.bytes;
  shard.batches = report.batches;
  shard.records = report.records;
  shard.torn_bytes = report.torn_bytes;
  shard.cut_batches = report.cut_batches;
  if (report.torn_bytes > 0) shard.tear = describe_tear(report);
  shard.clean = report.clean;
  shard.messages = state.pending();
  for (QueueId queue = 0; queue < state.queues.size(); ++queue) {
    shard.messages += state.queue(queue).in(Stage::dead);
  }
  if (deep && !recovered->tail.segments.empty()) {
    auto gone = open_segments(directory, recovered->tail.segments, files);
    if (!gone) return std::move(gone).error();
    const std::uint64_t newest = recovered->tail.segments.back().number;
    auto checked = check_messages(directory, state, files, *gone, newest, shard);
    if (!checked) return std::move(checked).error();
  }
  return shard;
}

}  // namespace

Result<ShardInspection> inspect_shard(storage::Directory& directory, const StoreIdentity& identity,
                                      std::uint32_t number, bool deep,
                                      const std::function<void(std::uint64_t)>& progress) {
  std::vector<std::string> before;
  for (int look = 0; look < kMostLooks; ++look) {
    auto shard = look_at_shard(directory, identity, number, deep, progress);
    if (!shard && shard.error().code == ErrorCode::not_found) continue;  // went meanwhile
    if (!shard || shard->problems.empty()) return shard;
    const std::vector<std::string> now = std::exchange(shard->problems, {});
    std::ranges::copy_if(now, std::back_inserter(shard->problems), [&](const auto& problem) {
      return std::ranges::find(before, problem) != before.end();
    });
    if (!shard->problems.empty()) return shard;
    before = now;
  }
  return Unexpected(ErrorCode::unavailable,
                    directory.path() +
                        ": segments are cleaned away faster than they are read; try when there is "
                        "less to do");
}

Result<StoreInspection> inspect(
    const std::string& path, bool deep,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  auto directory = storage::open_directory(path, false);
  if (!directory) return std::move(directory).error();
  auto identity = read_identity(**directory);
  if (!identity) return std::move(identity).error();
  if (!*identity) {
    return Unexpected(ErrorCode::invalid_argument, path + " is not a tarry store: it is empty");
  }
  StoreInspection store;
  store.version = (*identity)->version;
  store.store_id = (*identity)->store_id;
  store.shards = (*identity)->shards;
  // The lock is released at once. So no other process has to wait, however long the inspection
  // takes.
  if (const auto lock = lock_store_shared(**directory);
      !lock && lock.error().code == ErrorCode::conflict) {
    constexpr std::string_view kHeldBy = "held by ";
    const std::string& said = lock.error().message;
    const std::size_t at = said.rfind(kHeldBy);
    store.held_by = at == std::string::npos ? said : said.substr(at + kHeldBy.size());
  }

  std::vector<Result<std::unique_ptr<storage::Directory>>> shards;
  std::uint64_t total = 0;
  for (std::uint32_t shard = 0; shard < store.shards; ++shard) {
    auto opened = (*directory)->subdirectory(shard_directory_name(shard), false);
    const auto bytes = opened ? journal_bytes(**opened) : Result<std::uint64_t>(opened.error());
    if (bytes) total += *bytes;
    shards.push_back(std::move(opened));
  }
  std::uint64_t done = 0;
  for (std::uint32_t shard = 0; shard < store.shards; ++shard) {
    const auto look = [&]() -> Result<ShardInspection> {
      if (!shards[shard]) return shard_directory_error(shards[shard].error());
      return inspect_shard(**shards[shard], **identity, shard, deep, [&](std::uint64_t bytes) {
        done += bytes;
        if (progress) progress(std::min(done, total), total);
      });
    };
    auto looked = look();
    ShardInspection& told = store.per_shard.emplace_back();
    if (looked) {
      told = std::move(*looked);
      continue;
    }
    told.shard = shard;
    if (looked.error().code == ErrorCode::damaged) {
      told.problems.push_back(looked.error().message);
    } else {
      told.unreadable = std::move(looked).error();
    }
  }
  return store;
}

}  // namespace tarry::embedded
