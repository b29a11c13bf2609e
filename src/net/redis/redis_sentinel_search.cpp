#include "net/redis/redis_sentinel_search.h"

#include <algorithm>

#include "base/assert.h"
#include "base/text/text.h"
#include "net/redis/redis_handshake.h"
#include "net/redis/redis_stream.h"

namespace tarry::net {
namespace {

// After this time the next sentinel is asked as well.
constexpr std::chrono::milliseconds kNextSentinelAfter{500};

}  // namespace

RedisSentinelSearch::RedisSentinelSearch(boost::asio::io_context& io,
                                         std::vector<RedisOptions> sentinels, std::string master,
                                         Done done)
    : io_(io),
      sentinels_(std::move(sentinels)),
      master_(std::move(master)),
      done_(std::move(done)),
      timer_(io.get_executor()) {
  TARRY_ASSERT(!sentinels_.empty());
  asked_.reserve(sentinels_.size());
}

void RedisSentinelSearch::start() {
  deadline_ = Clock::now() + std::chrono::milliseconds(sentinels_[0].connect_timeout_ms);
  ask_next();
}

void RedisSentinelSearch::cancel() {
  finished_ = true;
  timer_.cancel();
  for (const Asked& each : asked_) {
    if (each.link) each.link->end({ErrorCode::closed, "the search was given up"});
  }
}

void RedisSentinelSearch::ask_next() {
  const std::size_t sentinel = asked_.size();
  const auto self = shared_from_this();
  Asked& asked = asked_.emplace_back();
  asked.link = std::make_shared<RedisLink>(
      io_, sentinels_[sentinel],
      RedisLink::Events{
          [self, sentinel] { self->on_ready(sentinel); },
          [self, sentinel](RedisReply reply) { self->on_reply(sentinel, reply.view()); },
          [self, sentinel](RedisLink::End end) { self->on_end(sentinel, std::move(end.error)); }});
  asked.link->start();
  // The interval depends on the number of sentinels, so that all are asked within the time-out.
  const auto each = std::chrono::milliseconds(sentinels_[0].connect_timeout_ms /
                                              static_cast<std::int64_t>(sentinels_.size()));
  const bool last = asked_.size() == sentinels_.size();
  const auto when =
      last ? deadline_ : std::min(deadline_, Clock::now() + std::min(kNextSentinelAfter, each));
  timer_.expires_at(when);
  timer_.async_wait([self, when](const boost::system::error_code& error) {
    if (!error && !self->finished_ && self->timer_.expiry() == when) self->on_timer();
  });
}

void RedisSentinelSearch::on_timer() {
  if (asked_.size() < sentinels_.size()) {
    ask_next();
    return;
  }
  const std::string limit = base::format_duration_ms(sentinels_[0].connect_timeout_ms);
  for (Asked& each : asked_) {
    if (!each.error) each.error = Error{ErrorCode::unavailable, "no answer within " + limit};
  }
  finish(failure());
}

void RedisSentinelSearch::on_ready(std::size_t sentinel) {
  if (finished_) return;
  RedisCommand question("SENTINEL");
  question.add("GET-MASTER-ADDR-BY-NAME").add(master_);
  asked_[sentinel].link->send(std::move(question).take(), 1);
}

void RedisSentinelSearch::on_reply(std::size_t sentinel, RedisView reply) {
  if (finished_) return;
  Asked& asked = asked_[sentinel];
  const RedisOptions& options = sentinels_[sentinel];
  const std::int64_t port = reply[1].integer();
  if (reply.size() == 2 && !reply[0].text().empty() && port > 0 && port <= 65'535) {
    finish(Found{{std::string(reply[0].text()), static_cast<std::uint16_t>(port)}, sentinel});
    return;
  }
  const std::string_view said = reply.text();
  Error error;
  if (reply.is_nil()) {
    asked.knows_no_such_master = true;
    error = {ErrorCode::invalid_argument, "no such master"};
  } else if (said.starts_with("ERR unknown command")) {
    error = {ErrorCode::invalid_argument, "what answers at " + redis_server_name(options) +
                                              " is not a sentinel: it does not know SENTINEL"};
  } else if (said.starts_with("NOPERM") || said.starts_with("NOAUTH")) {
    error = {
        ErrorCode::permission_denied,
        redis_title(options) + " does not let this user ask for a master: " + redis_says(said)};
  } else {
    error = {ErrorCode::unavailable, redis_title(options) + " named no address of master " +
                                         base::quoted(master_) + ": " + redis_says(said)};
  }
  asked.link->end(std::move(error));
}

void RedisSentinelSearch::on_end(std::size_t sentinel, Error error) {
  asked_[sentinel].link.reset();
  if (finished_) return;
  asked_[sentinel].error = std::move(error);
  ++ended_;
  if (asked_.size() < sentinels_.size()) {
    ask_next();
  } else if (ended_ == asked_.size()) {
    finish(failure());
  }
}

void RedisSentinelSearch::finish(Result<Found> result) {
  Done done = std::move(done_);
  cancel();
  done(std::move(result));
}

std::string RedisSentinelSearch::names(bool (*which)(const Asked&)) const {
  std::string all;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (which(asked_[i])) all += (all.empty() ? "" : ", ") + redis_server_name(sentinels_[i]);
  }
  return all;
}

// The error if all sentinels have failed. The most telling one wins: first a sentinel that does not
// know the master, then one that refused, then one that cannot be reached.
Error RedisSentinelSearch::failure() const {
  const std::string master = base::quoted(master_);
  const std::string ignorant = names([](const Asked& each) { return each.knows_no_such_master; });
  const std::string silent =
      names([](const Asked& each) { return each.error->code == ErrorCode::unavailable; });
  if (!ignorant.empty()) {
    std::string text = "no sentinel knows a master " + master + ": asked " + ignorant;
    if (!silent.empty()) text += "; no answer of " + silent;
    return {ErrorCode::invalid_argument, std::move(text)};
  }
  for (const Asked& each : asked_) {
    if (each.error->code != ErrorCode::unavailable) return *each.error;
  }
  std::string text = "no sentinel of master " + master + " answers (" + silent + ")";
  return {ErrorCode::unavailable, text + ": " + asked_.back().error->message};
}

}  // namespace tarry::net
