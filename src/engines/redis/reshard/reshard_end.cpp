// Reshard: handles what is left in the closed shards, and ends them.
#include <algorithm>
#include <utility>

#include "engines/redis/inbox/inbox_entry.h"
#include "engines/redis/queues/shard_stats.h"
#include "engines/redis/reshard/reshard_mover.h"
#include "engines/redis/verbs/parted.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

}  // namespace

// ---- the end: nothing is left, and no inbox has an entry that an old shard took

void Mover::take_stock() {
  at_ = 0;
  cleaned_ = 0;
  step().moved = step().left = step().leased = 0;
  inboxes_to_check_.clear();
  inboxes_checked_.clear();
  counted_.clear();
  look();
}

void Mover::look() {
  if (at_ == queue_->closed) return step().left == 0 ? look_at_inboxes() : asked_->complete();
  run_on(
      queue_->shards[at_], Script::reshard_look, [](RedisCommand&) {},
      [self = shared_from_this()](RedisView told) {
        ReshardStep& step = self->step();
        // If everything was moved, the bodies that are left should belong to leased messages. If
        // there are more, some belong to no message, and are removed.
        const bool moved_all = self->slices_ < kSlices && self->cleaned_ <= self->at_;
        if (moved_all && told[0].integer() > told[1].integer()) return self->clean("0");
        step.left += static_cast<std::uint64_t>(told[0].integer());
        step.leased += static_cast<std::uint64_t>(told[1].integer());
        const RedisView fields = told[3];
        for (const std::string_view name : {"left_w", "left_d", "left_r"}) {
          step.moved += static_cast<std::uint64_t>(number_in(fields, name));
        }
        auto& counters = self->counted_.emplace_back();
        for (const auto& [name, value] : counters_in(fields)) counters.emplace_back(name, value);
        if (self->at_ == 0) self->bucket_ = text_in(fields, "bucket");
        self->note_inboxes(fields);
        ++self->at_;
        self->look();
      });
}

void Mover::clean(std::string from) {
  run_on(
      queue_->shards[at_], Script::reshard_clean,
      [from = std::move(from)](RedisCommand& command) { command.add(from); },
      [self = shared_from_this()](RedisView told) {
        if (told.text() != "0") return self->clean(std::string(told.text()));
        self->cleaned_ = self->at_ + 1;
        self->look();
      });
}

// Reads fields such as "in:3": the last entry that the shard took from the inbox of partition 3.
void Mover::note_inboxes(RedisView fields) {
  constexpr std::size_t kOrder = 41;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (!fields[i].text().starts_with("in:")) continue;
    std::string& last = inboxes_to_check_[std::string(fields[i].text().substr(3))];
    last = std::max(last, std::string(fields[i + 1].text().substr(0, kOrder)));
  }
}

void Mover::look_at_inboxes() {
  if (inboxes_to_check_.empty()) {
    at_ = queue_->closed;
    return inboxes_checked_.empty() ? add_counters_of(0) : tell_of_inboxes();
  }
  look_at_inbox("-");
}

void Mover::look_at_inbox(std::string from) {
  const auto& [partition, order] = *inboxes_to_check_.begin();
  const auto last = read_stream_id(order);
  const std::string inbox = "tarry:{" + partition + "}:in";
  const std::string to = last ? std::to_string(last->ms) + "-" + std::to_string(last->number) : "-";
  run(
      Script::reshard_inbox,
      [queue = request_.queue, inbox, from = std::move(from), to](RedisCommand& command) {
        command.add("1").key(inbox).add(from).add(to).add(queue);
      },
      [self = shared_from_this(), inbox](RedisView told) {
        if (told.text() == "1") {
          self->step().waits_for = inbox;
          return self->asked_->complete();
        }
        if (!told.text().empty()) return self->look_at_inbox(std::string(told.text()));
        self->inboxes_checked_.insert(
            self->inboxes_to_check_.extract(self->inboxes_to_check_.begin()));
        self->look_at_inboxes();
      });
}

void Mover::tell_of_inboxes() {
  if (at_ == queue_->shards.size()) return add_counters_of(0);
  run_on(
      queue_->shards[at_], Script::reshard_seen,
      [self = shared_from_this()](RedisCommand& command) {
        for (const auto& [partition, order] : self->inboxes_checked_) {
          command.add("in:" + partition).add(order);
        }
      },
      [self = shared_from_this()](RedisView) {
        ++self->at_;
        self->tell_of_inboxes();
      });
}

void Mover::add_counters_of(std::size_t shard) {
  at_ = shard;
  if (at_ == queue_->closed) {
    std::swap(record_.set, record_.other);
    record_.stage = Stage::retiring;
    return write_record(true, &Mover::go_on);
  }
  run_on(
      queue_->shards[queue_->closed], Script::reshard_count,
      [self = shared_from_this()](RedisCommand& command) {
        command.add(std::int64_t{self->queue_->shards[self->at_].shard});
        for (const auto& [name, value] : self->counted_[self->at_]) command.add(name).add(value);
        if (self->at_ == 0 && !self->bucket_.empty()) command.add("bucket").add(self->bucket_);
      },
      [self = shared_from_this()](RedisView) { self->add_counters_of(self->at_ + 1); });
}

void Mover::retire() {
  ShardSet closed = record_.other;
  closed.generation = record_.set.generation;
  for (Place& place : make_places(request_.queue, record_.number, closed, partitions(), true)) {
    old_.push_back(std::make_shared<Place>(std::move(place)));
  }
  retire_next();
}

void Mover::retire_next() {
  if (old_.empty()) {
    record_.stage = Stage::settled;
    return write_record(false, &Mover::end);
  }
  if (!may_call()) return;
  const auto place = old_.back();
  old_.pop_back();
  context_.server.run(
      Script::reshard_retire,
      [self = shared_from_this(), place](RedisCommand& command) {
        add_both_names(command, *place, true);
        command.add(place->generation).add(self->context_.server.time_argument());
        command.add(place->name).add(place->channel);
        command.add(static_cast<std::int64_t>(self->record_.turn));
        command.add(static_cast<std::int64_t>(number_of_generation(place->generation)));
      },
      [self = shared_from_this(), place](Result<RedisReply> reply) {
        // If an earlier mover has removed the shard already, the answer is that it is gone.
        if (!reply && !is_moved(reply.error())) return self->fail(std::move(reply).error());
        if (reply && reply->view().integer() == 0) {
          return self->fail(
              {ErrorCode::damaged,
               "shard " + place->name + " has messages again, but tarry does not put any there"});
        }
        if (!reply) return self->retire_next();
        self->replicas_.confirm(reply->origin(), [self](Result<void> confirmed) {
          if (!confirmed) return self->stop_at(confirmed.error());
          self->retire_next();
        });
      });
}

void Mover::end() {
  step().done = true;
  asked_->complete();
}

}  // namespace tarry::redis
