// Engine: an implementation of the store. Embedded, remote and redis are engines; one contract
// suite runs on all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "core/claim_watches.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::core {

/// Runs exactly once, on a thread of the engine, and must be quick. It may submit; it must not
/// wait for another completion. It never runs within `submit` on the submitting thread, refusals
/// and a closed engine included: the caller may hold what the completion needs.
using Completion = base::UniqueFunction<void(Result<Reply>)>;

/// Names a submitted request, for `withdraw`. 0 is none.
using Ticket = std::uint64_t;

/// What an engine can do. A verb that it cannot do answers `unsupported`, and is never pretended.
struct Capabilities {
  std::string engine;      // "embedded", "remote"
  bool by_key = true;      // cancel, reschedule, get by key
  bool leases = true;      // extend, lease run-out
  bool moves = true;       // Move: import, and migration into it
  bool moves_away = true;  // cancels of what was seen: migration from it
  bool pauses = true;
  bool push_times = false;  // when a message was pushed is kept, and told by `get`
  bool counts = true;       // counters of all that was accepted and has ended
  bool forecast = false;
  bool durable = false;  // survives the end of the process
  bool manual_clock = false;
  std::string store;   // the same wherever the store is opened, and no other's; empty: not known
  std::string served;  // remote: the engine of the server's store
};

class Engine {
 public:
  virtual ~Engine() = default;
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Any thread; never blocks on I/O. The completion runs exactly once, with a Reply of the kind
  /// that belongs to the request, or an Error that concerns the request as a whole (`closed`,
  /// `invalid_argument` for its queue, `unknown_outcome` ...). After `close` it runs with `closed`,
  /// on a thread that the engine keeps for this until it is destroyed.
  virtual Ticket submit(Request request, Completion completion) = 0;

  /// As `submit`, by a thread that has nothing to do until the completion has run: the engine may
  /// let it do the work itself, so that no other has to be woken. So this one may block as long as
  /// the request takes, and its completion may run within the call: it must only say that it ran.
  /// Nobody can withdraw it. Not from an engine's thread.
  virtual void submit_waiting(Request request, Completion completion) {
    static_cast<void>(submit(std::move(request), std::move(completion)));
  }

  /// A waiting claim whose caller has gone: completes soon with an empty ClaimReply. What was
  /// claimed for it already is released, the attempt not counted. Unknown tickets are ignored.
  virtual void withdraw(Ticket ticket) = 0;

  [[nodiscard]] virtual Capabilities capabilities() const = 0;

  /// Who is told of all that is claimed here. Of an engine that stands before another one: the
  /// other's.
  [[nodiscard]] virtual ClaimWatches& claim_watches() noexcept { return *claim_watches_; }
  /// Those of this very engine, for one that stands before it and outlives it.
  [[nodiscard]] const std::shared_ptr<ClaimWatches>& own_claim_watches() const noexcept {
    return claim_watches_;
  }

  /// Completes everything outstanding, makes durable what was accepted, stops the threads.
  /// Returns when that is done; idempotent; not from an engine's thread.
  virtual void close() = 0;
  /// Whether `close` has begun.
  [[nodiscard]] virtual bool is_closed() const noexcept { return false; }

 protected:
  /// Before each completion that may be a claim's.
  void tell_watches(const Reply& reply) const { claim_watches_->tell(reply); }

 private:
  const std::shared_ptr<ClaimWatches> claim_watches_ = std::make_shared<ClaimWatches>();
};

/// True on a thread that runs completions: a blocking verb there would wait for itself.
[[nodiscard]] bool on_engine_thread() noexcept;

/// True on a thread that waits in `submit_waiting`, and does an engine's work meanwhile.
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
