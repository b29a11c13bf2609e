#include "net/redis/redis_map_search.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "net/redis/protocol/redis_slot.h"
#include "net/redis/redis_stream.h"

namespace tarry::net {
namespace {

// If a node does not answer within this time, the next one is asked as well.
constexpr std::chrono::milliseconds kNextNodeAfter{500};

Result<std::vector<RedisSlotRange>> ranges_in(const RedisAddress& node, RedisAnswer answer) {
  if (auto* failure = std::get_if<RedisFailure>(&answer)) {
    // CLUSTER SLOTS changes nothing, so an unknown outcome does no harm.
    const bool lost = failure->error.code == ErrorCode::unknown_outcome;
    return Error{lost ? ErrorCode::unavailable : failure->error.code, failure->error.message};
  }
  const RedisView reply = std::get<RedisReply>(answer).view();
  if (!reply.is_error()) return redis_slot_ranges(reply, node);
  const std::string title = "Redis at " + redis_server_name(node);
  if (reply.text().find("cluster support disabled") != std::string_view::npos) {
    return Error{ErrorCode::invalid_argument,
                 title + " is not part of a cluster; it is opened by redis://"};
  }
  const bool refused = reply.text().starts_with("NOPERM");
  return Error{refused ? ErrorCode::permission_denied : ErrorCode::unavailable,
               title + " does not say which node serves which slot: " + std::string(reply.text())};
}

}  // namespace

Error no_slot_served(const std::string& cluster) {
  return {ErrorCode::unavailable,
          "no node of the Redis cluster at " + cluster + " serves any slot"};
}

RedisMapSearch::RedisMapSearch(boost::asio::io_context& io, std::vector<RedisAddress> nodes,
                               Ask ask, std::string cluster, Done done)
    : nodes_(std::move(nodes)),
      ask_(std::move(ask)),
      cluster_(std::move(cluster)),
      done_(std::move(done)),
      timer_(io.get_executor()) {
  TARRY_ASSERT(!nodes_.empty());
}

void RedisMapSearch::cancel() {
  done_ = nullptr;
  timer_.cancel();
}

void RedisMapSearch::ask_next() {
  if (asked_ == nodes_.size()) return;
  const RedisAddress& node = nodes_[asked_++];
  ask_(node, [self = shared_from_this(), &node](RedisAnswer answer) {
    self->on_answer(node, std::move(answer));
  });
  if (asked_ == nodes_.size()) return;
  timer_.expires_after(kNextNodeAfter);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && self->done_) self->ask_next();
  });
}

void RedisMapSearch::on_answer(const RedisAddress& node, RedisAnswer answer) {
  if (!done_) return;
  auto ranges = ranges_in(node, std::move(answer));
  if (ranges) {
    take(*std::move(ranges));
    if (best_covers_ == kRedisSlots) return finish(std::move(best_));
  } else if (!error_ || error_->code == ErrorCode::unavailable) {
    error_ = std::move(ranges).error();  // a wrong answer tells more than an unreachable server
  }
  if (++answered_ < asked_) return;
  if (asked_ < nodes_.size()) return ask_next();
  if (best_covers_ > 0) return finish(std::move(best_));
  finish(error_ ? *std::move(error_) : no_slot_served(cluster_));
}

// Keeps the map with the most slots. A node that is new, or that the others have forgotten, knows
// only a part of the slots; then the search goes on.
void RedisMapSearch::take(std::vector<RedisSlotRange> ranges) {
  std::vector<bool> covered(kRedisSlots);
  for (const RedisSlotRange& range : ranges) {
    std::fill(covered.begin() + range.first, covered.begin() + range.last + 1, true);
  }
  const auto covers = static_cast<std::size_t>(std::ranges::count(covered, true));
  if (covers <= best_covers_) return;
  best_covers_ = covers;
  best_ = std::move(ranges);
}

void RedisMapSearch::finish(Result<std::vector<RedisSlotRange>> result) {
  Done done = std::move(done_);
  cancel();
  done(std::move(result));
}

}  // namespace tarry::net
