// ClaimTaker: chooses the messages of a claim and leases them.
//
// Thread safety: none; the shard's thread.
//
// Invariants
//  1. No message is taken before it is due by this turn's clock, whatever made it ready. Exception:
//     a claim by key that asks for any state.
//  2. The messages that a claim takes from one queue in one go have one record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tarry/result.h>

#include "core/request.h"
#include "engines/embedded/reading/reply_reader.h"
#include "engines/embedded/shard/claims/read_ahead.h"
#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

/// How many payload bytes a claim may still hand out. As long as the journal is not read, only
/// upper bounds of sizes are known. So a claim reads the journal only if it comes near its limit.
struct ByteBudget {
  std::uint64_t max = 0;
  bool first_may_exceed = true;  // the first message is handed out whatever its size
  std::uint64_t used = 0;
  bool exact = false;
};

class ClaimTaker {
 public:
  ClaimTaker(ShardContext& shard, ReadAhead& ahead) : shard_(shard), ahead_(ahead) {}

  /// Takes room for a claim; lowers `max` if there is room for fewer messages.
  [[nodiscard]] std::optional<Error> take_room(const core::ClaimRequest& request,
                                               std::uint32_t& max);
  /// Takes at most `max` messages. `start_at`: which of several queues comes first; if not set,
  /// they take turns.
  [[nodiscard]] Grants take(const core::ClaimRequest& request, std::uint32_t max, ByteBudget budget,
                            std::optional<std::size_t> start_at = std::nullopt);
  /// True if the claim could take a message of the queue.
  [[nodiscard]] bool has_any(QueueId queue, const core::ClaimRequest& request) const;

 private:
  void take_from(QueueId queue, const core::ClaimRequest& request, std::uint32_t max,
                 ByteBudget& budget, Grants& grants);
  void take_from_several(const core::ClaimRequest& request, std::uint32_t max, ByteBudget& budget,
                         std::size_t start_at, Grants& grants);
  void take_by_keys(const core::ClaimRequest& request, std::uint32_t max, ByteBudget& budget,
                    Grants& grants);
  /// Leases one message and notes the facts for its delivery.
  void take_one(Handle handle, ClaimedRecord& record, Grants& grants);
  /// True if the message may be handed out together with `grants`; then counts it in the budget.
  [[nodiscard]] bool fits(ByteBudget& budget, const Message& message, const Grants& grants) const;
  /// True if the message waits, and its expiry has come.
  [[nodiscard]] bool has_expired(Handle handle) const;
  [[nodiscard]] bool can_take(Handle handle, const core::ClaimRequest& request) const;
  [[nodiscard]] ClaimedRecord begin_record(QueueId queue, const core::ClaimRequest& request) const;
  void end_record(ClaimedRecord record);

  ShardContext& shard_;
  ReadAhead& ahead_;
  std::size_t turn_ = 0;  // which queue comes first in the next claim of several queues
};

}  // namespace tarry::embedded
