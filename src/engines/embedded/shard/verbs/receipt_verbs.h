// ReceiptVerbs: settle and extend, which name a claim by its receipt (docs/semantics.md).
//
// Thread safety: none; the shard's thread.
#pragma once

#include <optional>
#include <string_view>

#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

class ReceiptVerbs {
 public:
  explicit ReceiptVerbs(ShardContext& shard) : shard_(shard) {}

  void execute(const core::SettleRequest& request, const Part& part);
  void execute(const core::ExtendRequest& request, const Part& part);

 private:
  void settle(Handle handle, const core::SettleItem& item, std::string_view reason,
              core::ItemResult& result);
  void release(Handle handle, const core::SettleItem& item, core::ItemResult& result);
  /// The message becomes dead if its attempts are used up.
  void retry(Handle handle, const core::SettleItem& item, std::string_view reason,
             core::ItemResult& result);
  [[nodiscard]] Handle find_claim(const ClaimName& claim) const;
  [[nodiscard]] bool was_acked_by(const ClaimName& claim) const;
  [[nodiscard]] bool is_allowed(const core::OnlyQueues& only, Handle handle) const;
  /// Calls `f(i, handle)` for each item of the part whose receipt names a live claim of an allowed
  /// queue; the others get the outcome of `stale(i)`.
  template <typename F, typename G>
  void each_claim(const core::OnlyQueues& only, const Part& part, F&& f, G&& stale);
  /// Takes room for the settlement; if there is none for its reason too, empties the reason.
  std::optional<Error> take_room(const core::SettleItem& item, std::string_view& reason);

  ShardContext& shard_;
};

}  // namespace tarry::embedded
