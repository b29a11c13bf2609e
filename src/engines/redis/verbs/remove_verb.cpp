// Remove: first the queue's shards are held (closed to claims), and no message may be leased. Then
// the queue's record says that it is being removed; from here on there is no way back. Then
// everything is deleted.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "engines/redis/node/countdown.h"
#include "engines/redis/queues/removal.h"
#include "engines/redis/verbs/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using Stage = QueueRecord::Stage;

// A hold prevents claims for at most this long. The removal must begin in the first half of that
// time, or it does not begin.
constexpr std::uint64_t kHoldMs = 20'000;
// How often a removal is begun before the caller gets an error.
constexpr int kMostBegun = 5;

class Remover : public std::enable_shared_from_this<Remover> {
 public:
  Remover(Context& context, AskedPtr asked, std::int64_t most_calls)
      : context_(context),
        asked_(std::move(asked)),
        request_(std::get<core::RemoveRequest>(asked_->request)),
        calls_left_(most_calls) {}

  void start() {
    context_.directory.read(
        request_.queue, [self = shared_from_this()](Result<std::optional<Directory::Read>> found) {
          if (!found) return self->fail(std::move(found).error());
          if (!*found) return self->fail(no_such_queue(self->request_.queue));
          self->record_ = std::move((*found)->record);
          self->text_ = std::move((*found)->text);
          self->look();
        });
  }

 private:
  struct Held {
    std::string till;  // when the hold ends; empty: the shard was not changed
    std::string before;
  };

  [[nodiscard]] Error begun(const Error& why) const {
    return {ErrorCode::unknown_outcome,
            "the removal of queue " + request_.queue +
                " has begun, and is ended by whoever uses it next: " + why.message};
  }
  void fail(Error error) { asked_->fail(std::move(error)); }

  void look() {
    switch (record_.stage) {
      case Stage::removing: return end();
      case Stage::moving:
      case Stage::retiring:
        return fail(
            {ErrorCode::conflict, "queue " + request_.queue + " is being resharded to " +
                                      std::to_string(open_set(record_).shards) +
                                      " shards; complete that first (tarry queue reshard)"});
      case Stage::settled: break;
    }
    begin_by_.clear();
    shards_.clear();
    // A forced removal takes the queue as it is, even half made or with keys that are not ours.
    if (request_.force) return begin();
    make_whole();
  }

  // Makes missing shards: the process that made the queue may have been killed too early.
  void make_whole() {
    context_.directory.forget(request_.queue);
    context_.directory.find(request_.queue, [self = shared_from_this()](Result<QueuePtr> queue) {
      if (!queue) return self->fail(std::move(queue).error());
      if (*queue == nullptr) return self->fail(no_such_queue(self->request_.queue));
      self->look_at_clock();
    });
  }

  // Asks the server that has the record: it will decide whether the queue is still held.
  void look_at_clock() {
    run_begin("", "", [self = shared_from_this()](std::string_view now) {
      const auto ms = base::parse_u64(now, "time", 0, INT64_MAX);
      if (!ms) return self->fail(strange_reply(self->context_.server, Script::remove_begin));
      self->begin_by_ = std::to_string(*ms + kHoldMs / 2);
      self->hold();
    });
  }

  void run_begin(std::string record, std::string until,
                 base::UniqueFunction<void(std::string_view)> told) {
    context_.server.run(
        Script::remove_begin,
        [self = shared_from_this(), record = std::move(record),
         until = std::move(until)](RedisCommand& command) {
          command.add("2").key(partition_key(0, "store")).key(partition_key(0, "queues"));
          command.add(self->request_.queue).add(self->text_).add(record);
          command.add(self->context_.server.time_argument()).add(until);
          command.add(partition_key(0, "wake"));
        },
        [self = shared_from_this(), told = std::move(told)](Result<RedisReply> reply) mutable {
          if (reply) return told(reply->view().text());
          self->error_ = std::move(reply).error();
          self->let_go();
        });
  }

  void hold() {
    shards_ =
        make_places(request_.queue, record_.number, record_.set, context_.directory.partitions());
    held_.assign(shards_.size(), {});
    leased_ = 0;
    error_.reset();
    on_each({"hold", std::to_string(kHoldMs)}, &Remover::is_held);
  }

  using Next = void (Remover::*)();

  // Calls remove_hold.lua on each shard. The first word is the action; for 'free' the other
  // argument is the shard's last answer.
  void on_each(std::vector<std::string> words, Next next) {
    const auto countdown =
        std::make_shared<Countdown>([self = shared_from_this(), next] { (self.get()->*next)(); });
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      countdown->begin();
      context_.server.run(
          Script::remove_hold,
          [self = shared_from_this(), words, i](RedisCommand& command) {
            const Place& place = self->shards_[i];
            command.add(static_cast<std::int64_t>(Place::kKeys));
            for (const std::string& key : place.keys) command.key(key);
            command.add(place.generation).add(self->context_.server.time_argument());
            command.add(place.name).add(place.channel);
            for (const std::string& word : words) command.add(word);
            if (words.size() == 1) command.add(self->held_[i].till).add(self->held_[i].before);
          },
          [self = shared_from_this(), countdown, i](Result<RedisReply> reply) {
            self->take_hold(i, std::move(reply));
            countdown->end();
          });
    }
    countdown->end();
  }

  void take_hold(std::size_t shard, Result<RedisReply> reply) {
    if (!reply) {
      if (!error_) error_ = std::move(reply).error();
      return;
    }
    const net::RedisView told = reply->view();
    if (told.size() != 3) {
      if (!error_) error_ = strange_reply(context_.server, Script::remove_hold);
      return;
    }
    leased_ += static_cast<std::uint64_t>(told[0].integer());
    held_[shard] = {std::string(told[1].text()), std::string(told[2].text())};
  }

  void is_held() {
    if (!error_ && leased_ > 0) {
      error_ = {ErrorCode::conflict, "queue " + request_.queue + " has " + std::to_string(leased_) +
                                         (leased_ == 1 ? " message" : " messages") +
                                         " leased; wait until they are settled, or force it"};
    }
    if (error_) return let_go();
    begin();
  }

  // If a shard cannot be released, claims work there again when its hold ends.
  void let_go() {
    first_error_ = std::move(error_);
    on_each({"free"}, &Remover::gone_on);
  }
  void gone_on() {
    Error error = *std::move(first_error_);
    if (!is_moved(error)) return fail(std::move(error));
    if (++begun_ < kMostBegun) return start();
    fail({ErrorCode::conflict,
          "queue " + request_.queue + " keeps being changed by other clients; try again"});
  }

  void begin() {
    record_.stage = Stage::removing;
    run_begin(spell_record(record_), begin_by_, [self = shared_from_this()](std::string_view told) {
      auto record = read_record(told);
      if (!record) return self->fail(strange_reply(self->context_.server, Script::remove_begin));
      self->record_ = *std::move(record);
      self->text_ = told;
      self->end();
    });
  }

  void end() {
    context_.directory.forget(request_.queue);
    end_removal(context_.server,
                {request_.queue, record_, text_, context_.directory.partitions(), calls_left_},
                [self = shared_from_this()](Result<std::uint64_t> removed) {
                  self->context_.directory.forget(self->request_.queue);
                  if (!removed) return self->fail(self->begun(removed.error()));
                  std::get<core::CountReply>(self->asked_->reply).count = *removed;
                  self->asked_->complete();
                });
  }

  Context& context_;
  AskedPtr asked_;
  const core::RemoveRequest& request_;
  const std::int64_t calls_left_;
  int begun_ = 0;
  QueueRecord record_;
  std::string text_;  // the record as the store spells it
  std::vector<Place> shards_;
  std::string begin_by_;    // ms; empty: at any time
  std::vector<Held> held_;  // by shard
  std::uint64_t leased_ = 0;
  std::optional<Error> error_;
  std::optional<Error> first_error_;
};

}  // namespace

void remove(Context& context, const AskedPtr& asked, std::int64_t most_calls) {
  asked->reply = core::CountReply();
  std::make_shared<Remover>(context, asked, most_calls)->start();
}

}  // namespace tarry::redis
