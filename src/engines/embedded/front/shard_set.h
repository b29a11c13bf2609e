// ShardSet: the running shards of a store. It sends parts of an operation to one shard, to some, or
// to all.
//
// Thread safety: any thread may call any function, from `start` until `let_go`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine.h"
#include "core/engine_parts/answer_thread.h"
#include "engines/embedded/shard/requests/operation.h"
#include "engines/embedded/threads/shard_runner.h"
#include "timing/clock.h"

namespace tarry::embedded {

[[nodiscard]] Error closed_error();

class ShardSet {
 public:
  /// `router` and `answers` must outlive the set. If no shard takes a part, `answers` tells the
  /// router so.
  ShardSet(Router& router, core::AnswerThread& answers) : router_(router), answers_(answers) {}

  /// Call `start` once, with the shards in order.
  void start(std::vector<ShardParts> shards, const std::shared_ptr<const timing::Clock>& clock);
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(runners_.size());
  }

  /// False if the shard has stopped. Throws if memory runs out; then the part was not posted.
  [[nodiscard]] bool post(std::uint32_t shard, Part part);
  /// As `post`, but if the shard has stopped, the part ends with the error `closed`.
  void send(std::uint32_t shard, Part part);
  /// Sends one part to each shard for which `part_of` returns one. `parts` is their number. Sends
  /// all of them, or throws and sends none.
  template <typename PartOf>
  void send_some(const OperationPtr& op, std::uint32_t parts, PartOf&& part_of);
  void send_to_all(const OperationPtr& op);
  /// Ends the only part of an operation, on another thread.
  void end_later(const OperationPtr& op);

  /// Carries out the parts that this thread has posted to these shards, unless another thread does.
  void lend(core::Lent& lent, ShardRunner::Patience patience) noexcept;

  /// `stop` and `let_go` call the function of the same name of each ShardRunner in turn.
  void stop();
  void let_go() noexcept;

 private:
  void send_together(std::vector<std::pair<std::uint32_t, Part>> parts);
  void refuse(const Part& part);

  Router& router_;
  core::AnswerThread& answers_;
  std::vector<std::unique_ptr<ShardRunner>> runners_;
};

template <typename PartOf>
void ShardSet::send_some(const OperationPtr& op, std::uint32_t parts, PartOf&& part_of) {
  op->parts.store(parts, std::memory_order_release);
  std::vector<std::pair<std::uint32_t, Part>> all;
  all.reserve(parts);
  for (std::uint32_t shard = 0; shard < size(); ++shard) {
    if (std::optional<Part> part = part_of(shard)) all.emplace_back(shard, *std::move(part));
  }
  send_together(std::move(all));
}

}  // namespace tarry::embedded
