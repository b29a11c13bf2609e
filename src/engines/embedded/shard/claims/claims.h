// Claims: takes due messages for claims, or lets a claim wait for them, and delivers them once the
// claim is durable (claim_delivery.h).
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tarry/result.h>

#include "core/request.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/reading/reply_reader.h"
#include "engines/embedded/shard/claims/claim_taker.h"
#include "engines/embedded/shard/claims/uncommitted_leases.h"
#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

class Claims {
 public:
  /// `reads` is for deliveries; the shard's own thread never touches it.
  Claims(ShardContext& shard, ClaimTaker& taker, RecordReads& reads)
      : shard_(shard), taker_(taker), reads_(&reads), uncommitted_(shard.state) {}

  void execute(const core::ClaimRequest& request, const Part& part);
  /// Makes a claimed message dead, because its checksum was wrong when it was delivered.
  void set_damaged_aside(const Part& part);

  // -- leases
  /// Begins the leases of claims that have become durable, and lets no lease of another claim run
  /// out.
  void begin_leases();

  // -- waiting
  void wait(const OperationPtr& op);
  /// Serves waiting claims for which messages are due now, and ends claims whose wait is over. Does
  /// one slice; the next turn continues.
  void serve_waiting();
  [[nodiscard]] bool has_waiting_to_serve() const;
  /// Looks at queues where claims wait although messages are ready: a pause may have ended by time,
  /// or the clock may have caught up after a small step back. Each turn it also looks at a few
  /// other queues, in case a wake-up was lost.
  void wake_held();
  /// When `wake_held` will next wake a queue, by REALTIME. Empty if no such time is known.
  [[nodiscard]] std::optional<std::int64_t> next_wake_ms() const;
  /// The same by BOOTTIME: when the rate of a held queue permits a claim.
  [[nodiscard]] std::optional<std::int64_t> next_wake_boot_ms() const;
  /// Ends all waiting claims with `error`, and also every later claim that would wait.
  void stop_waiting(const Error& error);

 private:
  /// Takes at most `max` messages and delivers them.
  void serve(const OperationPtr& op, std::uint32_t max, ByteBudget budget,
             std::optional<std::size_t> start_at = std::nullopt);
  void serve_waiting_at(WaitingClaims::QueueNo queue, std::size_t& budget);
  void serve_waiting_claim(WaitingClaims::Place at, std::size_t& budget);
  void end_waiting(const OperationPtr& op, const Error& error);
  void deliver(const OperationPtr& op, Grants grants);
  void deliver_nothing(const OperationPtr& op);
  [[nodiscard]] bool ends_claim(const Operation& op, std::size_t granted) const;

  ShardContext& shard_;
  ClaimTaker& taker_;
  RecordReads* reads_;
  UncommittedLeases uncommitted_;
  std::optional<Error> stopped_;  // set: no claim waits any more
};

}  // namespace tarry::embedded
