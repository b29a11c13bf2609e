// Verbs on a queue as a whole: each of its shards is asked.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/validation.h"
#include "engines/redis/parted.h"
#include "engines/redis/shard_stats.h"
#include "engines/redis/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

constexpr std::int64_t kSlice = 1'000;  // messages that one call of purge or revive moves

// One queue's shards, each asked the same; done again where the queue has moved.
class ShardCalls : public std::enable_shared_from_this<ShardCalls> {
 public:
  using Build = std::function<void(RedisCommand&)>;
  /// False: an answer that cannot be read. `again`: the same shard is to be asked once more.
  using Read = std::function<bool(const Place&, RedisView, bool& again)>;
  using Absent = std::function<void()>;

  ShardCalls(Context& context, AskedPtr asked, std::string queue, Script script)
      : context_(context), asked_(std::move(asked)), queue_(std::move(queue)), script_(script) {}

  bool makes = false;
  bool reads_only = false;
  /// While the queue gets other shards: the closed ones first, then what is on its way, then the
  /// rest.
  bool in_order = false;
  Build build = [](RedisCommand&) {};
  Read read;
  Absent absent = [] {};
  /// All shards are asked again.
  std::function<void()> moved = [] {};
  /// Instead of the completion of what was asked.
  std::function<void(std::optional<Error>)> done;

  void start() {
    auto found = [self = shared_from_this()](Result<QueuePtr> queue) {
      if (!queue) return self->end(std::move(queue).error());
      if (*queue == nullptr) {
        self->absent();
        return self->end(std::nullopt);
      }
      self->ask_all(*queue);
    };
    if (makes) {
      context_.directory.make(queue_, std::move(found));
    } else {
      context_.directory.find(queue_, std::move(found));
    }
  }

 private:
  void ask_all(const QueuePtr& queue) {
    if (!in_order || queue->closed == 0) return ask_these(queue, 0, queue->shards.size());
    closed_first_ = true;
    ask_these(queue, 0, queue->closed);
  }

  void ask_these(const QueuePtr& queue, std::size_t from, std::size_t to) {
    left_ = to - from;
    for (; from < to; ++from) ask(queue, queue->shards[from]);
  }

  void ask(const QueuePtr& queue, const Place& place) {
    context_.server.run_on(
        place, script_,
        [self = shared_from_this()](RedisCommand& command) { self->build(command); },
        [self = shared_from_this(), queue, &place](Result<RedisReply> reply) {
          bool again = false;
          if (!reply) {
            if (!self->error_) self->error_ = std::move(reply).error();
          } else if (!self->read(place, reply->view(), again)) {
            self->error_ = strange_reply(self->context_.server, self->script_);
          }
          if (again && !self->error_) return self->ask(queue, place);
          if (--self->left_ > 0) return;
          self->asked(queue);
        });
  }

  void asked(const QueuePtr& queue) {
    if (!error_ && std::exchange(closed_first_, false)) {
      return settle_held(context_, queue, [self = shared_from_this(), queue](Result<void> settled) {
        if (settled) return self->ask_these(queue, queue->closed, queue->shards.size());
        self->error_ = std::move(settled).error();
        self->asked(queue);
      });
    }
    closed_first_ = false;
    if (error_ && is_moved(*error_) && ++tries_ < 5) {
      error_.reset();
      moved();
      context_.directory.forget(queue_);
      context_.identity.doubt();
      return context_.identity.check([self = shared_from_this()](Result<void> checked) {
        if (!checked) return self->end(std::move(checked).error());
        self->start();
      });
    }
    end(std::exchange(error_, std::nullopt));
  }

  void end(std::optional<Error> error) {
    if (error && reads_only && error->code == ErrorCode::unknown_outcome) {
      error->code = ErrorCode::unavailable;
    }
    if (done) return done(std::move(error));
    if (error) return asked_->fail(std::move(*error));
    asked_->complete();
  }

  Context& context_;
  AskedPtr asked_;
  std::string queue_;
  Script script_;
  std::size_t left_ = 0;
  bool closed_first_ = false;
  int tries_ = 0;
  std::optional<Error> error_;
};

void write_settings(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ConfigureRequest>(asked->request);
  auto calls = std::make_shared<ShardCalls>(context, asked, request.queue, Script::configure);
  calls->makes = true;
  calls->build = [&patch = request.patch](RedisCommand& command) {
    const auto add = [&](const auto& value) {
      command.add(value ? std::to_string(value->count()) : "");
    };
    command.add("set");
    add(patch.lease);
    command.add(patch.max_attempts ? std::to_string(*patch.max_attempts) : "");
    add(patch.backoff_min);
    add(patch.backoff_max);
    add(patch.remember);
    add(patch.dead_keep);
    command.add(patch.if_exists ? std::string(1, letter_of(*patch.if_exists)) : "");
  };
  calls->read = [asked](const Place&, RedisView reply, bool&) {
    std::get<core::ConfigureReply>(asked->reply).settings = read_settings(reply.text());
    return reply.kind() == RedisView::Kind::text;
  };
  calls->start();
}

void sweep(Context& context, const AskedPtr& asked, const std::string& queue, Script script) {
  auto calls = std::make_shared<ShardCalls>(context, asked, queue, script);
  calls->in_order = true;
  calls->build = [](RedisCommand& command) { command.add(kSlice); };
  calls->read = [asked](const Place&, RedisView reply, bool& again) {
    if (reply.size() != 2) return false;
    std::get<core::CountReply>(asked->reply).count +=
        static_cast<std::uint64_t>(reply[0].integer());
    again = reply[1].integer() != 0;
    return true;
  };
  calls->start();
}

// Queue after queue, so that a store of many asks for a few at a time.
class StoreStatsCall : public std::enable_shared_from_this<StoreStatsCall> {
 public:
  StoreStatsCall(Context& context, AskedPtr asked, std::vector<std::string> names)
      : context_(context), asked_(std::move(asked)), names_(std::move(names)) {}

  void start() {
    for (std::size_t i = 0; i < 16; ++i) next();
  }

 private:
  void next() {
    if (next_ == names_.size()) {
      if (running_ == 0 && !std::exchange(ended_, true)) end();
      return;
    }
    ++running_;
    const std::string name = names_[next_++];
    auto sum = std::make_shared<ShardStats>();
    auto calls = std::make_shared<ShardCalls>(context_, asked_, name, Script::stats);
    calls->reads_only = true;
    calls->read = [sum](const Place& place, RedisView reply, bool&) {
      return sum->add(place, reply);
    };
    calls->moved = [sum] { *sum = ShardStats(); };
    auto there = std::make_shared<bool>(true);
    calls->absent = [there] { *there = false; };
    calls->done = [self = shared_from_this(), sum, name, there](std::optional<Error> error) {
      --self->running_;
      if (error && !self->error_) self->error_ = std::move(error);
      if (*there) {
        std::get<StoreStats>(self->asked_->reply).queues.push_back(sum->take(name));
      }
      self->next();
    };
    calls->start();
  }

  void end() {
    if (error_) return asked_->fail(std::move(*error_));
    auto& reply = std::get<StoreStats>(asked_->reply);
    std::ranges::sort(reply.queues, {}, &QueueStats::queue);
    const auto& request = std::get<core::StatsRequest>(asked_->request);
    if (!request.queue.empty() && reply.queues.empty()) {
      return asked_->fail({ErrorCode::not_found, "there is no queue " + request.queue});
    }
    asked_->complete();
  }

  Context& context_;
  AskedPtr asked_;
  std::vector<std::string> names_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace

void configure(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ConfigureRequest>(asked->request);
  asked->reply = core::ConfigureReply();
  // What is there now says whether the patch fits; nothing is made for one that does not.
  auto now = std::make_shared<QueueSettings>();
  auto look = std::make_shared<ShardCalls>(context, asked, request.queue, Script::stats);
  look->reads_only = true;
  look->read = [now](const Place&, RedisView reply, bool&) {
    *now = read_settings(reply[1].text());
    return reply.size() == 10;
  };
  look->done = [&context, asked, now, &patch = request.patch](std::optional<Error> error) {
    if (!error) error = core::check_patch(patch, *now);
    if (error) return asked->fail(std::move(*error));
    write_settings(context, asked);
  };
  look->start();
}

void pause(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::PauseRequest>(asked->request);
  asked->reply = core::CountReply();
  auto calls = std::make_shared<ShardCalls>(context, asked, request.queue, Script::configure);
  calls->makes = true;
  calls->build = [until = request.until](RedisCommand& command) {
    command.add("pause");
    command.add(until ? std::to_string(until->time_since_epoch().count()) : "");
  };
  calls->read = [](const Place&, RedisView, bool&) { return true; };
  calls->start();
}

void resume(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ResumeRequest>(asked->request);
  asked->reply = core::CountReply();
  auto calls = std::make_shared<ShardCalls>(context, asked, request.queue, Script::configure);
  calls->build = [](RedisCommand& command) { command.add("resume"); };
  calls->read = [](const Place&, RedisView, bool&) { return true; };
  calls->start();
}

void purge(Context& context, const AskedPtr& asked) {
  asked->reply = core::CountReply();
  sweep(context, asked, std::get<core::PurgeRequest>(asked->request).queue, Script::purge);
}

void revive(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ReviveRequest>(asked->request);
  asked->reply = core::CountReply();
  if (request.all) return sweep(context, asked, request.queue, Script::revive);
  revive_some(context, asked);
}

void stats(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::StatsRequest>(asked->request);
  StoreStats reply;
  reply.engine = "redis";
  asked->reply = std::move(reply);
  if (!request.queue.empty()) {
    std::make_shared<StoreStatsCall>(context, asked, std::vector{request.queue})->start();
    return;
  }
  context.directory.list([&context, asked](Result<std::vector<std::string>> names) {
    if (!names) return asked->fail(std::move(names).error());
    std::make_shared<StoreStatsCall>(context, asked, *std::move(names))->start();
  });
}

}  // namespace tarry::redis
