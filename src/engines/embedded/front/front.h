// Front: the embedded engine as the rest of tarry sees it. Checks requests, cuts them into one part
// a shard, leads claims and lists from shard to shard, joins the answers.
//
// Thread safety: all of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <tarry/log.h>

#include "core/answer_thread.h"
#include "core/engine.h"
#include "core/limits.h"
#include "core/waiting_count.h"
#include "engines/embedded/shard/requests/operation.h"
#include "engines/embedded/threads/shard_runner.h"
#include "engines/embedded/store/store_files.h"
#include "storage/storage.h"
#include "timing/clock.h"

namespace tarry::embedded {

class Front final : public core::Engine, public Router {
 public:
  struct Config {
    StoreIdentity identity;
    core::Limits limits;
    bool durable = false;
    bool lends = false;  // a thread that waits for an answer may run the shards meanwhile
    std::shared_ptr<const timing::Clock> clock;
    Log log;
  };

  explicit Front(Config config);
  ~Front() override;

  /// Call once, before the first submit. Takes the shards, in order, and the objects that must
  /// outlive them.
  void start(std::vector<ShardParts> shards, std::unique_ptr<storage::Directory> directory,
             std::unique_ptr<storage::Lock> lock);

  core::Ticket submit(core::Request request, core::Completion completion) override;
  void submit_waiting(core::Request request, core::Completion completion) override;
  void withdraw(core::Ticket ticket) override;
  [[nodiscard]] core::Capabilities capabilities() const override;
  void close() override;
  [[nodiscard]] bool is_closed() const noexcept override { return closed_.load(); }

  void finish_part(const OperationPtr& op) override;
  void claim_visited(const OperationPtr& op, std::uint32_t shard) override;
  void list_visited(const OperationPtr& op, std::uint32_t shard, Handle cursor,
                    bool exhausted) override;
  void post(std::uint32_t shard, Part part) override;
  void release(const core::ClaimReply& reply) override;
  void log(const LogEntry& entry) override;

 private:
  // front_split.cpp: how each kind of request is split among the shards
  void dispatch(const OperationPtr& op, core::PushRequest& request);
  void dispatch(const OperationPtr& op, core::MoveRequest& request);
  void dispatch(const OperationPtr& op, core::CancelRequest& request);
  void dispatch(const OperationPtr& op, core::RescheduleRequest& request);
  void dispatch(const OperationPtr& op, core::ClaimRequest& request);
  void dispatch(const OperationPtr& op, core::SettleRequest& request);
  void dispatch(const OperationPtr& op, core::ExtendRequest& request);
  void dispatch(const OperationPtr& op, core::GetRequest& request);
  void end_get(const OperationPtr& op);
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

  /// Null if the request was refused; the completion then gets the error. Threads that are not the
  /// engine's (`post`, `lend` and others) reach a shard only inside a Use: `close` waits for all of
  /// them before it destroys the shards.
  class Use {
   public:
    explicit Use(Front& front) noexcept : front_(front) { front_.users_.fetch_add(1); }
    ~Use() {
      if (front_.users_.fetch_sub(1) == 1 && front_.closed_.load()) front_.users_.notify_all();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Front& front_;
  };
  [[nodiscard]] OperationPtr begin(core::Request request, core::Completion completion,
                                   Operation::Completes completes);
  void lend(Operation& op) noexcept;
  [[nodiscard]] std::uint32_t shards() const noexcept { return config_.identity.shards; }
  [[nodiscard]] std::uint32_t shard_for_key(std::string_view queue, std::string_view key) const;
  /// Sends each item to the shard that its receipt names.
  template <typename Items>
  void split_by_receipts(const OperationPtr& op, const std::string& bytes, const Items& items);
  /// The receipt's shard and claim. An error or `stale` goes into the result.
  [[nodiscard]] std::uint32_t shard_for_receipt(std::string_view receipt, ClaimName& claim,
                                                core::ItemResult& result) const;
  /// `shard_of(i)` says where item i belongs; items of shard kNowhere are done already.
  template <typename F>
  void split(const OperationPtr& op, std::size_t count, F&& shard_of);
  template <typename Items, typename Pick>
  void split_pushes(const OperationPtr& op, const std::string& queue, const std::string& bytes,
                    const Items& items, const Pick& pick);
  void to_all(const OperationPtr& op);
  void send(std::uint32_t shard, Part part);
  /// Posts one part to each shard for which `part_of` gives one. It posts to all of them, or throws
  /// and posts to none.
  template <typename F>
  void send_all(const OperationPtr& op, std::uint32_t parts, F&& part_of);

  void refuse_part(const Part& part);

  // front_remove.cpp
  /// Completes removals that the last run left half done.
  void resume_removals(const std::vector<std::string>& queues);
  void begin_removal(const OperationPtr& op);
  void go_on_removing(const OperationPtr& op);
  void end_removal();

  // Completes, on an engine's thread, a request that ends on the caller's thread.
  void refuse(core::Completion completion, Error error);
  void finish_later(const OperationPtr& op);
  void begin_waiting(const OperationPtr& op);
  void end_claim(const OperationPtr& op);
  void forget_waiting(const OperationPtr& op);
  void complete(const OperationPtr& op);
  void complete_here(Operation& op);
  /// The steps before the completion that allocate memory.
  void finish_reply(Operation& op);
  static void run_completion(Operation& op) noexcept;
  void merge_stats(Operation& op);

  Config config_;
  std::unique_ptr<storage::Directory> directory_;
  std::unique_ptr<storage::Lock> lock_;
  std::vector<std::unique_ptr<ShardRunner>> runners_;
  std::atomic<std::uint32_t> turn_{0};
  std::atomic<bool> closed_{false};
  // On a cache line of its own: every verb writes here, and its neighbours are only read.
  alignas(64) std::atomic<std::uint32_t> users_{0};
  alignas(64) std::mutex close_mutex_;

  std::mutex tickets_mutex_;
  std::unordered_map<core::Ticket, std::weak_ptr<Operation>> tickets_;  // claims that may wait
  core::WaitingCount waiting_;
  core::Ticket next_ticket_ = 1;

  std::mutex removals_mutex_;
  std::deque<OperationPtr> removals_;  // one at a time: the first is under way

  core::AnswerThread answers_;  // last: its remaining answers need the other members
};

}  // namespace tarry::embedded
