#include "engines/embedded/front/order_changes.h"

#include <optional>
#include <string>
#include <utility>

#include "core/shard_rule.h"

namespace tarry::embedded {
namespace {

const std::string& queue_of(const Operation& op) {
  return std::get<core::ConfigureRequest>(op.request).queue;
}

// The step after this one; `none` after the last. The home's record comes first if it is `push`,
// and last if it is `due`. So if the change is cut short, no other shard has `push` while the home
// has `due`.
OrderStep step_after(OrderStep step, bool to_push) {
  const OrderStep first = to_push ? OrderStep::home : OrderStep::others;
  const OrderStep last = to_push ? OrderStep::others : OrderStep::home;
  if (step == OrderStep::look) return first;
  return step == first ? last : OrderStep::none;
}

}  // namespace

bool OrderChanges::changes(const core::ConfigureRequest& request) const {
  if (!request.patch.group_order) return false;
  const bool at_home = homes_.route(request.queue).at_home;
  return at_home != (*request.patch.group_order == GroupOrder::push);
}

void OrderChanges::begin(const OperationPtr& op) {
  if (!homes_.begin_change(queue_of(*op))) {
    op->fail(changes_order(queue_of(*op)));
    return shards_.end_later(op);
  }
  op->order_step = OrderStep::look;
  try {
    shards_.send_to_all(op);
  } catch (...) {
    homes_.end_change(queue_of(*op));
    throw;
  }
}

bool OrderChanges::go_on(const OperationPtr& op) {
  const std::uint32_t home = core::home_of(queue_of(*op), identity_.shards, identity_.hash_seed);
  if (op->order_step == OrderStep::look && op->messages != 0) {
    op->fail(order_is_kept(queue_of(*op), op->messages));
  }
  const bool to_push =
      *std::get<core::ConfigureRequest>(op->request).patch.group_order == GroupOrder::push;
  OrderStep next = op->error ? OrderStep::none : step_after(op->order_step, to_push);
  if (next == OrderStep::others && shards_.size() == 1) next = step_after(next, to_push);
  if (next == OrderStep::none) {
    homes_.end_change(queue_of(*op));
    return true;
  }
  op->order_step = next;
  if (next == OrderStep::home) {
    send_to_home(op, home);
  } else {
    send_to_others(op, home);
  }
  return false;
}

void OrderChanges::send_to_home(const OperationPtr& op, std::uint32_t home) {
  op->parts.store(1, std::memory_order_release);
  Part part;
  part.op = op;
  shards_.send(home, std::move(part));
}

void OrderChanges::send_to_others(const OperationPtr& op, std::uint32_t home) {
  shards_.send_some(op, shards_.size() - 1, [&](std::uint32_t shard) -> std::optional<Part> {
    if (shard == home) return std::nullopt;
    Part part;
    part.op = op;
    return part;
  });
}

}  // namespace tarry::embedded
