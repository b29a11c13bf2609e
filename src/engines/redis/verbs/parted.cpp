#include "engines/redis/verbs/parted.h"

#include <map>
#include <optional>
#include <utility>

#include "engines/redis/records/member.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

class Settling : public std::enable_shared_from_this<Settling> {
 public:
  using Done = base::UniqueFunction<void(Result<std::vector<bool>>)>;

  Settling(Context& context, QueuePtr queue, std::vector<std::string> keys, Done done)
      : context_(context),
        queue_(std::move(queue)),
        keys_(std::move(keys)),
        gone_(keys_.size(), false),
        state_(keys_.size(), 'h'),
        done_(std::move(done)) {}

  void start() {
    const auto countdown = std::make_shared<Countdown>([self = shared_from_this()] {
      if (self->error_) return self->done_(*std::move(self->error_));
      self->adopt();
    });
    std::map<const Place*, Items> homes;
    for (std::uint32_t i = 0; i < keys_.size(); ++i) {
      homes[&queue_->closed_home(keys_[i], context_.identity.secret())].push_back(i);
    }
    for (auto& [place, items] : homes) ask(*place, std::move(items), countdown);
    countdown->end();
  }

 private:
  [[nodiscard]] std::string_view member(std::uint32_t i) {
    return member_of(keys_[i], context_.identity.secret(), scratch_);
  }

  void ask(const Place& place, Items items, const std::shared_ptr<Countdown>& countdown) {
    countdown->begin();
    const auto shared = std::make_shared<Items>(std::move(items));
    context_.server.run_on(
        place, Script::parted,
        [self = shared_from_this(), shared](RedisCommand& command) {
          for (const std::uint32_t i : *shared) command.add(self->member(i));
        },
        [self = shared_from_this(), shared, countdown](Result<RedisReply> reply) {
          if (!reply) {
            self->error_ = std::move(reply).error();
          } else {
            for (std::size_t i = 0; i < shared->size(); ++i) {
              const std::string_view told = reply->view()[i].text();
              const std::uint32_t item = (*shared)[i];
              self->state_[item] = told.empty() ? 'h' : told.front();
              self->gone_[item] = self->state_[item] != 'h';
            }
          }
          countdown->end();
        });
  }

  void adopt() {
    const auto countdown = std::make_shared<Countdown>([self = shared_from_this()] {
      if (self->error_) return self->done_(*std::move(self->error_));
      self->done_(std::move(self->gone_));
    });
    std::map<const Place*, Items> homes;
    for (std::uint32_t i = 0; i < keys_.size(); ++i) {
      if (!gone_[i]) continue;
      homes[&queue_->open_home(keys_[i], context_.identity.secret())].push_back(i);
    }
    for (auto& [place, items] : homes) {
      countdown->begin();
      context_.server.run_on(
          *place, Script::adopt,
          [self = shared_from_this(), items = std::move(items)](RedisCommand& command) {
            for (const std::uint32_t i : items) {
              command.add(std::string_view(&self->state_[i], 1)).add(self->member(i));
            }
          },
          [self = shared_from_this(), countdown](Result<RedisReply> reply) {
            if (!reply) self->error_ = std::move(reply).error();
            countdown->end();
          });
    }
    countdown->end();
  }

  Context& context_;
  QueuePtr queue_;
  const std::vector<std::string> keys_;
  std::vector<bool> gone_;
  std::vector<char> state_;  // the letters that scripts/parted.lua answers
  Done done_;
  std::optional<Error> error_;
  std::string scratch_;
};

}  // namespace

void settle_parted(Context& context, const QueuePtr& queue, std::vector<std::string> keys,
                   base::UniqueFunction<void(Result<std::vector<bool>>)> done) {
  std::make_shared<Settling>(context, queue, std::move(keys), std::move(done))->start();
}

void settle_held(Context& context, const QueuePtr& queue,
                 base::UniqueFunction<void(Result<void>)> done) {
  struct Found {
    std::vector<std::string> keys;
    std::optional<Error> error;
    base::UniqueFunction<void(Result<void>)> done;
  };
  auto found = std::make_shared<Found>();
  found->done = std::move(done);
  const auto countdown = std::make_shared<Countdown>([&context, queue, found] {
    if (found->error) return found->done(*std::move(found->error));
    if (found->keys.empty()) return found->done({});
    settle_parted(context, queue, std::move(found->keys), [found](Result<std::vector<bool>> gone) {
      found->done(gone ? Result<void>() : Result<void>(std::move(gone).error()));
    });
  });
  for (std::size_t i = queue->closed; i < queue->shards.size(); ++i) {
    countdown->begin();
    context.server.run_on(
        queue->shards[i], Script::reshard_look, [](RedisCommand& command) { command.add("0"); },
        [&context, found, countdown, queue](Result<RedisReply> reply) {
          if (!reply) {
            found->error = std::move(reply).error();
          } else {
            const net::RedisView members = reply->view()[2];
            for (std::size_t at = 0; at < members.size(); ++at) {
              append_key(found->keys.emplace_back(), members[at].text(), context.identity.secret());
            }
          }
          countdown->end();
        });
  }
  countdown->end();
}

}  // namespace tarry::redis
