// Verbs on a queue as a whole: each of its shards is asked.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/rules/expiry.h"
#include "core/rules/validation.h"
#include "core/settings/queue_limits.h"
#include "core/settings/settings_table.h"
#include "engines/redis/queues/shard_stats.h"
#include "engines/redis/verbs/limited.h"
#include "engines/redis/verbs/shard_calls.h"
#include "engines/redis/verbs/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

constexpr std::int64_t kAtOnce = 1'000;  // messages that one call of purge or revive moves

void write_settings(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ConfigureRequest>(asked->request);
  auto calls = std::make_shared<ShardCalls>(context, asked, request.queue, Script::configure);
  calls->makes = true;
  calls->verb = "configure";
  calls->build = [&patch = request.patch](const Place&, RedisCommand& command) {
    command.add("set");
    core::each_setting([&](const auto& row) {
      const auto& change = patch.*row.change;
      command.add(change ? spell_setting(*change) : "");
    });
  };
  calls->read = [asked](const Place&, RedisView reply, bool&) {
    std::get<core::ConfigureReply>(asked->reply).settings = read_settings(reply.text());
    return reply.kind() == RedisView::Kind::text;
  };
  calls->start();
}

void sweep(Context& context, const AskedPtr& asked, const std::string& queue, Script script,
           std::string_view verb) {
  auto calls = std::make_shared<ShardCalls>(context, asked, queue, script);
  calls->in_order = true;
  calls->verb = verb;
  calls->messages = [asked] { return std::get<core::CountReply>(asked->reply).count; };
  calls->build = [](const Place&, RedisCommand& command) { command.add(kAtOnce); };
  calls->read = [asked](const Place&, RedisView reply, bool& again) {
    if (reply.size() != 2) return false;
    std::get<core::CountReply>(asked->reply).count +=
        static_cast<std::uint64_t>(reply[0].integer());
    again = reply[1].integer() != 0;
    return true;
  };
  calls->start();
}

// Asks for a few queues at a time, even if the store has many.
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
      auto& reply = std::get<StoreStats>(self->asked_->reply);
      if (error) {
        reply.unreadable.push_back({name, *std::move(error)});
      } else if (*there) {
        reply.queues.push_back(sum->take(name));
      }
      self->next();
    };
    calls->start();
  }

  // A broken queue must not hide the others. If no queue can be read, the store is broken, and the
  // request fails.
  void end() {
    auto& reply = std::get<StoreStats>(asked_->reply);
    std::ranges::sort(reply.queues, {}, &QueueStats::queue);
    std::ranges::sort(reply.unreadable, {}, &UnreadableQueue::queue);
    if (!reply.unreadable.empty() && reply.queues.empty()) {
      return asked_->fail(reply.unreadable.front().error);
    }
    const auto& request = std::get<core::StatsRequest>(asked_->request);
    if (!request.queue.empty() && reply.queues.empty()) {
      return asked_->fail(no_such_queue(request.queue));
    }
    asked_->complete();
  }

  Context& context_;
  AskedPtr asked_;
  std::vector<std::string> names_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  bool ended_ = false;
};

void tell_names(const AskedPtr& asked, std::vector<Directory::Listed> listed) {
  auto& queues = std::get<StoreStats>(asked->reply).queues;
  for (Directory::Listed& one : listed) {
    QueueStats& queue = queues.emplace_back();
    queue.queue = std::move(one.queue);
    queue.shards = one.shards;
  }
  asked->complete();
}

std::vector<std::string> names_of(std::vector<Directory::Listed> listed) {
  std::vector<std::string> names;
  for (Directory::Listed& one : listed) names.push_back(std::move(one.queue));
  return names;
}

}  // namespace

void configure(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ConfigureRequest>(asked->request);
  asked->reply = core::ConfigureReply();
  // The current settings decide whether the patch fits; no queue is made for a patch that does not
  // fit.
  auto now = std::make_shared<QueueSettings>();
  auto look = std::make_shared<ShardCalls>(context, asked, request.queue, Script::stats);
  look->reads_only = true;
  look->read = [now](const Place&, RedisView reply, bool&) {
    *now = read_settings(reply[1].text());
    return reply.size() == 10;
  };
  look->done = [&context, asked, now, &patch = request.patch](std::optional<Error> error) {
    if (!error) error = core::check_patch(patch, *now);
    if (!error && core::refuse_expiry("", patch)) error = context.identity.refuse_expiry();
    if (!error) error = core::refuse_groups("redis", patch);
    if (error) return asked->fail(std::move(*error));
    check_limits(context, std::get<core::ConfigureRequest>(asked->request).queue, patch,
                 [&context, asked](std::optional<Error> refused) {
                   if (refused) return asked->fail(std::move(*refused));
                   write_settings(context, asked);
                 });
  };
  look->start();
}

void pause(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::PauseRequest>(asked->request);
  asked->reply = core::CountReply();
  auto calls = std::make_shared<ShardCalls>(context, asked, request.queue, Script::configure);
  calls->makes = true;
  calls->verb = "pause";
  calls->build = [until = request.until](const Place&, RedisCommand& command) {
    command.add("pause");
    command.add(until ? std::to_string(until->time_since_epoch().count()) : "");
  };
  calls->read = [asked](const Place&, RedisView reply, bool&) {
    if (reply.integer() > 0) ++std::get<core::CountReply>(asked->reply).count;
    return true;
  };
  calls->moved = [asked] { asked->reply = core::CountReply(); };
  calls->start();
}

void resume(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ResumeRequest>(asked->request);
  asked->reply = core::CountReply();
  auto calls = std::make_shared<ShardCalls>(context, asked, request.queue, Script::configure);
  calls->verb = "resume";
  calls->build = [](const Place&, RedisCommand& command) { command.add("resume"); };
  calls->read = [](const Place&, RedisView, bool&) { return true; };
  calls->start();
}

void purge(Context& context, const AskedPtr& asked) {
  asked->reply = core::CountReply();
  sweep(context, asked, std::get<core::PurgeRequest>(asked->request).queue, Script::purge, "purge");
}

void revive(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ReviveRequest>(asked->request);
  asked->reply = core::CountReply();
  if (request.all) return sweep(context, asked, request.queue, Script::revive, "revive");
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
  const bool names_only = request.names_only;
  context.directory.list(
      [&context, asked, names_only](Result<std::vector<Directory::Listed>> listed) {
        if (!listed) return asked->fail(std::move(listed).error());
        if (names_only) return tell_names(asked, *std::move(listed));
        std::make_shared<StoreStatsCall>(context, asked, names_of(*std::move(listed)))->start();
      });
}

}  // namespace tarry::redis
