#include "relay/intakes/intake_flow.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/assert.h"
#include "core/limits.h"
#include "core/rules/headers.h"

namespace tarry::relay {
namespace {

constexpr std::size_t kBatchBytes = 4u << 20;

enum class Remedy { set_aside, again, give_up };

/// The remedy for a message that the store did not take.
Remedy remedy_for(ErrorCode code) {
  if (leases::is_passing(code)) return Remedy::again;
  const bool of_this_one = code == ErrorCode::invalid_argument || code == ErrorCode::too_large;
  return of_this_one ? Remedy::set_aside : Remedy::give_up;
}

void add(core::PushRequest& request, const Arrival& arrival) {
  core::PushItem item;
  item.key = core::append(request.bytes, arrival.key);
  item.payload = core::append(request.bytes, arrival.payload);
  item.headers = core::append(request.bytes, core::encode_headers(arrival.headers).value());
  item.due = arrival.due;
  item.if_exists = IfExists::keep;
  request.items.push_back(item);
}

}  // namespace

IntakeFlow::IntakeFlow(std::string queue, std::size_t batch)
    : queue_(std::move(queue)), batch_size_(batch), batch_bytes_(kBatchBytes) {}

IntakeFlow::Step IntakeFlow::next(Moment now) {
  if (!acks_.empty()) {
    const Ack ack = acks_.front();
    acks_.pop_front();
    return ack;
  }
  if (stopped_) {
    return batches_.empty() && being_set_aside_.empty() ? Step(Finished{}) : Step(Wait{});
  }
  if (aside_rest_until_ && now >= *aside_rest_until_) aside_rest_until_.reset();
  if (!refusals_.empty() && !aside_rest_until_ && being_set_aside_.size() < aside_at_once_) {
    return refuse_first();
  }
  if (rest_until_ && now >= *rest_until_) rest_until_.reset();
  const bool has_some = !waiting_.empty() || !halves_.empty();
  if (!rest_until_ && has_some && batches_.size() < kPushes) return cut_batch();
  if (!rest_until_ || !aside_rest_until_)
    return Wait{rest_until_ ? rest_until_ : aside_rest_until_};
  return Wait{std::min(*rest_until_, *aside_rest_until_)};
}

IntakeFlow::Refuse IntakeFlow::refuse_first() {
  const std::uint64_t tag = refusals_.front().arrival.tag;
  const auto [at, is_new] = being_set_aside_.emplace(tag, std::move(refusals_.front()));
  TARRY_ASSERT(is_new);
  refusals_.pop_front();
  return {&at->second};
}

void IntakeFlow::arrived(Arrival arrival) {
  ++stats_.arrived;
  open_.insert(arrival.tag);
  std::optional<std::string> fault = arrival.fault;
  if (!fault) {
    if (const auto headers = core::encode_headers(arrival.headers); !headers) {
      fault = headers.error().message;
    }
  }
  // A payload that no store can take is not copied into a push.
  if (!fault && arrival.payload.size() > core::kMaxMaxPayload) {
    fault = "payload has " + std::to_string(arrival.payload.size()) + " bytes; at most " +
            std::to_string(core::kMaxMaxPayload) + " are possible";
  }
  if (fault) {
    refusals_.push_back({std::move(arrival), *std::move(fault)});
  } else {
    waiting_.push_back(std::move(arrival));
  }
}

IntakeFlow::Push IntakeFlow::cut_batch() {
  Push push{++last_batch_, {}};
  push.request.queue = queue_;
  Batch& batch = batches_[push.batch];
  if (!halves_.empty()) {
    batch.arrivals = std::move(halves_.front());
    halves_.pop_front();
    for (const Arrival& arrival : batch.arrivals) add(push.request, arrival);
  }
  const bool is_half = !batch.arrivals.empty();
  const std::string& bytes = push.request.bytes;
  while (!is_half && !waiting_.empty() && batch.arrivals.size() < batch_size_) {
    Arrival& first = waiting_.front();
    if (!bytes.empty() && bytes.size() + first.payload.size() > batch_bytes_) break;
    add(push.request, first);
    batch.arrivals.push_back(std::move(first));
    waiting_.pop_front();
  }
  batch.bytes = bytes.size();
  return push;
}

void IntakeFlow::pushed(std::uint64_t number, const Result<core::PushReply>& reply, Moment now) {
  const auto found = batches_.find(number);
  TARRY_ASSERT(found != batches_.end());
  Batch batch = std::move(found->second);
  batches_.erase(found);
  if (!reply && reply.error().code != ErrorCode::too_large) {
    return again(batch.here ? std::move(batch.arrivals) : std::vector<Arrival>(), reply.error(),
                 now);
  }
  trouble_.clear();
  backoff_.reset();
  if (!reply) {
    if (batch.here) in_halves(std::move(batch), reply.error());
    return;
  }
  TARRY_ASSERT(reply->items.size() == batch.arrivals.size());
  std::vector<Arrival> once_more;
  std::optional<Error> trouble;
  for (std::size_t i = 0; i < batch.arrivals.size(); ++i) {
    const core::PushResult& result = reply->items[i];
    Arrival& arrival = batch.arrivals[i];
    if (!batch.here) {
      if (!result.error && result.outcome == Outcome::pushed) ++stats_.pushed;
      continue;
    }
    if (!result.error || remedy_for(result.error->code) == Remedy::set_aside) {
      judge(std::move(arrival), result, once_more);
      continue;
    }
    trouble = result.error;
    if (result.error->code == ErrorCode::unknown_outcome) arrival.redelivered = true;
    once_more.push_back(std::move(arrival));
  }
  if (trouble) return again(std::move(once_more), *trouble, now);
  std::move(once_more.rbegin(), once_more.rend(), std::front_inserter(waiting_));
}

void IntakeFlow::judge(Arrival arrival, const core::PushResult& result,
                       std::vector<Arrival>& once_more) {
  if (result.error) {
    refusals_.push_back({std::move(arrival), result.error->message});
    return;
  }
  if (result.outcome == Outcome::pushed) {
    ++stats_.pushed;
    return done(arrival.tag);
  }
  // The key is taken, by another message or by an earlier push of this one.
  if (arrival.redelivered) {
    ++stats_.duplicates;
    return done(arrival.tag);
  }
  ++stats_.renamed;
  arrival.key.clear();
  once_more.push_back(std::move(arrival));
}

void IntakeFlow::again(std::vector<Arrival> arrivals, const Error& error, Moment now) {
  // If the store refuses this request as a whole, it would refuse the next one too.
  if (remedy_for(error.code) != Remedy::again) {
    if (!error_) error_ = error;
    return stop();
  }
  trouble_ = error.message;
  rest_until_ = now + backoff_.next();
  for (Arrival& arrival : arrivals) {
    if (error.code == ErrorCode::unknown_outcome) arrival.redelivered = true;
  }
  std::move(arrivals.rbegin(), arrivals.rend(), std::front_inserter(waiting_));
}

/// Sends a batch again as two halves. The store has taken no message of it.
void IntakeFlow::in_halves(Batch batch, const Error& error) {
  std::vector<Arrival>& first = batch.arrivals;
  if (first.size() == 1) {
    refusals_.push_back({std::move(first.front()), error.message});
    return;
  }
  batch_bytes_ = std::min(batch_bytes_, batch.bytes / 2);
  const auto middle = first.begin() + static_cast<std::ptrdiff_t>(first.size() / 2);
  std::vector<Arrival> second(std::make_move_iterator(middle),
                              std::make_move_iterator(first.end()));
  first.erase(middle, first.end());
  halves_.push_front(std::move(second));
  halves_.push_front(std::move(first));
}

void IntakeFlow::set_aside(std::uint64_t tag) {
  TARRY_ASSERT(being_set_aside_.erase(tag) == 1);
  ++stats_.refused;
  aside_trouble_.clear();
  aside_backoff_.reset();
  aside_at_once_ = std::min(aside_at_once_ * 2, kMostAsideAtOnce);
  done(tag);
}

void IntakeFlow::not_set_aside(std::uint64_t tag, const std::string& why, Moment now) {
  const auto found = being_set_aside_.find(tag);
  TARRY_ASSERT(found != being_set_aside_.end());
  // The message goes to the end of the row, because it may be the only one that cannot be set
  // aside.
  refusals_.push_back(std::move(found->second));
  being_set_aside_.erase(found);
  aside_trouble_ = why;
  aside_at_once_ = 1;
  // If several messages that were sent together fail, that counts as one failure.
  if (!aside_rest_until_) aside_rest_until_ = now + aside_backoff_.next();
}

void IntakeFlow::done(std::uint64_t tag) {
  open_.erase(tag);
  ++stats_.acked;
  const bool all_before = open_.empty() || *open_.begin() > tag;
  if (all_before) std::erase_if(acks_, [tag](const Ack& ack) { return ack.tag < tag; });
  acks_.push_back({tag, all_before});
}

void IntakeFlow::disconnected() {
  waiting_.clear();
  halves_.clear();
  refusals_.clear();
  acks_.clear();
  open_.clear();
  being_set_aside_.clear();
  for (auto& [number, batch] : batches_) batch.here = false;
}

bool IntakeFlow::is_idle() const noexcept {
  return waiting_.empty() && halves_.empty() && batches_.empty() && being_set_aside_.empty() &&
         acks_.empty();
}

void IntakeFlow::stop() { stopped_ = true; }

}  // namespace tarry::relay
