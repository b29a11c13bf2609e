#include "core/engine_parts/settle_first.h"

#include <atomic>
#include <optional>

#include "core/engine_parts/partly_done.h"
#include "core/reply_as.h"
#include "core/rules/validation.h"

namespace tarry::core {
namespace {

// Owned by the two completions, which may run on two threads. Each writes its own answer; the last
// one reads both.
class Join {
 public:
  Join(std::size_t items, Completion whole) : items_(items), whole_(std::move(whole)) {}

  void settled(Result<Reply> reply) {
    settled_.emplace(reply_as<ItemsReply>(std::move(reply)));
    one_done();
  }
  void claimed(Result<Reply> reply) {
    claimed_.emplace(reply_as<ClaimReply>(std::move(reply)));
    one_done();
  }

 private:
  void one_done() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    Completion whole = std::move(whole_);
    whole(joined());
  }

  Result<Reply> joined() {
    Result<ItemsReply>& settled = *settled_;
    Result<ClaimReply>& claimed = *claimed_;
    if (!settled && !claimed) {
      Error error = std::move(settled).error();
      keep_less_certain(error, std::move(claimed).error());
      return error;
    }
    ClaimReply reply;
    if (claimed) {
      reply = *std::move(claimed);
    } else {
      reply.claim_error = std::move(claimed).error();
    }
    if (settled) {
      reply.settled = std::move(settled->items);
    } else {
      reply.settled.resize(items_);
      for (ItemResult& item : reply.settled) item.error = settled.error();
    }
    return Reply(std::move(reply));
  }

  const std::size_t items_;
  Completion whole_;
  std::atomic<int> left_{2};
  std::optional<Result<ItemsReply>> settled_;
  std::optional<Result<ClaimReply>> claimed_;
};

}  // namespace

bool settles_first(const Request& request) {
  const auto* claim = std::get_if<ClaimRequest>(&request);
  return claim != nullptr && !claim->settle.items.empty() && !check_request(request);
}

SettleFirst settle_first(std::size_t items, Completion whole) {
  const auto join = std::make_shared<Join>(items, std::move(whole));
  return {[join](Result<Reply> reply) { join->settled(std::move(reply)); },
          [join](Result<Reply> reply) { join->claimed(std::move(reply)); }};
}

}  // namespace tarry::core
