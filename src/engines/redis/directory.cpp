#include "engines/redis/directory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "core/limits.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

constexpr std::array<std::pair<char, IfExists>, 5> kRules = {{{'r', IfExists::reject},
                                                              {'k', IfExists::keep},
                                                              {'p', IfExists::replace},
                                                              {'e', IfExists::earlier},
                                                              {'l', IfExists::later}}};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (space > 0) found.push_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return found;
}

std::int64_t number_of(std::string_view text) noexcept {
  std::int64_t value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

char letter_of(IfExists rule) noexcept {
  return std::ranges::find(kRules, rule, &std::pair<char, IfExists>::second)->first;
}

std::string spell_settings(const QueueSettings& settings) {
  std::string text;
  for (const std::int64_t value :
       {std::int64_t{settings.lease.count()}, std::int64_t{settings.max_attempts},
        std::int64_t{settings.backoff_min.count()}, std::int64_t{settings.backoff_max.count()},
        std::int64_t{settings.remember.count()}, std::int64_t{settings.dead_keep.count()}}) {
    text += std::to_string(value) + " ";
  }
  return text + letter_of(settings.if_exists);
}

QueueSettings read_settings(std::string_view text) {
  const auto found = words(text);
  QueueSettings settings;
  if (found.size() != 7) return settings;
  settings.lease = Millis(number_of(found[0]));
  settings.max_attempts = static_cast<std::uint32_t>(number_of(found[1]));
  settings.backoff_min = Millis(number_of(found[2]));
  settings.backoff_max = Millis(number_of(found[3]));
  settings.remember = Millis(number_of(found[4]));
  settings.dead_keep = Millis(number_of(found[5]));
  const auto rule = std::ranges::find(kRules, found[6].front(), &std::pair<char, IfExists>::first);
  if (rule != kRules.end()) settings.if_exists = rule->second;
  return settings;
}

Directory::Directory(Server& server, std::uint32_t partitions, std::uint32_t new_shards)
    : server_(server), partitions_(partitions), new_shards_(new_shards) {}

void Directory::forget(std::string_view queue) {
  const auto found = queues_.find(std::string(queue));
  if (found == queues_.end()) return;
  names_.erase(found->second->number);
  queues_.erase(found);
}

void Directory::clear() {
  queues_.clear();
  names_.clear();
}

QueuePtr Directory::known(const std::string& queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : found->second;
}

void Directory::find(std::string_view queue, Found done) {
  std::string name(queue);
  if (const auto known = queues_.find(name); known != queues_.end()) {
    done(known->second);
    return;
  }
  RedisCommand get("HGET");
  get.key(partition_key(0, "queues")).add(name);
  server_.command(std::move(get), [this, name = std::move(name),
                                   done = std::move(done)](Result<RedisReply> reply) mutable {
    if (!reply) return done(std::move(reply).error());
    if (reply->view().is_nil()) return done(QueuePtr());
    learn(name, reply->view().text(), std::move(done));
  });
}

void Directory::make(std::string_view queue, Found done) {
  std::string name(queue);
  if (const auto known = queues_.find(name); known != queues_.end()) {
    done(known->second);
    return;
  }
  server_.run(
      Script::open_queue,
      [this, name](RedisCommand& command) {
        command.add("3");
        command.key(partition_key(0, "store"));
        command.key(partition_key(0, "queues"));
        command.key(partition_key(0, "numbers"));
        command.add(name).add(std::int64_t{new_shards_});
        command.add(static_cast<std::int64_t>(core::kMaxQueues)).add(partition_key(0, "wake"));
      },
      [this, name, done = std::move(done)](Result<RedisReply> reply) mutable {
        if (!reply) return done(std::move(reply).error());
        learn(name, reply->view().text(), std::move(done));
      });
}

void Directory::find_number(std::uint32_t number, Found done) {
  if (const auto name = names_.find(number); name != names_.end()) {
    const QueuePtr queue = known(name->second);
    if (queue != nullptr && queue->number == number) return done(queue);
  }
  RedisCommand get("HGET");
  get.key(partition_key(0, "numbers")).add(std::int64_t{number});
  server_.command(std::move(get), [this, done = std::move(done)](Result<RedisReply> reply) mutable {
    if (!reply) return done(std::move(reply).error());
    if (reply->view().is_nil()) return done(QueuePtr());
    find(reply->view().text(), std::move(done));
  });
}

void Directory::list(Names done) {
  RedisCommand keys("HKEYS");
  keys.key(partition_key(0, "queues"));
  server_.command(std::move(keys), [done = std::move(done)](Result<RedisReply> reply) mutable {
    if (!reply) return done(std::move(reply).error());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < reply->view().size(); ++i) {
      const std::string_view name = reply->view()[i].text();
      if (!name.empty()) names.emplace_back(name);  // not the placeholder
    }
    std::ranges::sort(names);
    done(std::move(names));
  });
}

// A record is written before the shards are made: whoever finds it makes what is missing.
void Directory::learn(std::string_view queue, std::string_view record, Found done) {
  const auto parts = words(record);
  const std::int64_t number = parts.size() == 3 ? number_of(parts[0]) : 0;
  const std::int64_t shards = parts.size() == 3 ? number_of(parts[1]) : 0;
  if (number <= 0 || number > UINT32_MAX || shards <= 0 || shards > core::kMaxShards) {
    done(Error{ErrorCode::damaged, "Redis at " + server_.name() + " has a record of queue " +
                                       std::string(queue) +
                                       " that is none: " + std::string(record)});
    return;
  }
  create_shards(make_places(queue, static_cast<std::uint32_t>(number),
                            static_cast<std::uint32_t>(shards), parts[2], partitions_),
                std::move(done));
}

void Directory::create_shards(QueuePtr queue, Found done) {
  struct Making {
    Found done;
    QueuePtr queue;
    std::size_t left = 0;
    std::optional<Error> error;
  };
  auto making = std::make_shared<Making>();
  making->done = std::move(done);
  making->queue = queue;
  making->left = queue->shards.size();
  for (const Place& place : queue->shards) {
    server_.run(
        Script::create,
        [making, &place](RedisCommand& command) {
          command.add(static_cast<std::int64_t>(Place::kKeys));
          for (const std::string& key : place.keys) command.key(key);
          command.add(place.generation).add(spell_settings(QueueSettings()));
        },
        [this, making](Result<RedisReply> reply) {
          if (!reply && !making->error) making->error = std::move(reply).error();
          if (--making->left > 0) return;
          if (making->error) return making->done(*making->error);
          queues_[making->queue->name] = making->queue;
          names_[making->queue->number] = making->queue->name;
          making->done(making->queue);
        });
  }
}

}  // namespace tarry::redis
