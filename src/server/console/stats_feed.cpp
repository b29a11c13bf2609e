#include "server/console/stats_feed.h"

#include <chrono>
#include <iterator>
#include <utility>
#include <variant>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include "wire/stats.h"

namespace tarry::console {

namespace asio = boost::asio;

StatsFeed::Seat::Seat(std::shared_ptr<StatsFeed> feed, Seats::iterator place)
    : feed_(std::move(feed)), place_(place) {}

StatsFeed::Seat::~Seat() { feed_->leave(place_); }

std::unique_ptr<StatsFeed::Seat> StatsFeed::take_seat(Executor executor, Told told) {
  if (!timer_) timer_.emplace(executor);
  const bool first = seats_.empty();
  seats_.push_back(std::move(told));
  auto seat = std::make_unique<Seat>(shared_from_this(), std::prev(seats_.end()));
  if (first && !asking_) ask();
  return seat;
}

void StatsFeed::leave(Seats::iterator place) {
  seats_.erase(place);
  if (!seats_.empty()) return;
  timer_->cancel();
  // The figures would be old when the next one looks.
  store_.reset();
  trouble_.reset();
}

void StatsFeed::ask() {
  asking_ = true;
  // The loop waits for the engine's answer, even while the server stops.
  auto executor = asio::prefer(timer_->get_executor(), asio::execution::outstanding_work.tracked);
  engine_.submit(core::StatsRequest{}, [self = shared_from_this(), executor = std::move(executor)](
                                           Result<core::Reply> reply) mutable {
    asio::post(executor, [self = std::move(self), reply = std::move(reply)]() mutable {
      self->take(std::move(reply));
    });
  });
}

void StatsFeed::take(Result<core::Reply> reply) {
  asking_ = false;
  if (seats_.empty()) return;
  ++turn_;
  store_.reset();
  trouble_.reset();
  if (!reply) {
    trouble_ = std::move(reply).error();
  } else if (auto* stats = std::get_if<StoreStats>(&*reply)) {
    take_queues(*stats);
    store_ = std::move(*stats);
  }
  // A callback may destroy the seat that it belongs to, but no other seat.
  for (auto seat = seats_.begin(); seat != seats_.end();) {
    const auto next = std::next(seat);
    const Told told = *seat;  // its seat may go meanwhile
    told();
    seat = next;
  }
  if (!seats_.empty()) wait();
}

void StatsFeed::take_queues(StoreStats& stats) {
  if (completes_) completes_(stats.queues);
  for (const QueueStats& queue : stats.queues) {
    std::string json = wire::encode_queue_stats(queue);
    Row& row = rows_[queue.queue];
    row.met = turn_;
    if (row.json == json) continue;
    row.json = std::move(json);
    row.changed = turn_;
  }
  const auto gone = [this](const auto& one) { return one.second.met != turn_; };
  if (std::erase_if(rows_, gone) > 0) full_until_ = turn_;
  stats.queues.clear();
}

void StatsFeed::wait() {
  timer_->expires_after(std::chrono::seconds(1));
  timer_->async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && !self->seats_.empty() && !self->asking_) self->ask();
  });
}

std::string StatsFeed::changes(const identity::Identity& identity, std::uint64_t& seen) const {
  const bool full = seen == 0 || seen < full_until_;
  std::string text = full ? R"("full":true,"queues":[)" : R"("full":false,"queues":[)";
  bool first = true;
  for (const auto& [name, row] : rows_) {
    if (!full && row.changed <= seen) continue;
    if (!identity.may(identity::Scope::read, name)) continue;
    if (!first) text += ',';
    first = false;
    text += row.json;
  }
  text += ']';
  seen = turn_;
  return text;
}

}  // namespace tarry::console
