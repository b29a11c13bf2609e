// Operation: one submitted request on its way through the shards, and the reply that grows
// meanwhile.
//
// The front splits a request into parts, one for each shard concerned. Each shard fills in its own
// items (no two shards write the same item). The thread that ends the last part completes the
// operation, or wakes the thread that waits in `submit_waiting`; that thread then completes the
// operation. A claim and a list instead visit the shards one after the other, with one part in
// progress at a time. A waiting claim waits at all shards, and the shard that changes its phase
// first serves it.
//
// Thread safety: any thread may use `phase`, `abandoned` and `parts`. For the reply see above.
// `merge` guards the fields to which several shards add. `ended` hands the operation to the waiter.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <tarry/log.h>

#include "base/histogram.h"
#include "base/threads/semaphore.h"
#include "base/unique_function.h"
#include "core/engine.h"
#include "core/limits.h"
#include "engines/embedded/records/handle.h"
#include "engines/embedded/shard/requests/prepared.h"

namespace tarry::embedded {

enum class ClaimPhase : std::uint8_t {
  collecting,  // visiting shards
  waiting,     // at all shards
  taken,       // one shard serves it
  ended,       // completed, withdrawn or timed out
};

/// The steps of a removal. Each runs on all shards or on the first one, and is durable before the
/// next step begins. After a crash that follows `decide`, the next start completes the removal. A
/// crash before `decide` has changed nothing.
enum class RemoveStep : std::uint8_t {
  look,    // all: no claims from now on, and other requests for the queue wait
  decide,  // the first shard: records that the queue is to be removed
  sweep,   // all: remove the queue's messages and, except on the first, the queue
  free,    // the first shard: removes the queue there too
  thaw,    // all: the requests that waited continue
};

/// The steps of a configure that gives a queue another `group_order`. The queue takes no pushes
/// meanwhile (gates/queue_homes.h).
enum class OrderStep : std::uint8_t {
  none,    // another configure: all shards at once
  look,    // all: count the queue's messages
  home,    // the queue's home: configures it; from then on that is decided
  others,  // the other shards: after the home if it is `push` now, else before it
};

/// One shard's own figures, for stats.
struct ShardFigures {
  std::vector<QueueStats> queues;
  std::unique_ptr<base::Histogram> lateness;
  std::uint64_t disk_bytes = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t ram_bytes = 0;
  std::uint64_t syncs = 0;
  CommitTimes commit_times;
};

struct Operation {
  /// A thread that waits in `submit_waiting` completes the operation itself, once it has ended.
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

  // The thread that carries out the parts which it posts itself (`lend`); otherwise a default id.
  // Only that thread uses `lent`.
  std::atomic<std::thread::id> lender{};
  core::Lent* lent = nullptr;
  // The thread in whose `lend` the completion may run; otherwise a default id.
  std::thread::id completes_on;

  std::mutex merge;
  std::optional<Error> error;  // of the request as a whole; the first error stays
  // Number of shards on which a request about a whole queue changed something; guarded by merge.
  std::uint32_t shards_changed = 0;

  std::vector<ShardFigures> figures;  // stats: one for each shard
  bool asks_for_queue = false;        // get: asks all shards whether the queue exists

  // removals; the step is set between the parts
  RemoveStep step = RemoveStep::look;
  bool found = false;  // a shard has the queue; also for get. `merge` guards these three
  bool decided = false;
  std::uint64_t leased = 0;

  // configure; the step is set between the parts
  OrderStep order_step = OrderStep::none;
  std::uint64_t messages = 0;  // of the queue, in all stages; guarded by merge

  // claims
  core::Ticket ticket = 0;
  std::uint32_t shards_visited = 0;
  std::int64_t wait_until_boot_ms = 0;
  bool waited = false;
  // `phase` and `abandoned` are sequentially consistent. A withdrawing thread stores `abandoned`
  // and then reads `phase`; a thread that begins to wait stores `phase` and then reads `abandoned`.
  // So at least one of them sees what the other has stored.
  std::atomic<ClaimPhase> phase{ClaimPhase::collecting};
  std::atomic<bool> abandoned{false};
  // Reads claimed messages that are not read yet, and appends them to the reply. Any thread can run
  // it. It is left to a waiter if no other shard adds messages.
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
  /// Call `lend_here` before the first part is posted.
  void lend_here(core::Lent& to) noexcept {
    lent = &to;
    lender.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  /// From now on a part that any thread posts wakes its shard.
  void end_lending() noexcept { lender.store({}, std::memory_order_relaxed); }
  [[nodiscard]] bool may_complete_here() const noexcept {
    return completes_on == std::this_thread::get_id();
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

/// One shard's work for an operation.
struct Part {
  enum class Kind : std::uint8_t {
    request,  // decide it
    wait,     // a claim that found nothing anywhere: wait for something to fall due
    forget,   // a waiting claim has ended: drop it
    damaged,  // a claimed message had a wrong checksum: make it dead
    room,     // another shard has given back leases of a queue with limits
    freed,    // files of cleaned segments are removed, or may be used again
    close,    // complete waiting requests; no request follows
  };
  Kind kind = Kind::request;
  OperationPtr op;
  bool all_items = true;
  std::vector<std::uint32_t> items;  // if not all
  Handle cursor = 0;                 // list: where to continue
  std::uint64_t removed = 0;         // freed: how many files
  std::uint64_t reusable = 0;
  // damaged
  Handle handle = kNoHandle;
  std::uint64_t id = 0;  // room: the number of the queue's gate
  std::uint32_t claims = 0;
};

/// A shard sends here everything that does not end in the shard. The engine's front implements it.
class Router {
 public:
  virtual ~Router() = default;
  /// One part of the operation has ended.
  virtual void finish_part(const OperationPtr& op) = 0;
  /// `shard` has served the claim, or found nothing, and that is durable. The router sends the
  /// claim to the next shard, lets it wait, or completes it.
  virtual void claim_visited(const OperationPtr& op, std::uint32_t shard) = 0;
  /// A list has seen the handles of `shard` up to `cursor`. `exhausted`: it has seen all of them.
  virtual void list_visited(const OperationPtr& op, std::uint32_t shard, Handle cursor,
                            bool exhausted) = 0;
  /// Hands a part to a shard's thread.
  virtual void post(std::uint32_t shard, Part part) = 0;
  /// Releases claimed messages that cannot be handed over. Reads only the reply's receipts.
  virtual void release(const core::ClaimReply& reply) = 0;
  virtual void log(const LogEntry& entry) = 0;
};

}  // namespace tarry::embedded
