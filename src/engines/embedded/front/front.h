// Front: the embedded engine as the rest of tarry sees it. It checks requests, has them cut into
// parts (RequestSplit), sends claims and lists from shard to shard, and joins the answers.
//
// Thread safety: any thread may call any function.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <tarry/log.h>

#include "core/engine.h"
#include "core/engine_parts/answer_thread.h"
#include "core/engine_parts/spread.h"
#include "core/engine_parts/waiting_count.h"
#include "core/limits.h"
#include "engines/embedded/front/claim_tickets.h"
#include "engines/embedded/front/order_changes.h"
#include "engines/embedded/front/queue_removals.h"
#include "engines/embedded/front/request_split.h"
#include "engines/embedded/front/shard_set.h"
#include "engines/embedded/gates/queue_gates.h"
#include "engines/embedded/shard/requests/operation.h"
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
    std::shared_ptr<QueueGates> gates;  // that the shards have
  };

  explicit Front(Config config);
  ~Front() override;

  /// Call `start` once, before the first submit. Takes the shards, in order, and the objects that
  /// must outlive them.
  void start(std::vector<ShardParts> shards, std::unique_ptr<storage::Directory> directory,
             std::unique_ptr<storage::Lock> lock);

  core::Ticket submit(core::Request request, core::Completion completion) override;
  void submit_waiting(core::Request request, core::Completion completion) override;
  core::Ticket submit_lending(core::Request request, core::Completion completion,
                              core::Lent& lent) override;
  void lend(core::Lent& lent) noexcept override;
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
  /// A thread that is not the engine's (in `post`, `lend` and others) reaches a shard only while it
  /// holds a Use. `close` waits until nobody holds one, and then destroys the shards.
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
  /// Submits a request whose pushes have their due times.
  core::Ticket pass_on(core::Request request, core::Completion completion);
  /// Null if the request was refused; then the completion gets the error.
  [[nodiscard]] OperationPtr make(core::Request request, core::Completion completion,
                                  Operation::Completes completes);
  void begin(const OperationPtr& op);
  // Completes a refused request with the error, on an engine's thread, not on the caller's.
  void refuse(core::Completion completion, Error error);
  void end_get(const OperationPtr& op);
  void begin_waiting(const OperationPtr& op);
  void end_claim(const OperationPtr& op);
  void forget_waiting(const OperationPtr& op);
  void complete(const OperationPtr& op);
  void complete_here(Operation& op);
  /// The steps before the completion that allocate memory.
  void finish_reply(Operation& op);
  static void run_completion(Operation& op) noexcept;

  Config config_;
  core::SpreadCalendars calendars_;
  std::unique_ptr<storage::Directory> directory_;
  std::unique_ptr<storage::Lock> lock_;
  ShardSet shards_;
  QueueRemovals removals_;
  OrderChanges orders_;
  RequestSplit split_;
  std::atomic<bool> closed_{false};
  // `users_` has a cache line of its own, because every verb writes it, and the members beside it
  // are only read.
  alignas(64) std::atomic<std::uint32_t> users_{0};
  alignas(64) std::mutex close_mutex_;

  ClaimTickets tickets_;
  core::WaitingCount waiting_;

  // `answers_` is the last member, so it is destroyed first: its remaining answers need the other
  // members.
  core::AnswerThread answers_;
};

}  // namespace tarry::embedded
