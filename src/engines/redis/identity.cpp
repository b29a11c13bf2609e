#include "engines/redis/identity.h"

#include <utility>

#include "engines/redis/rights.h"

namespace tarry::redis {
namespace {

constexpr std::chrono::seconds kAskEvery{1};

bool is_away(const Error& error) noexcept {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::unknown_outcome;
}

}  // namespace

Identity::Identity(net::Redis& redis, Server& server, Directory& directory, Ids& ids,
                   const StoreFacts& store, bool goes_on)
    : redis_(redis),
      server_(server),
      directory_(directory),
      ids_(ids),
      secret_(store.secret),
      schema_(store.schema),
      partitions_(store.partitions),
      checked_(redis.connections()),
      goes_on_(goes_on) {}

bool Identity::is_known() const {
  return redis_.is_connected() && redis_.connections() == checked_;
}

void Identity::check(Done done) {
  if (!server_.denied()) {
    if (is_known()) return done({});
    if (goes_on_ && std::chrono::steady_clock::now() < ask_again_) return done({});
  }
  waiting_.push_back(std::move(done));
  if (waiting_.size() == 1) ask();
}

void Identity::ask() {
  // A server that was restarted has forgotten the scripts; one by one they would be given again. A
  // cluster's nodes are given them as they ask for them.
  if (goes_on_ || is_known()) return look_at_rights();
  server_.load_scripts([this](Result<void> loaded) {
    if (loaded) return look_at_rights();
    answer(std::move(loaded).error());
  });
}

void Identity::look_at_rights() {
  check_rights(server_, native_rights(), [this](Result<void> allowed) {
    if (!allowed && !(goes_on_ && is_away(allowed.error()))) {
      return answer(std::move(allowed).error());
    }
    if (is_known()) return answer({});
    open();
  });
}

void Identity::answer(Result<void> result) {
  // Whatever became of the question, nothing of what waits for it was done.
  if (!result && result.error().code == ErrorCode::unknown_outcome) {
    result = Error{ErrorCode::unavailable, result.error().message};
  }
  for (Done& done : std::exchange(waiting_, {})) done(result);
}

void Identity::open() {
  open_store(server_, partitions_, [this](Result<StoreFacts> store) {
    if (!store && goes_on_ && is_away(store.error())) {
      ask_again_ = std::chrono::steady_clock::now() + kAskEvery;
      return answer({});
    }
    if (!store) return answer(std::move(store).error());
    directory_.clear();
    ids_.drop();
    secret_ = store->secret;
    schema_ = store->schema;
    checked_ = redis_.connections();
    answer({});
  });
}

}  // namespace tarry::redis
