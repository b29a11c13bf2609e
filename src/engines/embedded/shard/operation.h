// Operation: one submitted request on its way through the shards, and the reply that grows
// meanwhile.
//
// The front cuts a request into parts, one a shard it concerns; each shard fills in the items that
// are its own (no two write the same), and whoever ends the last part completes it, or wakes the
// thread that waits in `submit_waiting`, which then completes it itself. A claim and a list visit
// the shards one after the other instead, so that one part is under way at a time; a waiting claim
// waits at all shards, and the one that moves its phase on serves it.
//
// Thread safety: `phase`, `abandoned` and `parts` by any thread; the reply as said above; `merge`
// guards what several shards add to; `ended` hands the whole to the waiter.
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <tarry/log.h>

#include "base/histogram.h"
#include "base/semaphore.h"
#include "base/unique_function.h"
#include "core/engine.h"
#include "core/limits.h"
#include "engines/embedded/records/handle.h"
#include "engines/embedded/shard/prepared.h"

namespace tarry::embedded {

enum class ClaimPhase : std::uint8_t {
  collecting,  // visiting shards
  waiting,     // at all shards
  taken,       // one shard serves it
  ended,       // completed, withdrawn or timed out
};

/// The steps of a removal, each on all shards or on the first one, each durable before the next
/// begins. A crash behind `decide` is finished at the next start, one before it has changed
/// nothing.
enum class RemoveStep : std::uint8_t {
  look,    // all: no claims from now on, and what else asks for the queue waits
  decide,  // the first: writes down that it goes
  sweep,   // all: its messages go, and on the others the queue
  free,    // the first: the queue goes there too
  thaw,    // all: what has waited goes on
};

/// What one shard tells of itself, for stats.
struct ShardFigures {
  std::vector<QueueStats> queues;
  std::unique_ptr<base::Histogram> lateness;
  std::uint64_t disk_bytes = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t ram_bytes = 0;
  std::uint64_t syncs = 0;
};

struct Operation {
  /// Who waits in `submit_waiting` completes it itself, on its own thread, once it has ended.
  enum class Completes : std::uint8_t { engine, waiter };

  Operation(core::Request asked, core::Completion done, Completes who)
      : request(std::move(asked)), completion(std::move(done)), completes(who) {}

  core::Request request;
  core::Completion completion;
  core::Reply reply;
  Prepared prepared;
  std::atomic<std::uint32_t> parts{1};

  const Completes completes;
  base::Semaphore ended;  // wakes the waiter

  // A waiter that meanwhile lends itself to the shards: it does what it posts itself. Nobody: no
  // thread's id. `lent_to` is that thread's own.
  std::atomic<std::thread::id> lender{};
  std::bitset<core::kMaxShards> lent_to;

  std::mutex merge;
  std::optional<Error> error;  // of the request as a whole; the first one stands
  // Shards that have changed what a queue as a whole is asked for; under merge.
  std::uint32_t shards_changed = 0;

  std::vector<ShardFigures> figures;  // stats: one a shard
  bool asks_for_queue = false;        // get: whether there is such a queue, of all shards

  // removals; the step is set between the parts
  RemoveStep step = RemoveStep::look;
  bool found = false;  // the queue, also of a get; these three: under merge
  bool decided = false;
  std::uint64_t leased = 0;

  // claims
  core::Ticket ticket = 0;
  std::uint32_t shards_visited = 0;
  std::int64_t wait_until_boot_ms = 0;
  bool waited = false;
  // Both sequentially consistent: who withdraws stores `abandoned` and then looks at `phase`, who
  // begins to wait stores `phase` and then looks at `abandoned`; one of them must see the other.
  std::atomic<ClaimPhase> phase{ClaimPhase::collecting};
  std::atomic<bool> abandoned{false};
  // What is still to be read of what was claimed, and any thread can read: its messages belong
  // behind those of the reply. Left to a waiter where no other shard adds to them.
  base::UniqueFunction<void(core::ClaimReply&)> rest;

  void read_rest() {
    if (rest) std::exchange(rest, nullptr)(std::get<core::ClaimReply>(reply));
  }

  [[nodiscard]] bool move_phase(ClaimPhase from, ClaimPhase to) noexcept {
    return phase.compare_exchange_strong(from, to);
  }
  [[nodiscard]] bool is_lent_here() const noexcept {
    return lender.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  [[nodiscard]] bool is_waited_for() const noexcept { return completes == Completes::waiter; }
  void fail(Error what) {
    const std::scoped_lock lock(merge);
    if (!error) error = std::move(what);
  }
  void note_changed(std::uint64_t messages) {
    const std::scoped_lock lock(merge);
    ++shards_changed;
    if (auto* counted = std::get_if<core::CountReply>(&reply)) counted->count += messages;
  }
};

using OperationPtr = std::shared_ptr<Operation>;

/// What one shard has to do of an operation.
struct Part {
  enum class Kind : std::uint8_t {
    request,  // decide it
    wait,     // a claim that found nothing anywhere: wait for something to fall due
    forget,   // a waiting claim has ended: drop it
    damaged,  // a claimed message did not check: to the dead
    freed,    // cleaned segments' files are gone, or may be written again
    close,    // complete what waits; nothing comes after
  };
  Kind kind = Kind::request;
  OperationPtr op;
  bool all_items = true;
  std::vector<std::uint32_t> items;  // where not all
  Handle cursor = 0;                 // list: where to go on
  std::uint64_t removed = 0;         // freed: so many
  std::uint64_t reusable = 0;
  // damaged
  Handle handle = kNoHandle;
  std::uint64_t id = 0;
  std::uint32_t claims = 0;
};

/// Where a shard sends what does not end with it; implemented by the engine's front.
class Router {
 public:
  virtual ~Router() = default;
  /// One part of the operation has ended.
  virtual void finish_part(const OperationPtr& op) = 0;
  /// A claim was served by `shard` (or found nothing there), durably. Goes on to the next shard,
  /// waits, or completes it.
  virtual void claim_visited(const OperationPtr& op, std::uint32_t shard) = 0;
  /// A list has seen a piece of `shard`, up to `cursor`; `exhausted`: all of it.
  virtual void list_visited(const OperationPtr& op, std::uint32_t shard, Handle cursor,
                            bool exhausted) = 0;
  /// Hands a part to a shard's thread.
  virtual void post(std::uint32_t shard, Part part) = 0;
  /// Gives back what was claimed and cannot be handed over; of the reply only receipts matter.
  virtual void release(const core::ClaimReply& reply) = 0;
  virtual void log(const LogEntry& entry) = 0;
};

}  // namespace tarry::embedded
