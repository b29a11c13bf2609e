// ShardContext: the objects that all verbs of a shard share: its state, the turn's time, room on
// the disk, the writing of records, and the next job, which holds the answers.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/histogram.h"
#include "engines/embedded/journal/committer.h"
#include "engines/embedded/journal/journal.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/shard/context/cleaner.h"
#include "engines/embedded/shard/context/kept_room.h"
#include "engines/embedded/shard/context/key_lookup.h"
#include "engines/embedded/shard/context/next_job.h"
#include "engines/embedded/shard/context/record_writer.h"
#include "engines/embedded/shard/context/shard_config.h"
#include "engines/embedded/shard/requests/operation.h"
#include "engines/embedded/shard/requests/shard_failure.h"
#include "engines/embedded/shard/requests/waiting_claims.h"
#include "engines/embedded/state/shard_state.h"
#include "timing/clock.h"

namespace tarry::embedded {

struct ShardContext {
  ShardContext(const ShardConfig& with, ShardState& shard_state, Journal& shard_journal,
               Committer& its_committer, SegmentFiles& segment_files, Router& to)
      : config(with),
        state(shard_state),
        journal(shard_journal),
        committer(its_committer),
        files(segment_files),
        router(to),
        failure(with.number, its_committer, to),
        job(with.number, to),
        records(shard_state, shard_journal, waiting, now),
        keys(shard_state, shard_journal),
        cleaner(shard_state, shard_journal, segment_files, with.mark),
        room(shard_state, shard_journal, cleaner, failure, {with.work_base, with.kept_claims}) {}
  ShardContext(const ShardContext&) = delete;
  ShardContext& operator=(const ShardContext&) = delete;

  const ShardConfig config;
  ShardState& state;
  Journal& journal;
  Committer& committer;
  SegmentFiles& files;
  Router& router;
  timing::Instant now;  // of this turn
  WaitingClaims waiting;
  ShardFailure failure;
  NextJob job;
  RecordWriter records;
  KeyLookup keys;
  Cleaner cleaner;
  KeptRoom room;
  base::Histogram lateness;  // of claims, ms

  /// The events that a verb may note in histories, and the bytes of their texts together.
  struct Events {
    std::uint64_t count = 0;
    std::uint64_t text = 0;
  };
  /// Takes room as KeptRoom does, and room for events, too. If there is room for all but the
  /// events, the records of the verb note none; but a push (Purpose::accept) is refused.
  [[nodiscard]] std::optional<Error> take_room(std::uint64_t bytes, std::uint64_t largest,
                                               Purpose purpose, Events events,
                                               std::uint64_t accepted = 0);

  /// Call `wake` when claims that wait at the queue may find a message.
  void wake(QueueId queue) {
    if (!waiting.empty()) waiting.wake(state.queue(queue).name);
  }
  void mark(std::string_view branch) const {
    if (config.mark) config.mark(branch);
  }
};

}  // namespace tarry::embedded
