#include "engines/redis/queues/removal.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/text/text.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// How long a shard's META says that it is gone. If a process read the queue's record before the
// removal and made the shard after this time, nobody would find the shard. But the process would
// have to hang for so long without losing its connection.
constexpr std::int64_t kGoneMs = std::chrono::milliseconds(std::chrono::hours(7 * 24)).count();

class RemovalEnd : public std::enable_shared_from_this<RemovalEnd> {
 public:
  using Done = base::UniqueFunction<void(Result<std::uint64_t>)>;

  RemovalEnd(Server& server, BegunRemoval begun, Done done)
      : server_(server),
        begun_(std::move(begun)),
        done_(std::move(done)),
        replicas_(server.replicas_of_nodes()),
        shards_(make_places(begun_.queue, begun_.record.number, begun_.record.set,
                            begun_.partitions)) {}

  // The record must be on a replica before anything is deleted. Otherwise a failover could undo the
  // record, and leave a queue whose shards are gone.
  void start() {
    if (!may_call()) return;
    server_.run(
        Script::remove_go_on,
        [self = shared_from_this()](RedisCommand& command) {
          command.add("2").key(partition_key(0, "store")).key(partition_key(0, "queues"));
          command.add(self->begun_.queue).add(self->begun_.text);
          command.add(static_cast<std::int64_t>(self->begun_.record.turn));
        },
        [self = shared_from_this()](Result<RedisReply> reply) {
          if (!reply) return self->done_(std::move(reply).error());
          if (reply->view().integer() == 0) return self->end_record();
          self->confirmed_next(*reply);
        });
  }

 private:
  bool may_call() {
    if (begun_.most_calls == 0) {
      done_(Error{ErrorCode::unavailable, "it was stopped"});
      return false;
    }
    if (begun_.most_calls > 0) --begun_.most_calls;
    return true;
  }

  void confirmed_next(const RedisReply& reply) {
    replicas_.confirm(reply.origin(), [self = shared_from_this()](Result<void> confirmed) {
      if (!confirmed) return self->done_(std::move(confirmed).error());
      self->next();
    });
  }

  void next() {
    if (!may_call()) return;
    if (at_ == shards_.size()) return end_record();
    server_.run(
        Script::remove_shard,
        [self = shared_from_this()](RedisCommand& command) {
          const Place& place = self->shards_[self->at_];
          command.add(static_cast<std::int64_t>(Place::kKeys));
          for (const std::string& key : place.keys) command.key(key);
          command.add(place.generation).add(self->generation());
          command.add(place.name).add(place.channel).add(kGoneMs);
        },
        [self = shared_from_this()](Result<RedisReply> reply) {
          if (!reply) return self->done_(std::move(reply).error());
          self->removed_ += static_cast<std::uint64_t>(reply->view().integer());
          ++self->at_;
          self->confirmed_next(*reply);
        });
  }

  [[nodiscard]] std::int64_t generation() const {
    return static_cast<std::int64_t>(number_of_generation(begun_.record.set.generation));
  }

  void end_record() {
    server_.run(
        Script::remove_end,
        [self = shared_from_this()](RedisCommand& command) {
          command.add("3").key(partition_key(0, "store")).key(partition_key(0, "queues"));
          command.key(partition_key(0, "numbers"));
          command.add(self->begun_.queue).add(self->begun_.text);
          command.add(std::int64_t{self->begun_.record.number}).add(self->generation() + 1);
          command.add(static_cast<std::int64_t>(self->begun_.record.turn));
          command.add(static_cast<std::int64_t>(self->removed_)).add(partition_key(0, "wake"));
        },
        [self = shared_from_this()](Result<RedisReply> reply) {
          if (!reply) return self->done_(std::move(reply).error());
          const auto told = base::parse_u64(reply->view().text(), "removed", 0, UINT64_MAX);
          self->done_(told ? *told : self->removed_);
        });
  }

  Server& server_;
  BegunRemoval begun_;
  Done done_;
  NodeReplicas replicas_;
  const std::vector<Place> shards_;
  std::size_t at_ = 0;
  std::uint64_t removed_ = 0;
};

}  // namespace

void end_removal(Server& server, BegunRemoval begun,
                 base::UniqueFunction<void(Result<std::uint64_t>)> done) {
  std::make_shared<RemovalEnd>(server, std::move(begun), std::move(done))->start();
}

}  // namespace tarry::redis
