#include "engines/redis/queues/identity.h"

#include <string>
#include <utility>

#include "core/engine_parts/away.h"
#include "engines/redis/node/rights.h"

namespace tarry::redis {
namespace {

constexpr std::chrono::seconds kAskEvery{1};
// A healthy node answers within this time. Requests to other nodes wait no longer than this for a
// node that hangs.
constexpr std::int64_t kPatienceMs = 250;

}  // namespace

Identity::Identity(net::Redis& redis, Server& server, Directory& directory, Ids& ids,
                   Alarms& alarms, const StoreFacts& store, ServerWish wish, Log log)
    : redis_(redis),
      server_(server),
      directory_(directory),
      ids_(ids),
      alarms_(alarms),
      secret_(store.secret),
      schema_(store.schema),
      partitions_(store.partitions),
      checked_(redis.connections()),
      wish_(wish),
      goes_on_(wish.cluster),
      log_(std::move(log)) {}

std::optional<Error> Identity::refuse_expiry() const {
  return refuse_below(kExpirySchema, "an expiry");
}

std::optional<Error> Identity::refuse_limits() const {
  return refuse_below(kLimitsSchema, "a limit (max_leased, rate)");
}

std::optional<Error> Identity::refuse_below(std::int64_t schema, std::string_view what) const {
  if (schema_ >= schema) return std::nullopt;
  return Error{ErrorCode::unsupported,
               std::string(what) + " needs a store of schema " + std::to_string(schema) +
                   "; the store in Redis at " + server_.name() + " has schema " +
                   std::to_string(schema_) +
                   " (docs/formats/redis.md, Changing it, tells how to upgrade it)"};
}

bool Identity::is_known() const {
  return redis_.is_connected() && redis_.connections() == checked_;
}

void Identity::check(Done done) {
  if (!server_.denied()) {
    if (is_known() && !unfit_) return done({});
    if (is_away_) {
      if (std::chrono::steady_clock::now() >= ask_again_) ask();
      return done({});
    }
  }
  waiting_.push_back(std::move(done));
  ask();
}

void Identity::ask() {
  if (std::exchange(asking_, true)) return;
  if (goes_on_ && !is_away_) {
    patience_ = alarms_.set(kPatienceMs, [this] {
      patience_ = 0;
      is_away_ = true;
      if (!server_.denied()) answer({});
    });
  }
  look_at_servers();
}

void Identity::look_at_servers() {
  server_.command_masters(net::RedisCommand("INFO"), [this](const auto& infos) {
    if (infos)
      judge(check_masters(*infos, wish_));  // if no server answered, the last judgement stays
    if (is_known() && !server_.denied()) return asked({});
    // A restarted server has forgotten the scripts, so all of them are loaded together. The nodes
    // of a cluster get a script when they turn out not to know it.
    if (goes_on_ || is_known()) return look_at_rights();
    server_.load_scripts([this](Result<void> loaded) {
      if (loaded) return look_at_rights();
      asked(std::move(loaded).error());
    });
  });
}

void Identity::judge(const Result<ServerFacts>& facts) {
  std::optional<Error> why;
  if (!facts) why = Error{ErrorCode::unavailable, "nothing is accepted: " + facts.error().message};
  if (log_ && why && (!unfit_ || unfit_->message != why->message)) {
    log_({LogLevel::error, "store_refuses", why->message});
  }
  if (log_ && !why && unfit_) {
    log_({LogLevel::info, "store_accepts", "messages are accepted again"});
  }
  unfit_ = std::move(why);
}

void Identity::look_at_rights() {
  check_rights(server_, native_rights(), [this](Result<void> allowed) {
    if (!allowed && !(goes_on_ && core::is_away(allowed.error().code))) {
      return asked(std::move(allowed).error());
    }
    if (is_known()) return asked({});
    open();
  });
}

void Identity::asked(Result<void> result, bool is_away) {
  asking_ = false;
  is_away_ = is_away;
  alarms_.cancel(std::exchange(patience_, 0));
  answer(std::move(result));
}

void Identity::answer(Result<void> result) {
  // However the check ended, none of the requests that wait for it was carried out.
  if (!result && result.error().code == ErrorCode::unknown_outcome) {
    result = Error{ErrorCode::unavailable, result.error().message};
  }
  for (Done& done : std::exchange(waiting_, {})) done(result);
}

void Identity::open() {
  open_store(server_, partitions_, [this](Result<StoreFacts> store) {
    if (!store && goes_on_ && core::is_away(store.error().code)) {
      ask_again_ = std::chrono::steady_clock::now() + kAskEvery;
      return asked({}, true);
    }
    if (!store) return asked(std::move(store).error());
    directory_.clear();
    ids_.drop();
    secret_ = store->secret;
    schema_ = store->schema;
    checked_ = redis_.connections();
    asked({});
  });
}

}  // namespace tarry::redis
