#include "engines/redis/item_verb.h"

#include <utility>

namespace tarry::redis {
namespace {

// Work of one call: other clients of the server wait for it.
constexpr std::size_t kMostItems = 500;
constexpr std::size_t kMostBytes = 8u << 20;
// How often in a row a queue may move before the caller is told.
constexpr int kMostTries = 5;

struct Job {
  Context* context;
  std::shared_ptr<ItemVerb> verb;
  std::string queue;
  std::shared_ptr<Countdown> countdown;
  int tries = 0;
};
using JobPtr = std::shared_ptr<Job>;

void find_queue(const JobPtr& job, Items items);

void fail_all(const Job& job, ItemSpan items, Error error) {
  if (error.code == ErrorCode::unknown_outcome && !job.verb->changes()) {
    error.code = ErrorCode::unavailable;
  }
  for (const std::uint32_t item : items) job.verb->fail(item, error);
}

using Chunk = std::shared_ptr<Items>;

// The queue has moved, or the whole store was lost.
void find_again(const JobPtr& job, const Items& items) {
  Context& context = *job->context;
  context.directory.forget(job->queue);
  context.identity.doubt();
  job->countdown->begin();
  context.identity.check([job, items, secret = context.identity.secret()](Result<void> checked) {
    if (!checked) {
      fail_all(*job, items, checked.error());
    } else if (job->context->identity.secret() != secret) {
      fail_all(*job, items,
               {ErrorCode::unavailable, "the store in Redis at " + job->context->server.name() +
                                            " was lost and made anew meanwhile; try again"});
    } else {
      find_queue(job, items);
    }
    job->countdown->end();
  });
}

void take_answer(const JobPtr& job, const Chunk& chunk, const Place& place,
                 Result<net::RedisReply> reply) {
  if (reply) {
    if (!job->verb->read(place, reply->view(), *chunk)) {
      fail_all(*job, *chunk, strange_reply(job->context->server, job->verb->script()));
    } else if (job->verb->changes() && job->context->server.waits()) {
      return job->context->server.confirm([job, chunk](const Result<void>& confirmed) {
        if (!confirmed) fail_all(*job, *chunk, confirmed.error());
        job->countdown->end();
      });
    }
  } else if (is_moved(reply.error()) && job->tries < kMostTries) {
    ++job->tries;
    find_again(job, *chunk);
  } else {
    fail_all(*job, *chunk, reply.error());
  }
  job->countdown->end();
}

void run_script(const JobPtr& job, const QueuePtr& queue, const Place& place, const Chunk& chunk) {
  job->context->server.run_on(
      place, job->verb->script(),
      [job, chunk](net::RedisCommand& command) { job->verb->build(command, *chunk); },
      [job, chunk, queue, &place](Result<net::RedisReply> reply) {
        take_answer(job, chunk, place, std::move(reply));
      });
}

void run_plainly(const JobPtr& job, const QueuePtr& queue, const Place& place, const Chunk& chunk,
                 std::vector<net::RedisCommand> commands) {
  job->context->server.run_after(
      place, std::move(commands), job->verb->script_after(),
      [job, chunk](net::RedisCommand& command) { job->verb->build_after(command, *chunk); },
      [job, chunk, queue, &place](Result<net::RedisReply> reply) {
        if (!reply && reply.error().code == ErrorCode::misuse) {
          return run_script(job, queue, place, chunk);  // which learns why
        }
        // The script was refused, and what stands before it was done.
        if (!reply && (is_moved(reply.error()) || reply.error().code == ErrorCode::no_space)) {
          for (net::RedisCommand& command : job->verb->undo(place, *chunk)) {
            job->context->server.command(std::move(command), [](Result<net::RedisReply>) {});
          }
        }
        take_answer(job, chunk, place, std::move(reply));
      });
}

void send_chunk(const JobPtr& job, const QueuePtr& queue, std::uint32_t shard, Items items) {
  job->countdown->begin();
  const auto chunk = std::make_shared<Items>(std::move(items));
  const Place& place = queue->shards[shard];
  std::vector<net::RedisCommand> commands = job->verb->plainly(place, *chunk);
  if (commands.empty()) return run_script(job, queue, place, chunk);
  run_plainly(job, queue, place, chunk, std::move(commands));
}

void send_shard(const JobPtr& job, const QueuePtr& queue, std::uint32_t shard, ItemSpan items) {
  Items chunk;
  std::size_t bytes = 0;
  for (const std::uint32_t item : items) {
    const std::size_t more = job->verb->bytes_of(item);
    if (!chunk.empty() && (chunk.size() == kMostItems || bytes + more > kMostBytes)) {
      send_chunk(job, queue, shard, std::exchange(chunk, {}));
      bytes = 0;
    }
    chunk.push_back(item);
    bytes += more;
  }
  if (!chunk.empty()) send_chunk(job, queue, shard, std::move(chunk));
}

void send_all(const JobPtr& job, const QueuePtr& queue, const Items& items) {
  if (queue->shards.size() == 1) return send_shard(job, queue, 0, items);
  std::vector<Items> by_shard(queue->shards.size());
  for (const std::uint32_t item : items) {
    const std::uint32_t shard = job->verb->shard_of(*queue, item);
    if (shard < by_shard.size()) {
      by_shard[shard].push_back(item);
    } else {
      job->verb->absent(item);
    }
  }
  for (std::uint32_t shard = 0; shard < by_shard.size(); ++shard) {
    if (!by_shard[shard].empty()) send_shard(job, queue, shard, by_shard[shard]);
  }
}

void find_queue(const JobPtr& job, Items items) {
  job->countdown->begin();
  auto found = [job, items = std::move(items)](Result<QueuePtr> queue) {
    if (!queue) {
      fail_all(*job, items, queue.error());
    } else if (*queue == nullptr) {
      for (const std::uint32_t item : items) job->verb->absent(item);
    } else {
      send_all(job, *queue, items);
    }
    job->countdown->end();
  };
  if (job->verb->makes_queue()) {
    job->context->directory.make(job->queue, std::move(found));
  } else {
    job->context->directory.find(job->queue, std::move(found));
  }
}

}  // namespace

void run_items(Context& context, std::shared_ptr<ItemVerb> verb, std::string_view queue,
               Items items, std::shared_ptr<Countdown> countdown) {
  auto job = std::make_shared<Job>();
  job->context = &context;
  job->verb = std::move(verb);
  job->queue = queue;
  job->countdown = std::move(countdown);
  find_queue(job, std::move(items));
}

Error strange_reply(const Server& server, Script script) {
  return {ErrorCode::unknown_outcome, "Redis at " + server.name() + " gave an answer to " +
                                          std::string(name_of(script)) + " that cannot be read"};
}

}  // namespace tarry::redis
