#include "engines/redis/node/server.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "core/engine_parts/away.h"

namespace tarry::redis {
namespace {

using net::RedisAnswer;
using net::RedisCommand;
using net::RedisFailure;
using net::RedisReply;

constexpr std::string_view kMoved = "the queue has moved";
constexpr std::string_view kNeedsAll = "the queue has limits";
constexpr std::string_view kOutOfQueues = "has its limit of 100000 queues; none was made";

struct KnownError {
  std::string_view code;
  ErrorCode means;
  std::string_view says;
};

// Error replies of a server, by their first word. In replies of scripts that word may stand after
// "ERR ".
constexpr KnownError kKnownErrors[] = {
    {"OOM", ErrorCode::no_space, "is full (maxmemory); nothing was done"},
    {"FULL", ErrorCode::no_space, kOutOfQueues},
    {"BACKOFF", ErrorCode::conflict,
     "was given another backoff at the same time: backoff_min would be over backoff_max (ms)"},
    {"FENCED", ErrorCode::conflict, "reports that another process has taken over the reshard"},
    {"LOADING", ErrorCode::unavailable, "is loading its dataset"},
    {"BUSY", ErrorCode::unavailable, "is busy with a script"},
    {"READONLY", ErrorCode::unavailable, "is a read-only replica"},
    {"MASTERDOWN", ErrorCode::unavailable, "has lost its master"},
    {"CLUSTERDOWN", ErrorCode::unavailable, "says that the cluster is down"},
    {"TRYAGAIN", ErrorCode::unavailable, "is moving the slot"},
    {"NOREPLICAS", ErrorCode::unavailable, "has too few replicas"},
    {"MISCONF", ErrorCode::io_error, "cannot write its dataset to disk, and takes no writes"},
    {"NOPERM", ErrorCode::permission_denied, "does not let this user do that"},
    {"NOAUTH", ErrorCode::permission_denied, "asks for a password"},
    {"WRONGTYPE", ErrorCode::damaged, "has a key of another type under a name of tarry's"},
    {"BROKEN", ErrorCode::damaged, "has fields under names of tarry's that tarry did not write"},
    {"MISFIT", ErrorCode::damaged, "has a key of another type than the layout's"},
    {"FOREIGN", ErrorCode::damaged, "has a key of another type under a name of tarry's"},
};

std::string_view first_word(std::string_view text) noexcept {
  return text.substr(0, text.find(' '));
}

}  // namespace

Error error_of_reply(const std::string& at, std::string_view text, std::string_view what) {
  // Redis 6.2: "ERR Error running script (call to f_...): @user_script:88: ... -OOM command not
  // ..."
  constexpr std::string_view kRaised = ": @user_script:";
  if (const std::size_t at = text.find(kRaised); at != std::string_view::npos) {
    const std::size_t code = text.find(" -", at);
    if (code != std::string_view::npos) text.remove_prefix(code + 2);
  }
  if (text.starts_with("ERR OOM")) text.remove_prefix(4);
  std::string_view word = first_word(text);
  // A command that a script may not run is refused without the word NOPERM: up to Redis 7.0 by the
  // first of these sentences, later, and in Valkey, by the second.
  for (const std::string_view refusal :
       {"ERR The user executing the script", "ERR ACL failure in script"}) {
    if (text.starts_with(refusal)) word = "NOPERM";
  }
  if (word == "GONE" || word == "STALE") return {ErrorCode::conflict, std::string(kMoved)};
  if (word == "LIMITED") return {ErrorCode::conflict, std::string(kNeedsAll)};
  const std::string server = "Redis at " + at + " ";
  for (const KnownError& known : kKnownErrors) {
    if (word != known.code) continue;
    return {known.means, server + std::string(known.says) + ": " + std::string(text)};
  }
  return {ErrorCode::io_error,
          server + "failed in " + std::string(what) + ": " + std::string(text)};
}

bool is_moved(const Error& error) noexcept {
  return error.code == ErrorCode::conflict && error.message == kMoved;
}

bool needs_all_shards(const Error& error) noexcept {
  return error.code == ErrorCode::conflict && error.message == kNeedsAll;
}

bool is_out_of_queues(const Error& error) noexcept {
  return error.code == ErrorCode::no_space && error.message.find(kOutOfQueues) != std::string::npos;
}

Server::Server(net::Redis& redis, const timing::Clock* test_clock)
    : redis_(redis), test_clock_(test_clock), clock_(test_clock) {}

std::string Server::time_argument() const {
  return test_clock_ == nullptr ? "" : std::to_string(test_clock_->now().realtime_ms);
}

Error Server::error_of(const RedisReply& reply, std::string_view text, std::string_view what) {
  Error error = error_of_reply(reply.node().empty() ? name() : reply.node(), text, what);
  if (error.code == ErrorCode::permission_denied) denied_ = true;
  return error;
}

void Server::answer(RedisAnswer answer, std::string_view what, Done& done) {
  if (auto* failure = std::get_if<RedisFailure>(&answer)) {
    done(std::move(failure->error));
    return;
  }
  auto& reply = std::get<RedisReply>(answer);
  if (reply.view().is_error()) {
    done(error_of(reply, reply.view().text(), what));
    return;
  }
  done(std::move(reply));
}

std::string Server::text_of(Script script) const {
  std::string text = redis::text_of(script, channels_);
  if (before_scripts_.empty()) return text;
  return "local SCRIPT = '" + std::string(name_of(script)) + "'\n" + before_scripts_ + text;
}

void Server::load_scripts(base::UniqueFunction<void(Result<void>)> done, bool layouts) {
  constexpr auto kNative = static_cast<std::size_t>(kFirstLayoutScript);
  const std::size_t first = layouts ? kNative : 0;
  const std::size_t end = layouts ? kScripts : kNative;
  struct Loading {
    base::UniqueFunction<void(Result<void>)> done;
    std::size_t left = 0;
    std::optional<Error> error;
  };
  auto loading = std::make_shared<Loading>();
  loading->done = std::move(done);
  loading->left = end - first;
  for (std::size_t i = first; i < end; ++i) {
    RedisCommand load("SCRIPT");
    load.add("LOAD").add(text_of(static_cast<Script>(i)));
    command_masters(std::move(load), [this, loading, i](Result<std::vector<FromMaster>> told) {
      if (told) {
        shas_[i] = told->front().reply.view().text();
      } else if (!loading->error) {
        loading->error = std::move(told).error();
      }
      if (--loading->left > 0) return;
      loading->done(loading->error ? Result<void>(*loading->error) : Result<void>());
    });
  }
}

void Server::command(RedisCommand command, Done done) {
  std::string what(command.name());
  ++round_trips_;
  redis_.send(std::move(command),
              [this, what = std::move(what), done = std::move(done)](RedisAnswer given) mutable {
                answer(std::move(given), what, done);
              });
}

void Server::command_masters(RedisCommand command, EachDone done) {
  std::string what(command.name());
  ++round_trips_;
  redis_.send_to_masters(std::move(command),
                         [what = std::move(what), done = std::move(done)](
                             std::vector<net::Redis::NodeAnswer> answers) mutable {
                           std::vector<FromMaster> told;
                           std::optional<Error> away;
                           for (auto& [server, answer] : answers) {
                             if (auto* failure = std::get_if<RedisFailure>(&answer)) {
                               if (!core::is_away(failure->error.code))
                                 return done(std::move(failure->error));
                               away = std::move(failure->error);
                               continue;
                             }
                             auto& reply = std::get<RedisReply>(answer);
                             if (reply.view().is_error())
                               return done(error_of_reply(server, reply.view().text(), what));
                             told.push_back({std::move(server), std::move(reply)});
                           }
                           if (told.empty()) return done(*std::move(away));
                           done(std::move(told));
                         });
}

void Server::run(Script script, Build build, Done done) {
  RedisCommand command("EVALSHA");
  command.add(shas_[static_cast<std::size_t>(script)]);
  build(command);
  ++round_trips_;
  redis_.send(std::move(command), [this, script, build = std::move(build),
                                   done = std::move(done)](RedisAnswer given) mutable {
    const auto* reply = std::get_if<RedisReply>(&given);
    if (reply == nullptr || !reply->view().is_error() ||
        first_word(reply->view().text()) != "NOSCRIPT") {
      answer(std::move(given), name_of(script), done);
      return;
    }
    RedisCommand again("EVAL");
    again.add(text_of(script));
    build(again);
    ++round_trips_;
    redis_.send(std::move(again), [this, script, done = std::move(done)](RedisAnswer a) mutable {
      answer(std::move(a), name_of(script), done);
    });
  });
}

void Server::add_place(const Place& place, RedisCommand& command, const QueuePlaces* all) const {
  const std::size_t shards = all == nullptr ? 0 : all->shards.size();
  command.add(static_cast<std::int64_t>(Place::kKeys + 2 * shards));
  for (const std::string& key : place.keys) command.key(key);
  for (std::size_t i = 0; i < shards; ++i) {
    const Place& each = all->open_first(i);
    command.key(each.keys[Place::kMeta]).key(each.keys[Place::kLeased]);
  }
  command.add(place.generation).add(time_argument()).add(place.name).add(place.channel);
}

void Server::run_after(const Place& place, std::vector<RedisCommand> before, Script script,
                       Build build, Done done) {
  std::vector<RedisCommand> all;
  all.emplace_back("MULTI");
  std::ranges::move(before, std::back_inserter(all));
  RedisCommand& last = all.emplace_back("EVAL");
  last.add(text_of(script));
  add_place(place, last);
  build(last);
  all.emplace_back("EXEC");
  ++round_trips_;
  redis_.send(std::move(all), [this, script, done = std::move(done)](RedisAnswer given) mutable {
    auto* reply = std::get_if<RedisReply>(&given);
    if (reply == nullptr) return answer(std::move(given), name_of(script), done);
    const net::RedisView whole = reply->view();
    if (whole.is_error() && first_word(whole.text()) == "EXECABORT") {
      return done(Error{ErrorCode::misuse, std::string(whole.text())});
    }
    if (whole.is_error()) return answer(std::move(given), name_of(script), done);
    const net::RedisView last_reply = whole[whole.size() - 1];
    if (last_reply.is_error() && first_word(last_reply.text()) == "EXPIRES") {
      return done(Error{ErrorCode::misuse, std::string(last_reply.text())});
    }
    if (last_reply.is_error()) {
      return done(error_of(*reply, last_reply.text(), name_of(script)));
    }
    reply->narrow(whole.size() - 1);
    answer(std::move(given), name_of(script), done);
  });
}

void Server::run_on(const Place& place, Script script, Build build, Done done) {
  run(
      script,
      [this, &place, build = std::move(build)](RedisCommand& command) mutable {
        add_place(place, command);
        build(command);
      },
      std::move(done));
}

void Server::run_with_all(const QueuePlaces& queue, const Place& place, Script script, Build build,
                          Done done) {
  run(
      script,
      [this, &queue, &place, build = std::move(build)](RedisCommand& command) mutable {
        add_place(place, command, &queue);
        build(command);
      },
      std::move(done));
}

Error strange_reply(const Server& server, Script script) {
  return {ErrorCode::unknown_outcome, "Redis at " + server.name() + " gave an answer to " +
                                          std::string(name_of(script)) + " that cannot be read"};
}

}  // namespace tarry::redis
