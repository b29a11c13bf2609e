#include "engines/redis/queues/directory.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "core/limits.h"
#include "core/settings/objective.h"
#include "core/settings/settings_table.h"
#include "engines/redis/node/countdown.h"
#include "engines/redis/queues/rate_bucket.h"
#include "engines/redis/queues/removal.h"
#include "engines/redis/records/if_exists_letter.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

std::int64_t number_of(std::string_view text) noexcept {
  std::int64_t value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void read_word(std::string_view word, Millis& into) { into = Millis(number_of(word)); }
void read_word(std::string_view word, std::uint32_t& into) {
  into = static_cast<std::uint32_t>(number_of(word));
}
void read_word(std::string_view word, IfExists& into) {
  into = rule_of(word.front()).value_or(into);
}
void read_word(std::string_view word, Objective& into) {
  const Objective read = core::objective_of(static_cast<std::uint64_t>(number_of(word)));
  if (core::is_objective(read)) into = read;
}

void read_word(std::string_view word, DeliveryRate& into) { into = read_rate(word); }

// Redis has no groups and no order in groups: the word is 0.
void read_word(std::string_view /*word*/, Grouping& /*into*/) {}
void read_word(std::string_view /*word*/, GroupOrder& /*into*/) {}

void read_word(std::string_view word, OnExpiry& into) {
  into = number_of(word) == 0 ? OnExpiry::end : OnExpiry::dead;
}

// The first version wrote this many words of settings; later versions write at least as many.
constexpr std::size_t kFewestWords = 7;

// Arguments of scripts/open_queue.lua: where the queue's first shard is.
constexpr std::string_view kAnywhere = "-";
constexpr std::string_view kNotKnown = "?";

// How often in a row a record may change while a process reads it and acts on it.
constexpr int kMostLearned = 5;

}  // namespace

// A look-up in progress, which makes the queue's missing shards, and closes old ones if the queue
// is being resharded.
struct Directory::Making {
  Found done;
  std::shared_ptr<QueuePlaces> queue;
  std::string closes;  // the generation that ends, if the queue gets new shards
  std::string settings;
  std::string paused = "-";  // scripts/create.lua
  Look look;
  std::optional<Error> error;
};

std::string spell_setting(Millis value) { return std::to_string(value.count()); }
std::string spell_setting(std::uint32_t value) { return std::to_string(value); }
std::string spell_setting(IfExists value) { return {letter_of(value)}; }
std::string spell_setting(Objective value) { return std::to_string(core::objective_number(value)); }
std::string spell_setting(DeliveryRate value) { return spell_rate(value); }
std::string spell_setting(const Grouping& /*none*/) { return "0"; }
std::string spell_setting(GroupOrder /*due*/) { return "0"; }
std::string spell_setting(OnExpiry value) { return value == OnExpiry::end ? "0" : "1"; }

std::string spell_settings(const QueueSettings& settings) {
  std::string text;
  core::each_setting([&](const auto& row) {
    if (!text.empty()) text += ' ';
    text += spell_setting(settings.*row.value);
  });
  return text;
}

QueueSettings read_settings(std::string_view text) {
  const auto words = words_of(text);
  QueueSettings settings;
  if (words.size() < kFewestWords) return settings;
  std::size_t next = 0;
  core::each_setting([&](const auto& row) {
    if (next < words.size()) read_word(words[next++], settings.*row.value);
  });
  return settings;
}

Error no_such_queue(std::string_view queue) {
  return {ErrorCode::not_found, "there is no queue " + std::string(queue)};
}

Directory::Directory(Server& server, std::uint32_t partitions, std::uint32_t new_shards,
                     bool cluster)
    : server_(server),
      partitions_(partitions),
      new_shards_(new_shards),
      cluster_(cluster),
      brief_(server) {}

void Directory::forget(std::string_view queue) {
  found_.erase(std::string(queue));
  made_.erase(std::string(queue));
  confirmed_.erase(std::string(queue));
  const auto found = queues_.find(std::string(queue));
  if (found == queues_.end()) return;
  names_.erase(found->second->number);
  queues_.erase(found);
}

bool Directory::forget(const QueuePtr& refused) {
  const QueuePtr now = known(refused->name);
  if (now != nullptr && now != refused) return false;
  forget(refused->name);
  return true;
}

void Directory::clear() {
  found_.clear();
  made_.clear();
  confirmed_.clear();
  queues_.clear();
  names_.clear();
}

QueuePtr Directory::known(const std::string& queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : found->second;
}

std::vector<QueuePtr> Directory::moving() const {
  std::vector<QueuePtr> found;
  for (const auto& [name, queue] : queues_) {
    if (queue->closed > 0) found.push_back(queue);
  }
  return found;
}

void Directory::find(std::string_view queue, Found done) {
  if (const auto known = queues_.find(std::string(queue)); known != queues_.end()) {
    done(known->second);
    return;
  }
  if (joins(found_, std::string(queue), done)) return;
  ask_record(queue, {}, std::move(done));
}

// If many callers want the same queue, only the first one asks; true for the others. If the queue
// is forgotten meanwhile, later callers ask again, because the awaited answer may be older.
bool Directory::joins(Asked& asked, const std::string& queue, Found& done) {
  Waiting& waiting = asked[queue];
  if (waiting != nullptr) {
    waiting->push_back(std::move(done));
    return true;
  }
  waiting = std::make_shared<std::vector<Found>>();
  waiting->push_back(std::move(done));
  done = [&asked, queue, all = waiting](Result<QueuePtr> found) {
    const auto ours = asked.find(queue);
    if (ours != asked.end() && ours->second == all) asked.erase(ours);
    for (Found& each : *all) each(found);
  };
  return false;
}

void Directory::ask(std::string_view queue, Look look, Found done) {
  if (look.makes) {
    return make_record(queue, cluster_ ? kNotKnown : kAnywhere, look, std::move(done));
  }
  ask_record(queue, look, std::move(done));
}

void Directory::ask_record(std::string_view queue, Look look, Found done) {
  std::string name(queue);
  RedisCommand get("HGET");
  get.key(partition_key(0, "queues")).add(name);
  server_.command(std::move(get), [this, look, name = std::move(name),
                                   done = std::move(done)](Result<RedisReply> reply) mutable {
    if (!reply) return done(std::move(reply).error());
    if (reply->view().is_nil()) return done(QueuePtr());
    learn(name, reply->view().text(), look, std::move(done));
  });
}

void Directory::make(std::string_view queue, Found done) {
  std::string name(queue);
  // If answers wait for replicas, a known record must be confirmed first: it may be on no replica
  // yet.
  const auto known = queues_.find(name);
  if (known != queues_.end() && (!server_.waits() || confirmed_.contains(name))) {
    done(known->second);
    return;
  }
  if (joins(made_, name, done)) return;
  ask(name, {true, 0}, std::move(done));
}

void Directory::make_record(std::string_view queue, std::string_view place, Look look, Found done) {
  std::string name(queue);
  server_.run(
      Script::open_queue,
      [this, name, place = std::string(place)](RedisCommand& command) {
        command.add("3");
        command.key(partition_key(0, "store"));
        command.key(partition_key(0, "queues"));
        command.key(partition_key(0, "numbers"));
        command.add(name).add(std::int64_t{new_shards_});
        command.add(static_cast<std::int64_t>(core::kMaxQueues)).add(partition_key(0, "wake"));
        command.add(server_.waits() ? "1" : "0").add(place).add(std::int64_t{partitions_});
      },
      [this, look, name, is_new = cluster_ && place != kNotKnown,
       done = std::move(done)](Result<RedisReply> reply) mutable {
        if (!reply) return done(std::move(reply).error());
        if (reply->view().kind() == net::RedisView::Kind::array) {
          return look_for_shards(name, std::string(reply->view()[0].text()), look, std::move(done));
        }
        if (is_new && !server_.waits()) {
          return confirm_new(std::move(*reply), name, look, std::move(done));
        }
        // On a single server, replicas get this write before any later one, so it is enough to wait
        // for the later ones.
        if (!server_.waits() || !reply->origin().is_node) {
          if (server_.waits()) confirmed_.insert(name);
          return learn(name, reply->view().text(), look, std::move(done));
        }
        confirm_record(std::move(*reply), name, look, std::move(done));
      });
}

// In a cluster the record is on another node than most shards. A failover of that node could undo
// the record, and nobody would find the messages in those shards.
void Directory::confirm_record(RedisReply reply, std::string name, Look look, Found done) {
  const net::RedisOrigin wrote = reply.origin();
  server_.confirm(wrote, [this, look, reply = std::move(reply), name = std::move(name),
                          done = std::move(done)](Result<void> confirmed) mutable {
    if (!confirmed) {  // nothing of the request was done
      return done(Error{ErrorCode::unavailable,
                        "the record of queue " + name + ": " + confirmed.error().message});
    }
    confirmed_.insert(name);
    learn(name, reply.view().text(), look, std::move(done));
  });
}

// If a failover undid the queue's record, its shards are still on other nodes, with their messages.
// The new record must lead to these shards. If a partition cannot be read, the shards may be there,
// and nothing is made.
void Directory::look_for_shards(std::string name, std::string generation, Look look, Found done) {
  struct Seen {
    std::string place;  // empty: no partition has the shard
    std::optional<Error> error;
  };
  const auto seen = std::make_shared<Seen>();
  const auto countdown =
      std::make_shared<Countdown>([this, name, seen, look, done = std::move(done)]() mutable {
        if (!seen->place.empty()) return make_record(name, seen->place, look, std::move(done));
        if (!seen->error) return make_record(name, kAnywhere, look, std::move(done));
        // Nothing was done.
        const bool is_known = seen->error->code != ErrorCode::unknown_outcome;
        done(Error{is_known ? seen->error->code : ErrorCode::unavailable,
                   "queue " + name +
                       " may exist on a node that does not answer; it is not created before that "
                       "node has been asked: " +
                       seen->error->message});
      });
  for (std::uint32_t partition = 0; partition < partitions_; ++partition) {
    countdown->begin();
    RedisCommand get("HGET");
    get.key(partition_key(partition, name + "/0:meta")).add("generation");
    server_.command(std::move(get),
                    [seen, countdown, partition, generation](Result<RedisReply> reply) {
                      // A key of another type is not a shard.
                      if (!reply && reply.error().code != ErrorCode::damaged) {
                        seen->error = std::move(reply).error();
                      } else if (reply && reply->view().text() == generation) {
                        seen->place = std::to_string(partition);
                      }
                      countdown->end();
                    });
  }
  countdown->end();
}

// If a failover undoes the record, nobody finds the queue before it is made again.
void Directory::confirm_new(RedisReply reply, std::string name, Look look, Found done) {
  const net::RedisOrigin wrote = reply.origin();
  brief_.confirm(wrote, [this, look, reply = std::move(reply), name = std::move(name),
                         done = std::move(done)]() mutable {
    learn(name, reply.view().text(), look, std::move(done));
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

void Directory::list(AllListed done) {
  RedisCommand all("HGETALL");
  all.key(partition_key(0, "queues"));
  server_.command(std::move(all), [done = std::move(done)](Result<RedisReply> reply) mutable {
    if (!reply) return done(std::move(reply).error());
    std::vector<Listed> listed;
    for (std::size_t i = 0; i + 1 < reply->view().size(); i += 2) {
      const std::string_view name = reply->view()[i].text();
      if (name.empty()) continue;  // the placeholder
      // If a record is broken, every request for that queue gets the error.
      const auto record = read_record(reply->view()[i + 1].text());
      if (record && record->stage == QueueRecord::Stage::removing) continue;
      listed.push_back({std::string(name), record ? open_set(*record).shards : 1});
    }
    std::ranges::sort(listed, {}, &Listed::queue);
    done(std::move(listed));
  });
}

namespace {

Error no_record(const Server& server, std::string_view queue, std::string_view text) {
  return {ErrorCode::damaged, "Redis at " + server.name() + " has a record of queue " +
                                  std::string(queue) + " that is not valid: " + std::string(text)};
}

}  // namespace

void Directory::read(std::string_view queue, Recorded done) {
  RedisCommand get("HGET");
  get.key(partition_key(0, "queues")).add(queue);
  server_.command(std::move(get), [this, name = std::string(queue),
                                   done = std::move(done)](Result<RedisReply> reply) mutable {
    if (!reply) return done(std::move(reply).error());
    if (reply->view().is_nil()) return done(std::optional<Read>());
    auto record = read_record(reply->view().text());
    if (!record) return done(no_record(server_, name, reply->view().text()));
    done(std::optional<Read>(Read{*std::move(record), std::string(reply->view().text())}));
  });
}

// A record is written before its shards are made, and before the shards that it replaces are
// closed. The process that finds the record does the missing work. So every process that knows both
// sets knows that the old one is closed, and a process that knows only the old one is refused
// there. A record that says that its queue is being removed is completed in the same way.
void Directory::learn(std::string_view queue, std::string_view text, Look look, Found done) {
  const auto record = read_record(text);
  if (!record) return done(no_record(server_, queue, text));
  if (record->stage == QueueRecord::Stage::removing) {
    return end_removal(server_, {std::string(queue), *record, std::string(text), partitions_},
                       [this, name = std::string(queue), look,
                        done = std::move(done)](Result<std::uint64_t> removed) mutable {
                         if (!removed) return done(std::move(removed).error());
                         ask(name, {look.makes, look.tries + 1}, std::move(done));
                       });
  }
  auto making = std::make_shared<Making>();
  making->done = std::move(done);
  making->look = look;
  making->settings = spell_settings(QueueSettings());
  making->queue = std::make_shared<QueuePlaces>();
  QueuePlaces& places = *making->queue;
  places.name = queue;
  places.number = record->number;
  if (record->stage != QueueRecord::Stage::moving) {
    places.shards = make_places(queue, record->number, record->set, partitions_);
    return create_shards(making);
  }
  ShardSet old = record->set;
  making->closes = std::exchange(old.generation, record->other.generation);
  places.shards = make_places(queue, record->number, old, partitions_, true);
  places.closed = old.shards;
  for (Place& place : make_places(queue, record->number, record->other, partitions_)) {
    places.shards.push_back(std::move(place));
  }
  close_shards(making);
}

void Directory::close_shards(const std::shared_ptr<Making>& making) {
  const auto countdown = std::make_shared<Countdown>([this, making] {
    if (making->error) return made(making);
    create_shards(making);
  });
  for (std::size_t i = 0; i < making->queue->closed; ++i) {
    countdown->begin();
    server_.run(
        Script::reshard_close,
        [making, i](RedisCommand& command) {
          const Place& closed = making->queue->shards[i];
          add_both_names(command, closed);
          command.add(making->closes).add(closed.generation).add(closed.name).add(closed.channel);
          command.add(partition_key(closed.partition, kNothing));
        },
        [making, countdown, i](Result<RedisReply> reply) {
          if (!reply) {
            making->error = std::move(reply).error();
          } else if (i == 0) {
            making->settings = reply->view()[0].text();
            if (!reply->view()[1].is_nil()) making->paused = reply->view()[1].text();
          }
          countdown->end();
        });
  }
  countdown->end();
}

void Directory::create_shards(const std::shared_ptr<Making>& making) {
  const auto countdown = std::make_shared<Countdown>([this, making] { made(making); });
  for (std::size_t i = making->queue->closed; i < making->queue->shards.size(); ++i) {
    countdown->begin();
    const Place& place = making->queue->shards[i];
    server_.run(
        Script::create,
        [making, &place](RedisCommand& command) {
          command.add(static_cast<std::int64_t>(Place::kKeys));
          for (const std::string& key : place.keys) command.key(key);
          command.add(place.generation).add(making->settings).add(making->paused).add("0");
        },
        [making, countdown](Result<RedisReply> reply) {
          if (!reply && !making->error) making->error = std::move(reply).error();
          countdown->end();
        });
  }
  countdown->end();
}

void Directory::made(const std::shared_ptr<Making>& making) {
  const QueuePtr queue = making->queue;
  if (making->error) {
    // The record has changed meanwhile.
    const Look again{making->look.makes, making->look.tries + 1};
    if (is_moved(*making->error) && again.tries <= kMostLearned) {
      return ask(queue->name, again, std::move(making->done));
    }
    return making->done(*std::move(making->error));
  }
  queues_[queue->name] = queue;
  names_[queue->number] = queue->name;
  making->done(queue);
}

}  // namespace tarry::redis
