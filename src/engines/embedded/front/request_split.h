// RequestSplit: cuts each request into parts, one for each shard concerned, and prepares the reply
// that the shards fill in.
//
// Thread safety: any thread may call any function.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/engine.h"
#include "core/limits.h"
#include "engines/embedded/front/key_map.h"
#include "engines/embedded/front/order_changes.h"
#include "engines/embedded/front/queue_removals.h"
#include "engines/embedded/front/shard_set.h"
#include "engines/embedded/shard/requests/operation.h"
#include "engines/embedded/store/store_files.h"

namespace tarry::embedded {

class RequestSplit {
 public:
  RequestSplit(const StoreIdentity& identity, const core::Limits& limits, const QueueHomes& homes,
               ShardSet& shards, QueueRemovals& removals, OrderChanges& orders)
      : identity_(identity),
        limits_(limits),
        homes_(homes),
        shards_(shards),
        removals_(removals),
        orders_(orders) {}

  /// Sends the operation's first parts. Throws if memory runs out; then no shard has heard of the
  /// operation.
  void dispatch(const OperationPtr& op);

 private:
  void dispatch(const OperationPtr& op, core::PushRequest& request);
  void dispatch(const OperationPtr& op, core::MoveRequest& request);
  void dispatch(const OperationPtr& op, core::CancelRequest& request);
  void dispatch(const OperationPtr& op, core::RescheduleRequest& request);
  void dispatch(const OperationPtr& op, core::ClaimRequest& request);
  void dispatch(const OperationPtr& op, core::SettleRequest& request);
  void dispatch(const OperationPtr& op, core::ExtendRequest& request);
  void dispatch(const OperationPtr& op, core::GetRequest& request);
  void dispatch(const OperationPtr& op, core::ListRequest& request);
  void dispatch(const OperationPtr& op, core::StatsRequest& request);
  void dispatch(const OperationPtr& op, core::ForecastRequest& request);
  void dispatch(const OperationPtr& op, core::ConfigureRequest& request);
  void dispatch(const OperationPtr& op, core::PauseRequest& request);
  void dispatch(const OperationPtr& op, core::ResumeRequest& request);
  void dispatch(const OperationPtr& op, core::PurgeRequest& request);
  void dispatch(const OperationPtr& op, core::ReviveRequest& request);
  void dispatch(const OperationPtr& op, core::ReshardRequest& request);
  void dispatch(const OperationPtr& op, core::RemoveRequest& request);

  [[nodiscard]] KeyMap keys_of(std::string_view queue) const { return {identity_, homes_, queue}; }
  /// Returns the shard that the receipt names, and sets `claim`. If the text is no receipt or
  /// another store's, returns kNowhere and sets the error or `stale` in `result`.
  [[nodiscard]] std::uint32_t shard_for_receipt(std::string_view receipt, ClaimName& claim,
                                                core::ItemResult& result) const;
  /// The shard for the next messages without a key, or for the next claim. The shards take turns.
  [[nodiscard]] std::uint32_t next_shard() noexcept;
  /// Sends the whole request to all shards. Together they fill in the reply.
  void ask_all(const OperationPtr& op, core::Reply reply);
  /// Sends each item i to the shard `shard_of(i)`. If that is kNowhere, the item is done already.
  template <typename ShardOf>
  void split(const OperationPtr& op, std::size_t count, ShardOf&& shard_of);
  template <typename Items, typename Pick>
  void split_pushes(const OperationPtr& op, const std::string& queue, const std::string& bytes,
                    const Items& items, const Pick& pick);
  [[nodiscard]] Error needs_format(const std::string& what, std::uint32_t version) const;
  /// A store of an older format cannot keep an expiry.
  template <typename Items, typename Pick>
  void refuse_expiries(core::PushReply& reply, const Items& items, const Pick& pick) const;
  /// Sends each item to the shard that its receipt names.
  template <typename Items>
  void split_by_receipts(const OperationPtr& op, const std::string& bytes, const Items& items);

  const StoreIdentity& identity_;
  const core::Limits& limits_;
  const QueueHomes& homes_;
  ShardSet& shards_;
  QueueRemovals& removals_;
  OrderChanges& orders_;
  std::atomic<std::uint32_t> turn_{0};
};

}  // namespace tarry::embedded
