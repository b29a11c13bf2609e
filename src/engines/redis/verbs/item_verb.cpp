#include "engines/redis/verbs/item_verb.h"

#include <map>
#include <utility>

#include "engines/redis/verbs/parted.h"

namespace tarry::redis {
namespace {

// Most work in one call. Other clients of the server wait for the call.
constexpr std::size_t kMostItems = 500;
constexpr std::size_t kMostBytes = 8u << 20;
// How often in a row a queue may move before the caller gets an error.
constexpr int kMostTries = 5;

struct Job {
  Context* context;
  std::shared_ptr<ItemVerb> verb;
  std::string queue;
  std::shared_ptr<Countdown> countdown;
  std::uint32_t number = 0;
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

// Tries again after a call was refused: the queue has moved, or the whole store was lost. Each
// refused call is tried on its own.
void find_again(const JobPtr& refused, const QueuePtr& queue, const Items& items) {
  const auto job = std::make_shared<Job>(*refused);
  ++job->tries;
  Context& context = *job->context;
  job->countdown->begin();
  doubt(context, queue, [job, items, secret = context.identity.secret()](Result<void> checked) {
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

void take_answer(const JobPtr& job, const QueuePtr& queue, const Chunk& chunk, const Place& place,
                 Result<net::RedisReply> reply) {
  if (reply) {
    if (!job->verb->read(place, reply->view(), *chunk)) {
      fail_all(*job, *chunk, strange_reply(job->context->server, job->verb->script()));
    } else if (job->verb->changes() && job->context->server.waits()) {
      return job->context->server.confirm(reply->origin(),
                                          [job, chunk](const Result<void>& confirmed) {
                                            if (!confirmed)
                                              fail_all(*job, *chunk, confirmed.error());
                                            job->countdown->end();
                                          });
    }
  } else if (is_moved(reply.error()) && job->tries < kMostTries) {
    find_again(job, queue, *chunk);
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
        take_answer(job, queue, chunk, place, std::move(reply));
      });
}

void run_plainly(const JobPtr& job, const QueuePtr& queue, const Place& place, const Chunk& chunk) {
  job->context->server.run_after(
      place, job->verb->before(place, *chunk), job->verb->script_after(),
      [job, chunk](net::RedisCommand& command) { job->verb->build_after(command, *chunk); },
      [job, chunk, queue, &place](Result<net::RedisReply> reply) {
        if (!reply && reply.error().code == ErrorCode::misuse) {
          queue->expires = reply.error().message.starts_with("EXPIRES");
          return run_script(job, queue, place, chunk);  // this learns why
        }
        take_answer(job, queue, chunk, place, std::move(reply));
      });
}

void send_chunk(const JobPtr& job, const QueuePtr& queue, const Place& place, Items items) {
  job->countdown->begin();
  const auto chunk = std::make_shared<Items>(std::move(items));
  if (queue->expires || !job->verb->is_plain(*chunk)) return run_script(job, queue, place, chunk);
  run_plainly(job, queue, place, chunk);
}

// Splits one shard's items into calls of bounded work.
template <typename Send>
void in_chunks(const JobPtr& job, ItemSpan items, Send send) {
  Items chunk;
  std::size_t bytes = 0;
  for (const std::uint32_t item : items) {
    const std::size_t more = job->verb->bytes_of(item);
    if (!chunk.empty() && (chunk.size() == kMostItems || bytes + more > kMostBytes)) {
      send(std::exchange(chunk, {}));
      bytes = 0;
    }
    chunk.push_back(item);
    bytes += more;
  }
  if (!chunk.empty()) send(std::move(chunk));
}

void send_shard(const JobPtr& job, const QueuePtr& queue, const Place& place, ItemSpan items) {
  in_chunks(job, items, [&](Items chunk) { send_chunk(job, queue, place, std::move(chunk)); });
}

// Sends items to the open shards, by their keys.
void send_open(const JobPtr& job, const QueuePtr& queue, const Items& items) {
  if (queue->open() == 1) return send_shard(job, queue, queue->shards.back(), items);
  std::map<const Place*, Items> by_shard;
  for (const std::uint32_t item : items) {
    by_shard[&queue->open_home(job->verb->key_of(item), job->context->identity.secret())].push_back(
        item);
  }
  for (const auto& [place, some] : by_shard) send_shard(job, queue, *place, some);
}

// Sends the open shards the items whose keys the closed shard does not have.
void go_on(const JobPtr& job, const QueuePtr& queue, Items absent) {
  std::vector<std::string> keys;
  for (const std::uint32_t item : absent) keys.emplace_back(job->verb->key_of(item));
  job->countdown->begin();
  settle_parted(*job->context, queue, std::move(keys),
                [job, queue, absent = std::move(absent)](Result<std::vector<bool>> gone) {
                  if (gone) {
                    Items rest;
                    for (std::size_t i = 0; i < absent.size(); ++i) {
                      if ((*gone)[i]) rest.push_back(absent[i]);
                    }
                    send_open(job, queue, rest);
                  } else if (is_moved(gone.error()) && job->tries < kMostTries) {
                    find_again(job, queue, absent);
                  } else {
                    fail_all(*job, absent, gone.error());
                  }
                  job->countdown->end();
                });
}

void take_closed_answer(const JobPtr& job, const QueuePtr& queue, const Place& place,
                        const Chunk& chunk, Result<net::RedisReply> reply) {
  if (!reply || !job->verb->read(place, reply->view(), *chunk)) {
    return take_answer(job, queue, chunk, place, std::move(reply));
  }
  Items absent;
  Items here;
  for (const std::uint32_t item : *chunk) {
    (job->verb->is_absent(item) ? absent : here).push_back(item);
  }
  if (!absent.empty()) go_on(job, queue, std::move(absent));
  if (!here.empty() && job->verb->changes() && job->context->server.waits()) {
    return job->context->server.confirm(reply->origin(),
                                        [job, here](const Result<void>& confirmed) {
                                          if (!confirmed) fail_all(*job, here, confirmed.error());
                                          job->countdown->end();
                                        });
  }
  job->countdown->end();
}

void send_closed(const JobPtr& job, const QueuePtr& queue, const Place& place, Items items) {
  job->countdown->begin();
  const auto chunk = std::make_shared<Items>(std::move(items));
  job->context->server.run_on(
      place, job->verb->script_closed(),
      [job, chunk](net::RedisCommand& command) { job->verb->build_closed(command, *chunk); },
      [job, chunk, queue, &place](Result<net::RedisReply> reply) {
        take_closed_answer(job, queue, place, chunk, std::move(reply));
      });
}

void send_by_number(const JobPtr& job, const QueuePtr& queue, const Items& items) {
  std::map<const Place*, Items> by_shard;
  for (const std::uint32_t item : items)
    by_shard[queue->find(job->verb->shard_of(item))].push_back(item);
  for (const auto& [place, some] : by_shard) {
    if (place != nullptr) {
      send_shard(job, queue, *place, some);
    } else {
      for (const std::uint32_t item : some) job->verb->absent(item);
    }
  }
}

void send_all(const JobPtr& job, const QueuePtr& queue, const Items& items) {
  if (!job->verb->is_by_key()) return send_by_number(job, queue, items);
  if (queue->closed == 0) return send_open(job, queue, items);
  std::map<const Place*, Items> by_shard;
  Items made;
  const std::uint64_t secret = job->context->identity.secret();
  for (const std::uint32_t item : items) {
    if (job->verb->is_new(item)) {
      made.push_back(item);
    } else {
      by_shard[&queue->closed_home(job->verb->key_of(item), secret)].push_back(item);
    }
  }
  send_open(job, queue, made);
  for (const auto& [place, some] : by_shard) {
    in_chunks(job, some,
              [&, to = place](Items chunk) { send_closed(job, queue, *to, std::move(chunk)); });
  }
}

void find_queue(const JobPtr& job, Items items) {
  job->countdown->begin();
  auto found = [job, items = std::move(items)](Result<QueuePtr> queue) {
    if (!queue) {
      fail_all(*job, items, queue.error());
    } else if (*queue == nullptr || (job->number != 0 && (*queue)->number != job->number)) {
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
               Items items, std::shared_ptr<Countdown> countdown, std::uint32_t number) {
  auto job = std::make_shared<Job>();
  job->number = number;
  job->context = &context;
  job->verb = std::move(verb);
  job->queue = queue;
  job->countdown = std::move(countdown);
  find_queue(job, std::move(items));
}

void doubt(Context& context, const QueuePtr& refused,
           base::UniqueFunction<void(Result<void>)> done) {
  if (!context.directory.forget(refused)) return done({});
  context.identity.doubt();
  context.identity.check(std::move(done));
}

}  // namespace tarry::redis
