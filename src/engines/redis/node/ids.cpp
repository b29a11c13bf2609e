#include "engines/redis/node/ids.h"

#include <algorithm>
#include <utility>

#include "engines/redis/records/member.h"

namespace tarry::redis {
namespace {

constexpr std::uint64_t kBlock = 10'000;

Result<std::uint64_t> first_of(std::int64_t last, std::uint64_t size) {
  if (last < static_cast<std::int64_t>(size) || static_cast<std::uint64_t>(last) > kMaxId) {
    return Unexpected(ErrorCode::no_space, "the store has used up its ids");
  }
  return static_cast<std::uint64_t>(last) - size + 1;
}

}  // namespace

void Ids::take(std::uint64_t count, Taken done) {
  if (end_ - next_ >= count && waiting_.empty()) {
    const std::uint64_t first = next_;
    next_ += count;
    done(first);
    return;
  }
  waiting_.push_back({count, std::move(done)});
  if (waiting_.size() == 1) refill();
}

// Takes one block for all requests that wait.
void Ids::refill() {
  std::uint64_t wanted = 0;
  for (const Waiting& each : waiting_) wanted += each.count;
  const std::uint64_t size = std::max(block_, wanted);
  block_ = kBlock;
  server_.run(
      Script::take_ids,
      [this, size](net::RedisCommand& command) {
        command.add("1").key(partition_key(0, "store")).add(static_cast<std::int64_t>(size));
        command.add(server_.time_argument());
      },
      [this, size](Result<net::RedisReply> reply) {
        Result<std::uint64_t> first = reply ? first_of(reply->view().integer(), size)
                                            : Result<std::uint64_t>(std::move(reply).error());
        if (!first) {
          for (Waiting& each : std::exchange(waiting_, {})) each.done(first.error());
          return;
        }
        next_ = *first;
        end_ = *first + size;
        serve();
      });
}

void Ids::serve() {
  while (!waiting_.empty() && end_ - next_ >= waiting_.front().count) {
    const std::uint64_t first = next_;
    next_ += waiting_.front().count;
    Taken done = std::move(waiting_.front().done);
    waiting_.pop_front();
    done(first);
  }
  if (!waiting_.empty()) refill();
}

}  // namespace tarry::redis
