// Engine: an implementation of the store. Embedded, remote and redis are engines; one contract
// suite runs on all of them.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "core/claim_watches.h"
#include "core/limits.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::core {

/// Runs exactly once, on a thread of the engine, and must be quick. It may submit; it must not wait
/// for another completion. It never runs within `submit` on the submitting thread, even if the
/// request is refused or the engine is closed, because the caller may hold a lock that the
/// completion needs.
using Completion = base::UniqueFunction<void(Result<Reply>)>;

/// Names a submitted request, for `withdraw`. 0 names no request.
using Ticket = std::uint64_t;

/// The shards whose work a thread has to do in its next call of `Engine::lend`. Only that thread
/// uses it.
using Lent = std::bitset<kMaxShards>;

/// What an engine can do. A verb that it cannot do answers `unsupported`.
struct Capabilities {
  std::string engine;   // "embedded", "remote"
  bool by_key = true;   // cancel, reschedule, get by key
  bool leases = true;   // extend, and leases that run out
  bool headers = true;  // messages keep headers; layouts of other programs have no place for them
  bool moves = true;    // Move: import, and migration into it
  bool moves_away = true;  // cancels with `seen`: migration from it
  bool pauses = true;
  bool dead = true;              // keeps dead messages
  bool counts_scheduled = true;  // stats know how many are scheduled; else they say 0
  bool claims_outlive = true;    // a claim lasts though the process that made it ends
  bool joins = false;            // a claim with settlements is one request to a server, not two
  bool push_times = false;       // keeps when a message was pushed, for `get`
  bool expiry = false;           // messages can expire
  bool limits = false;           // holds limits of queues: max_leased, rate
  bool groups = false;           // groups of a queue, their limits and order; histories of messages
  bool counts = true;            // counts accepted and ended messages
  bool forecast = false;
  bool durable = false;  // survives the end of the process
  bool manual_clock = false;
  std::string store;   // unique identity, the same wherever the store is opened; empty: not known
  std::string served;  // remote: the engine of the server's store

  /// The engine that keeps the messages.
  [[nodiscard]] const std::string& keeper() const { return served.empty() ? engine : served; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// May be called from any thread; never blocks on I/O. The completion runs exactly once. It gets
  /// a Reply of the kind that belongs to the request, or an Error that concerns the request as a
  /// whole (`closed`, `invalid_argument` for its queue, `unknown_outcome` ...). After `close` it
  /// gets `closed`, on a thread that the engine keeps for this until it is destroyed.
  virtual Ticket submit(Request request, Completion completion) = 0;

  /// Like `submit`, for a thread that only waits for the completion: the engine may do the work on
  /// this thread, so that it need not wake another one. So the call may block for as long as the
  /// request takes, and the completion may run within the call. Therefore the completion must do
  /// nothing but record its result. The request cannot be withdrawn. Must not be called from an
  /// engine's thread.
  virtual void submit_waiting(Request request, Completion completion) {
    static_cast<void>(submit(std::move(request), std::move(completion)));
  }

  /// Like `submit`, for a thread that submits the requests of many callers and then calls `lend`:
  /// it does not wake another thread for them. The thread must call `lend` before it waits for
  /// anything. `lent` must live until the completion has run.
  virtual Ticket submit_lending(Request request, Completion completion, Lent& /*lent*/) {
    return submit(std::move(request), std::move(completion));
  }

  /// Does work for the requests that this thread has submitted by `submit_lending`, all in one turn
  /// of each shard. Their completions may run within the call, and must do nothing but record their
  /// results. Never waits for a disk.
  virtual void lend(Lent& /*lent*/) noexcept {}

  /// Ends a waiting claim whose caller has gone. The claim completes soon with an empty ClaimReply.
  /// Messages that were already claimed for it are released, and the attempt is not counted.
  /// Unknown tickets are ignored.
  virtual void withdraw(Ticket ticket) = 0;

  [[nodiscard]] virtual Capabilities capabilities() const = 0;

  /// The watches of all claims made through this engine. An engine that wraps another one returns
  /// the watches of the wrapped engine.
  [[nodiscard]] virtual ClaimWatches& claim_watches() noexcept { return *claim_watches_; }
  /// The watches of this engine itself, for an engine that wraps it and outlives it.
  [[nodiscard]] const std::shared_ptr<ClaimWatches>& own_claim_watches() const noexcept {
    return claim_watches_;
  }

  /// Completes all outstanding requests, makes accepted messages durable, and stops the threads.
  /// Returns when that is done. Idempotent. Must not be called from an engine's thread.
  virtual void close() = 0;
  /// Whether `close` has begun.
  [[nodiscard]] virtual bool is_closed() const noexcept { return false; }

 protected:
  /// An engine calls it before each completion that may belong to a claim.
  void tell_watches(const Reply& reply) const { claim_watches_->tell(reply); }

 private:
  const std::shared_ptr<ClaimWatches> claim_watches_ = std::make_shared<ClaimWatches>();
};

/// True on a thread that runs completions. A blocking verb on such a thread would wait for itself.
[[nodiscard]] bool on_engine_thread() noexcept;

/// True on a thread that does an engine's work in `submit_waiting` or `lend`.
[[nodiscard]] bool on_lent_thread() noexcept;

/// Marks the current thread as an engine's while it lives.
class EngineThreadScope {
 public:
  enum class Thread : std::uint8_t { others, own, lent };
  explicit EngineThreadScope(Thread thread = Thread::own) noexcept;
  ~EngineThreadScope();
  EngineThreadScope(const EngineThreadScope&) = delete;
  EngineThreadScope& operator=(const EngineThreadScope&) = delete;

 private:
  Thread before_;
};

}  // namespace tarry::core
