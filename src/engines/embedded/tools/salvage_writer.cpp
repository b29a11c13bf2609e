#include "engines/embedded/tools/salvage_writer.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engines/embedded/journal/committer.h"
#include "engines/embedded/journal/journal.h"
#include "engines/embedded/state/full_copy.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kFlush = 8ull << 20;

class Writer {
 public:
  Writer(ShardState& state, const SegmentFiles& old, std::uint64_t newest_segment,
         const SalvageTarget& target)
      : state_(&state),
        old_(&old),
        newest_segment_(newest_segment),
        target_(&target),
        committer_(SyncPolicy::always, *target.directory, files_, *target.clock),
        journal_(config(state, target), *target.directory, files_, committer_,
                 tail(state, newest_segment),
                 [this](std::string& out) { state_->append_opening(out, target_->clock->now()); }) {
  }

  Result<SalvageWritten> run(const std::function<void(std::uint64_t)>& progress) {
    for (const Handle handle : in_order()) {
      if (auto done = copy(handle); !done) return std::move(done).error();
      if (progress) progress(state_->slab[handle].position.size());
      if (journal_.untaken_bytes() < kFlush) continue;
      if (auto done = flush(); !done) return std::move(done).error();
    }
    if (auto done = close(); !done) return std::move(done).error();
    return written_;
  }

 private:
  static Journal::Config config(const ShardState& state, const SalvageTarget& target) {
    Journal::Config config;
    config.store_id = state.identity().store_id;
    config.hash_seed = state.identity().hash_seed;
    config.shard = state.identity().shard;
    config.segment_bytes = target.segment_bytes;
    config.version = target.version;
    return config;
  }

  // The state's low-water mark never sinks, so the new segments lie above it.
  static JournalTail tail(ShardState& state, std::uint64_t newest_segment) {
    JournalTail tail;
    tail.next_segment = std::max(newest_segment + 1, state.low_water());
    state.evolve(MarksRecord{0, tail.next_segment});
    return tail;
  }

  // The messages in the order of the old journal, so that the journal is read front to back.
  std::vector<Handle> in_order() const {
    std::vector<Handle> handles;
    for (Handle handle = 0; handle < state_->slab.end(); ++handle) {
      if (state_->slab.is_live(handle)) handles.push_back(handle);
    }
    const auto place = [this](Handle handle) {
      const Position position = state_->slab[handle].position;
      return std::pair(position.segment(newest_segment_), position.offset());
    };
    std::sort(handles.begin(), handles.end(),
              [&](Handle a, Handle b) { return place(a) < place(b); });
    return handles;
  }

  Result<void> copy(Handle handle) {
    const Message& message = state_->slab[handle];
    auto put =
        read_put(*old_, message.position.segment(newest_segment_), message.position, buffer_);
    if (!put && put.error().code != ErrorCode::damaged) return std::move(put).error();
    const bool readable = put && put->ref == Ref{handle, message.id};
    const PutRecord again =
        readable ? full_copy(*state_, *put) : full_copy_of_lost(*state_, handle);
    if (message.stage() == Stage::remembered) {
      ++written_.remembered;
    } else {
      ++written_.messages;
      if (again.damaged) ++written_.damaged;
    }
    const std::uint64_t size = encoded_size(again);
    if (auto done = journal_.ensure_room(size, size, 0); !done) return done;
    journal_.append(again);
    return {};
  }

  Result<void> flush() {
    std::optional<Error> failure;
    CommitJob job;
    job.batches = journal_.take(target_->clock->now().realtime_ms);
    job.sync = true;
    job.tasks.emplace_back([&failure](const CommitOutcome& outcome) {
      if (outcome.failure != nullptr) failure = *outcome.failure;
    });
    committer_.run(std::move(job));
    if (failure) return std::move(*failure);
    return {};
  }

  // Writes the mark of a clean end in a batch of its own, after everything else is synced.
  Result<void> close() {
    if (auto done = flush(); !done) return done;
    const Record closed = ClosedRecord{};
    if (auto done = journal_.ensure_room(encoded_size(closed), encoded_size(closed), 0); !done) {
      return done;
    }
    journal_.append(closed);
    if (auto done = flush(); !done) return done;
    return journal_.trim();
  }

  ShardState* state_;
  const SegmentFiles* old_;
  std::uint64_t newest_segment_;
  const SalvageTarget* target_;
  SegmentFiles files_;
  Committer committer_;
  Journal journal_;
  std::string buffer_;
  SalvageWritten written_;
};

}  // namespace

Result<SalvageWritten> write_salvaged(ShardState& state, const SegmentFiles& files,
                                      std::uint64_t newest_segment, const SalvageTarget& target,
                                      const std::function<void(std::uint64_t)>& progress) {
  return Writer(state, files, newest_segment, target).run(progress);
}

}  // namespace tarry::embedded
