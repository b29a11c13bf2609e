// Reshard: gives a queue another number of shards, step by step: the calls, and the queue's record.
#include "engines/redis/reshard/reshard.h"

#include <utility>

#include "engines/redis/reshard/reshard_mover.h"
#include "engines/redis/verbs/limited.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

// A step's answer and the request for the next step carry one number. It joins the turn and the
// step's number within the turn.
constexpr int kStepBits = 24;
constexpr std::uint64_t token(std::uint64_t turn, std::uint64_t step) noexcept {
  return (turn << kStepBits) | step;
}
constexpr std::uint64_t turn_of(std::uint64_t token) noexcept { return token >> kStepBits; }
constexpr std::uint64_t step_of(std::uint64_t token) noexcept {
  return token & ((std::uint64_t{1} << kStepBits) - 1);
}

}  // namespace

Mover::Mover(Context& context, AskedPtr asked, std::int64_t most_calls)
    : context_(context),
      asked_(std::move(asked)),
      request_(std::get<core::ReshardRequest>(asked_->request)),
      calls_left_(most_calls),
      replicas_(context.server.replicas_of_nodes()) {}

void Mover::start() {
  context_.directory.read(
      request_.queue, [self = shared_from_this()](Result<std::optional<Directory::Read>> found) {
        if (!found) return self->fail(std::move(found).error());
        if (!*found) return self->fail(no_such_queue(self->request_.queue));
        self->look_at(**std::move(found));
      });
}

void Mover::fail(Error error) {
  if (is_moved(error)) {
    context_.directory.forget(request_.queue);
    error = another_goes_on();
  }
  asked_->fail(std::move(error));
}

Error Mover::another_goes_on() const {
  return {ErrorCode::conflict,
          "another process has taken over the reshard of queue " + request_.queue};
}

bool Mover::may_call() {
  if (calls_left_ == 0) {
    fail({ErrorCode::unavailable, "the reshard was stopped"});
    return false;
  }
  --calls_left_;
  return true;
}

base::UniqueFunction<void(Result<RedisReply>)> Mover::taking(Take take) {
  return [self = shared_from_this(), take = std::move(take)](Result<RedisReply> reply) mutable {
    if (!reply) return self->fail(std::move(reply).error());
    const auto taken = std::make_shared<RedisReply>(*std::move(reply));
    self->replicas_.confirm(taken->origin(),
                            [self, taken, take = std::move(take)](Result<void> confirmed) mutable {
                              if (!confirmed) return self->stop_at(confirmed.error());
                              take(taken->view());
                            });
  };
}

// Call `stop_at` if replicas do not follow.
void Mover::stop_at(const Error& error) {
  fail({ErrorCode::unavailable,
        "the reshard of queue " + request_.queue +
            " stops until replicas follow again, and nothing is lost: " + error.message});
}

void Mover::run(Script script, Build build, Take take) {
  if (may_call()) context_.server.run(script, std::move(build), taking(std::move(take)));
}

void Mover::run_on(const Place& place, Script script, Build build, Take take) {
  if (!may_call()) return;
  context_.server.run_on(
      place, script,
      [self = shared_from_this(), build = std::move(build)](RedisCommand& command) mutable {
        command.add(static_cast<std::int64_t>(self->record_.turn));
        build(command);
      },
      taking(std::move(take)));
}

// ---- the record

void Mover::look_at(Directory::Read found) {
  record_ = std::move(found.record);
  text_ = std::move(found.text);
  if (record_.stage == Stage::removing) return end_removal();
  const bool settled = record_.stage == Stage::settled;
  if (request_.turn != 0 && (settled || record_.turn != turn_of(request_.turn))) {
    return fail(another_goes_on());
  }
  if (settled) return begin();
  const bool moving = record_.stage == Stage::moving;
  const ShardSet& now = moving ? record_.set : record_.other;
  const ShardSet& wanted = moving ? record_.other : record_.set;
  step().from = now.shards;
  step().to = wanted.shards;
  if (wanted.shards != request_.shards) {
    return fail({ErrorCode::conflict, "queue " + request_.queue + " is being resharded to " +
                                          std::to_string(wanted.shards) +
                                          " shards; that must be completed first"});
  }
  step().changed = true;
  if (request_.turn == 0) {
    first_ = true;
    return write_record(true, &Mover::go_on);
  }
  go_on();
}

void Mover::end_removal() {
  context_.directory.forget(request_.queue);
  context_.directory.find(request_.queue, [self = shared_from_this()](Result<QueuePtr> queue) {
    self->fail(queue ? no_such_queue(self->request_.queue) : std::move(queue).error());
  });
}

void Mover::begin() {
  step().from = record_.set.shards;
  step().to = request_.shards;
  if (record_.set.shards == request_.shards) {
    step().done = true;
    return asked_->complete();
  }
  step().changed = true;
  first_ = true;
  record_.other = next_set(record_.set, request_.shards);
  // Makes missing shards first, because nobody makes them once the set is closed. The process that
  // made the queue may have been killed too early, or a failover may have lost a shard.
  context_.directory.forget(request_.queue);
  context_.directory.find(request_.queue, [self = shared_from_this()](Result<QueuePtr> queue) {
    if (!queue) return self->fail(std::move(queue).error());
    if (*queue == nullptr) return self->fail(no_such_queue(self->request_.queue));
    if (self->context_.directory.joins_partitions()) return self->make_keys();
    self->check_limits(*std::move(queue));
  });
}

// In a cluster the limits hold only while all shards are in one slot, and a reshard uses others.
void Mover::check_limits(QueuePtr queue) {
  if (!may_call()) return;
  const Place& place = queue->shards[0];
  context_.server.run_on(
      place, Script::stats, [](RedisCommand&) {},
      [self = shared_from_this(), queue](Result<RedisReply> reply) {
        if (!reply) return self->fail(std::move(reply).error());
        const QueueSettings settings = read_settings(reply->view()[1].text());
        if (!has_limits(settings)) return self->make_keys();
        self->fail({ErrorCode::unsupported,
                    "in a Redis Cluster the shards of a queue with limits cannot be changed: set "
                    "max_leased and rate of queue " +
                        queue->name + " to none, and set them again when the reshard is done"});
      });
}

// Makes all keys that will be needed: once the record is written, no step may fail for lack of
// room.
void Mover::make_keys() {
  places_to_make_ = make_places(request_.queue, record_.number, record_.set, partitions(), true);
  for (Place& place : make_places(request_.queue, record_.number, record_.other, partitions())) {
    places_to_make_.push_back(std::move(place));
  }
  make_next_keys();
}

void Mover::make_next_keys() {
  if (places_to_make_.empty()) {
    record_.stage = Stage::moving;
    return write_record(true, &Mover::go_on);
  }
  const auto place = std::make_shared<Place>(std::move(places_to_make_.back()));
  places_to_make_.pop_back();
  run(
      place->closed ? Script::reshard_room : Script::create,
      [place](RedisCommand& command) {
        if (place->closed) {
          command.add("2").key(place->keys[Place::kMsgs]).key(place->keys[Place::kDue]);
          command.add(partition_key(place->partition, kNothing));
          return;
        }
        command.add(static_cast<std::int64_t>(Place::kKeys));
        for (const std::string& key : place->keys) command.key(key);
        command.add(place->generation).add("").add("-").add("1");
      },
      [self = shared_from_this()](RedisView) { self->make_next_keys(); });
}

void Mover::write_record(bool with_turn, Next next) {
  run(
      Script::reshard_record,
      [self = shared_from_this(), with_turn](RedisCommand& command) {
        command.add("2").key(partition_key(0, "store")).key(partition_key(0, "queues"));
        command.add(self->request_.queue).add(self->text_).add(spell_record(self->record_));
        command.add(with_turn ? "1" : "0").add(partition_key(0, "wake"));
      },
      [self = shared_from_this(), next](RedisView told) {
        auto record = read_record(told.text());
        if (!record) {
          return self->fail(strange_reply(self->context_.server, Script::reshard_record));
        }
        self->record_ = *std::move(record);
        self->text_ = told.text();
        self->context_.directory.forget(self->request_.queue);
        (self.get()->*next)();
      });
}

void Mover::go_on() {
  const std::uint64_t number = first_ ? 1 : step_of(request_.turn) + 1;
  step().turn = token(record_.turn, number);
  if (record_.stage == Stage::retiring) return retire();
  // Closes the old shards and makes the new ones.
  context_.directory.find(request_.queue, [self = shared_from_this()](Result<QueuePtr> queue) {
    if (!queue) return self->fail(std::move(queue).error());
    if (*queue == nullptr || (*queue)->closed == 0) {
      return self->fail(self->another_goes_on());
    }
    self->queue_ = *std::move(queue);
    self->at_ = 0;
    self->begin_step();
  });
}

// Each step of a turn runs once. If an error leaves work undone, the next turn does it. Two steps
// at a time would remove each other's notes.
void Mover::begin_step() {
  run_on(
      queue_->shards[0], Script::reshard_step,
      [number = step_of(step().turn)](RedisCommand& command) {
        command.add(static_cast<std::int64_t>(number));
      },
      [self = shared_from_this()](RedisView) {
        if (self->first_) return self->collect_stale_copies();
        self->read();
      });
}

void reshard(Context& context, const AskedPtr& asked, std::int64_t most_calls) {
  asked->reply = ReshardStep();
  std::make_shared<Mover>(context, asked, most_calls)->start();
}

}  // namespace tarry::redis
