// Reshard: gives a queue another number of shards, step by step. docs/decisions/0006-resharding.md
// says why nothing is lost or doubled on the way.
#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "engines/redis/inbox_entry.h"
#include "engines/redis/member.h"
#include "engines/redis/node_replicas.h"
#include "engines/redis/parted.h"
#include "engines/redis/shard_stats.h"
#include "engines/redis/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;
using Stage = QueueRecord::Stage;

// Messages, and bytes of their bodies, that are on the way at a time, and how often in one step.
constexpr std::int64_t kSlice = 200;
constexpr std::int64_t kSliceBytes = 1 << 20;
constexpr int kSlices = 25;

// What a step's answer calls its turn, and the next step is asked for with: the turn, and how many
// steps of it there were.
constexpr int kStepBits = 24;
constexpr std::uint64_t token(std::uint64_t turn, std::uint64_t step) noexcept {
  return (turn << kStepBits) | step;
}
constexpr std::uint64_t turn_of(std::uint64_t token) noexcept { return token >> kStepBits; }
constexpr std::uint64_t step_of(std::uint64_t token) noexcept {
  return token & ((std::uint64_t{1} << kStepBits) - 1);
}

class Mover : public std::enable_shared_from_this<Mover> {
 public:
  Mover(Context& context, AskedPtr asked, std::int64_t most_calls)
      : context_(context),
        asked_(std::move(asked)),
        request_(std::get<core::ReshardRequest>(asked_->request)),
        calls_left_(most_calls),
        replicas_(context.server.replicas_of_nodes()) {}

  void start() {
    context_.directory.read(
        request_.queue, [self = shared_from_this()](Result<std::optional<Directory::Read>> found) {
          if (!found) return self->fail(std::move(found).error());
          if (!*found) return self->fail(no_such_queue(self->request_.queue));
          self->look_at(**std::move(found));
        });
  }

 private:
  using Next = void (Mover::*)();
  using Build = base::UniqueFunction<void(RedisCommand&)>;
  using Take = base::UniqueFunction<void(RedisView)>;

  ReshardStep& step() { return std::get<ReshardStep>(asked_->reply); }
  [[nodiscard]] std::uint32_t partitions() const { return context_.directory.partitions(); }
  [[nodiscard]] std::uint64_t secret() const { return context_.identity.secret(); }

  void fail(Error error) {
    if (is_moved(error)) {
      context_.directory.forget(request_.queue);
      error = {ErrorCode::conflict,
               "another process goes on with the reshard of queue " + request_.queue};
    }
    asked_->fail(std::move(error));
  }

  // ---- calls, one after the other

  bool may_call() {
    if (calls_left_ == 0) {
      fail({ErrorCode::unavailable, "the reshard was stopped"});
      return false;
    }
    --calls_left_;
    return true;
  }

  base::UniqueFunction<void(Result<RedisReply>)> taking(Take take) {
    return [self = shared_from_this(), take = std::move(take)](Result<RedisReply> reply) mutable {
      if (!reply) return self->fail(std::move(reply).error());
      const auto taken = std::make_shared<RedisReply>(*std::move(reply));
      self->replicas_.confirm(
          taken->origin(), [self, taken, take = std::move(take)](Result<void> confirmed) mutable {
            if (!confirmed) return self->stop_at(confirmed.error());
            take(taken->view());
          });
    };
  }

  // Replicas do not follow.
  void stop_at(const Error& error) {
    fail({ErrorCode::unavailable,
          "the reshard of queue " + request_.queue +
              " stops until replicas follow again, and nothing is lost: " + error.message});
  }

  void run(Script script, Build build, Take take) {
    if (may_call()) context_.server.run(script, std::move(build), taking(std::move(take)));
  }

  void run_on(const Place& place, Script script, Build build, Take take) {
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

  void look_at(Directory::Read found) {
    record_ = std::move(found.record);
    text_ = std::move(found.text);
    if (record_.stage == Stage::removing) return end_removal();
    const bool settled = record_.stage == Stage::settled;
    if (request_.turn != 0 && (settled || record_.turn != turn_of(request_.turn))) {
      return fail({ErrorCode::conflict,
                   "another process goes on with the reshard of queue " + request_.queue});
    }
    if (settled) return begin();
    const bool moving = record_.stage == Stage::moving;
    const ShardSet& now = moving ? record_.set : record_.other;
    const ShardSet& wanted = moving ? record_.other : record_.set;
    step().from = now.shards;
    step().to = wanted.shards;
    if (wanted.shards != request_.shards) {
      return fail({ErrorCode::conflict, "queue " + request_.queue + " is on its way to " +
                                            std::to_string(wanted.shards) +
                                            " shards; that must be ended first"});
    }
    step().changed = true;
    if (request_.turn == 0) {
      first_ = true;
      return write_record(true, &Mover::go_on);
    }
    go_on();
  }

  void end_removal() {
    context_.directory.forget(request_.queue);
    context_.directory.find(request_.queue, [self = shared_from_this()](Result<QueuePtr> queue) {
      self->fail(queue ? no_such_queue(self->request_.queue) : std::move(queue).error());
    });
  }

  void begin() {
    step().from = record_.set.shards;
    step().to = request_.shards;
    if (record_.set.shards == request_.shards) {
      step().done = true;
      return asked_->complete();
    }
    step().changed = true;
    first_ = true;
    record_.other = next_set(record_.set, request_.shards);
    // Who made the queue may have been killed before all its shards were there; or a failover has
    // forgotten one. Once they are closed nobody makes them any more.
    context_.directory.forget(request_.queue);
    context_.directory.find(request_.queue, [self = shared_from_this()](Result<QueuePtr> queue) {
      if (!queue) return self->fail(std::move(queue).error());
      if (*queue == nullptr) return self->fail(no_such_queue(self->request_.queue));
      self->make_room();
    });
  }

  // All keys that there will be: once the record says so, nothing may stand in the way.
  void make_room() {
    rooms_ = make_places(request_.queue, record_.number, record_.set, partitions(), true);
    for (Place& place : make_places(request_.queue, record_.number, record_.other, partitions())) {
      rooms_.push_back(std::move(place));
    }
    next_room();
  }

  void next_room() {
    if (rooms_.empty()) {
      record_.stage = Stage::moving;
      return write_record(true, &Mover::go_on);
    }
    const auto place = std::make_shared<Place>(std::move(rooms_.back()));
    rooms_.pop_back();
    run(
        place->closed ? Script::reshard_room : Script::create,
        [place](RedisCommand& command) {
          if (place->closed) {
            command.add("2").key(place->keys[Place::kMsgs]).key(place->keys[Place::kDue]);
            return;
          }
          command.add(static_cast<std::int64_t>(Place::kKeys));
          for (const std::string& key : place->keys) command.key(key);
          command.add(place->generation).add("").add("-").add("1");
        },
        [self = shared_from_this()](RedisView) { self->next_room(); });
  }

  void write_record(bool with_turn, Next next) {
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

  void go_on() {
    const std::uint64_t number = first_ ? 1 : step_of(request_.turn) + 1;
    step().turn = token(record_.turn, number);
    if (record_.stage == Stage::retiring) return retire();
    // Closes the old shards and makes the new ones.
    context_.directory.find(request_.queue, [self = shared_from_this()](Result<QueuePtr> queue) {
      if (!queue) return self->fail(std::move(queue).error());
      if (*queue == nullptr || (*queue)->closed == 0) {
        return self->fail(
            {ErrorCode::conflict,
             "another process goes on with the reshard of queue " + self->request_.queue});
      }
      self->queue_ = *std::move(queue);
      self->at_ = 0;
      self->begin_step();
    });
  }

  // Each step of a turn once: what one has left undone, by an error, the next turn sees to; and two
  // at a time would take each other's notes away.
  void begin_step() {
    run_on(
        queue_->shards[0], Script::reshard_step,
        [number = step_of(step().turn)](RedisCommand& command) {
          command.add(static_cast<std::int64_t>(number));
        },
        [self = shared_from_this()](RedisView) {
          if (self->first_) return self->look_for_void();
          self->read();
        });
  }

  // ---- taking over: what the last mover noted in an old shard is there yet, or ended there; so
  // its copies are void, and all else that is held is real. The old shards are fenced by the look.

  void look_for_void() {
    if (at_ == queue_->closed) return adopt_all();
    run_on(
        queue_->shards[at_], Script::reshard_look, [](RedisCommand&) {},
        [self = shared_from_this()](RedisView told) {
          self->add_void(told[2]);
          ++self->at_;
          self->look_for_void();
        });
  }

  void add_void(RedisView members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::string key;
      append_key(key, members[i].text(), secret());
      void_[&queue_->open_home(key, secret())].emplace_back(members[i].text());
    }
  }

  void adopt_all() {
    to_adopt_.clear();
    for (std::size_t i = queue_->closed; i < queue_->shards.size(); ++i) {
      to_adopt_.push_back(&queue_->shards[i]);
    }
    at_ = 0;
    adopt();
  }

  // ---- one slice: read, put, leave, adopt

  void read() {
    if (at_ == queue_->closed || slices_ == kSlices) return take_stock();
    run_on(
        queue_->shards[at_], Script::reshard_read,
        [](RedisCommand& command) { command.add(kSlice).add(kSliceBytes); },
        [self = shared_from_this()](RedisView told) {
          if (told.size() == 0) {
            ++self->at_;
            return self->read();
          }
          ++self->slices_;
          self->sort(told);
          self->put();
        });
  }

  void sort(RedisView told) {
    to_put_.clear();
    to_adopt_.clear();
    std::map<const Place*, Copies> homes;
    for (std::size_t i = 0; i + 1 < told.size(); i += 2) {
      std::string key;
      append_key(key, told[i].text(), secret());
      homes[&queue_->open_home(key, secret())].emplace_back(told[i].text(), told[i + 1].text());
    }
    for (auto& [place, copies] : homes) {
      to_put_.emplace_back(place, std::make_shared<Copies>(std::move(copies)));
      to_adopt_.push_back(place);
    }
  }

  void put() {
    if (to_put_.empty()) return leave();
    const auto [place, copies] = to_put_.front();
    to_put_.pop_front();
    run_on(
        *place, Script::reshard_put,
        [copies = copies](RedisCommand& command) {
          for (const auto& [member, copy] : *copies) command.add(member).add(copy);
        },
        [self = shared_from_this()](RedisView) { self->put(); });
  }

  void leave() {
    run_on(
        queue_->shards[at_], Script::reshard_leave, [](RedisCommand&) {},
        [self = shared_from_this()](RedisView told) {
          self->add_void(told);
          self->adopt();
        });
  }

  void adopt() {
    if (to_adopt_.empty()) {
      void_.clear();
      return read();
    }
    const Place* const place = to_adopt_.front();
    to_adopt_.pop_front();
    run_on(
        *place, Script::reshard_adopt,
        [self = shared_from_this(), place](RedisCommand& command) {
          const auto dropped = self->void_.find(place);
          if (dropped == self->void_.end()) return;
          for (const std::string& member : dropped->second) command.add(member);
        },
        [self = shared_from_this()](RedisView) { self->adopt(); });
  }

  // ---- the end: nothing is left, and no inbox has an entry that an old shard took

  void take_stock() {
    at_ = 0;
    cleaned_ = 0;
    step().moved = step().left = step().leased = 0;
    taken_.clear();
    gone_.clear();
    counted_.clear();
    look();
  }

  void look() {
    if (at_ == queue_->closed) return step().left == 0 ? look_at_inboxes() : asked_->complete();
    run_on(
        queue_->shards[at_], Script::reshard_look, [](RedisCommand&) {},
        [self = shared_from_this()](RedisView told) {
          ReshardStep& step = self->step();
          // More than a step moves may be left. Else all bodies are of what is leased.
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
          self->note_inboxes(fields);
          ++self->at_;
          self->look();
        });
  }

  void clean(std::string from) {
    run_on(
        queue_->shards[at_], Script::reshard_clean,
        [from = std::move(from)](RedisCommand& command) { command.add(from); },
        [self = shared_from_this()](RedisView told) {
          if (told.text() != "0") return self->clean(std::string(told.text()));
          self->cleaned_ = self->at_ + 1;
          self->look();
        });
  }

  // "in:3", and in it the last entry that the shard took from there.
  void note_inboxes(RedisView fields) {
    constexpr std::size_t kOrder = 41;
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
      if (!fields[i].text().starts_with("in:")) continue;
      std::string& last = taken_[std::string(fields[i].text().substr(3))];
      last = std::max(last, std::string(fields[i + 1].text().substr(0, kOrder)));
    }
  }

  void look_at_inboxes() {
    if (taken_.empty()) {
      at_ = queue_->closed;
      return gone_.empty() ? add_counters_of(0) : tell_of_inboxes();
    }
    look_at_inbox("-");
  }

  void look_at_inbox(std::string from) {
    const auto& [partition, order] = *taken_.begin();
    const auto last = read_stream_id(order);
    const std::string inbox = "tarry:{" + partition + "}:in";
    const std::string to =
        last ? std::to_string(last->ms) + "-" + std::to_string(last->number) : "-";
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
          self->gone_.insert(self->taken_.extract(self->taken_.begin()));
          self->look_at_inboxes();
        });
  }

  void tell_of_inboxes() {
    if (at_ == queue_->shards.size()) return add_counters_of(0);
    run_on(
        queue_->shards[at_], Script::reshard_seen,
        [self = shared_from_this()](RedisCommand& command) {
          for (const auto& [partition, order] : self->gone_) {
            command.add("in:" + partition).add(order);
          }
        },
        [self = shared_from_this()](RedisView) {
          ++self->at_;
          self->tell_of_inboxes();
        });
  }

  void add_counters_of(std::size_t shard) {
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
        },
        [self = shared_from_this()](RedisView) { self->add_counters_of(self->at_ + 1); });
  }

  void retire() {
    ShardSet closed = record_.other;
    closed.generation = record_.set.generation;
    for (Place& place : make_places(request_.queue, record_.number, closed, partitions(), true)) {
      old_.push_back(std::make_shared<Place>(std::move(place)));
    }
    retire_next();
  }

  void retire_next() {
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
          // One that an earlier mover has taken away already is told to be gone.
          if (!reply && !is_moved(reply.error())) return self->fail(std::move(reply).error());
          if (reply && reply->view().integer() == 0) {
            return self->fail(
                {ErrorCode::damaged, "shard " + place->name +
                                         " has messages again; nobody of tarry's puts "
                                         "any there"});
          }
          if (!reply) return self->retire_next();
          self->replicas_.confirm(reply->origin(), [self](Result<void> confirmed) {
            if (!confirmed) return self->stop_at(confirmed.error());
            self->retire_next();
          });
        });
  }

  void end() {
    step().done = true;
    asked_->complete();
  }

  using Copies = std::vector<std::pair<std::string, std::string>>;  // member, copy

  Context& context_;
  AskedPtr asked_;
  const core::ReshardRequest& request_;
  std::int64_t calls_left_;
  NodeReplicas replicas_;
  QueueRecord record_;
  std::string text_;    // the record as the store spells it
  bool first_ = false;  // this step began the turn
  std::vector<Place> rooms_;
  QueuePtr queue_;
  std::size_t at_ = 0;       // of the shards; the closed ones come first
  std::size_t cleaned_ = 0;  // of the closed shards, up to there
  int slices_ = 0;
  std::map<const Place*, std::vector<std::string>> void_;
  std::deque<std::pair<const Place*, std::shared_ptr<Copies>>> to_put_;
  std::deque<const Place*> to_adopt_;
  std::map<std::string, std::string> taken_;  // partition -> the last entry taken of its inbox
  std::map<std::string, std::string> gone_;   // the same, and none up to it is in the inbox
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> counted_;
  std::vector<std::shared_ptr<Place>> old_;
};

}  // namespace

void reshard(Context& context, const AskedPtr& asked, std::int64_t most_calls) {
  asked->reply = ReshardStep();
  std::make_shared<Mover>(context, asked, most_calls)->start();
}

}  // namespace tarry::redis
