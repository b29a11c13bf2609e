#include "engines/redis/claims.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engines/redis/claim_reply.h"
#include "engines/redis/member.h"
#include "engines/redis/parted.h"
#include "engines/redis/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// Messages that one call of the script claims: other clients wait meanwhile.
constexpr std::uint32_t kMostAtOnce = 500;
// A waiting claim by key asks that changes be told for so long; it looks again before that ends.
constexpr std::int64_t kWatchedMs = 10'000;
constexpr std::int64_t kWatchAgainMs = 5'000;
constexpr std::int64_t kAfterFailureMs = 1'000;

// Null: all of them.
const std::vector<std::uint32_t>* shards_wanted(const core::ClaimRequest& request,
                                                const std::string& queue) {
  if (request.shards.empty()) return nullptr;
  const auto found = std::ranges::find(request.queues, queue);
  const auto& wanted = request.shards[static_cast<std::size_t>(found - request.queues.begin())];
  return wanted.empty() ? nullptr : &wanted;
}

bool names(const core::ClaimRequest& request, const std::string& queue) {
  return std::ranges::find(request.queues, queue) != request.queues.end();
}

// It looks for what the others that wait there do not look for.
bool looks_for_itself(const core::ClaimRequest& request) {
  return !request.keys.empty() || !request.shards.empty();
}

}  // namespace

struct Claims::Claim {
  core::Ticket ticket = 0;
  AskedPtr asked;
  const core::ClaimRequest* request = nullptr;
  core::ClaimReply reply;
  Alarms::Id wait_end = 0;
  bool may_wait = false;
  bool parked = false;
  bool waited = false;           // it has been parked
  bool gone = false;             // nobody waits for its answer any more
  std::set<std::string> missed;  // queues that were woken while it looked
};

// It takes what any other that waits there leaves over.
bool Claims::waits_at(const Claim& claim, const std::string& queue) {
  return !looks_for_itself(*claim.request) && names(*claim.request, queue);
}

// What is known of a queue at which claims wait.
struct Claims::Watch {
  std::string queue;
  std::deque<ClaimPtr> parked;
  Alarms::Id alarm = 0;
  std::int64_t alarm_us = 0;
  bool looking = false;
  bool again = false;  // woken while one looked
};

// One claim's look at queues, shard after shard.
class Claims::Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(Claims& claims, ClaimPtr claim, std::vector<std::string> queues, Watch* watch)
      : claims_(claims),
        claim_(std::move(claim)),
        queues_(std::move(queues)),
        watch_(watch),
        turn_(claims.turn_++) {}

  void next_queue() {
    if (is_full() || queue_ == queues_.size()) return finish();
    const std::string& name = queues_[(turn_ + queue_) % queues_.size()];
    claims_.context_.directory.find(name, [self = shared_from_this()](Result<QueuePtr> queue) {
      if (!queue) return self->fail(std::move(queue).error());
      if (*queue == nullptr) {
        ++self->queue_;
        return self->next_queue();
      }
      self->places_ = std::move(*queue);
      self->choose_shards();
      self->settled_ = self->places_->closed == 0 || self->request().keys.empty();
      self->next_shard();
    });
  }

  void fail(Error error) {
    // What other shards gave is handed over; the next claim is told.
    if (!claim_->reply.items.empty()) return finish();
    Watch* watch = std::exchange(watch_, nullptr);
    claims_.fail(claim_, std::move(error));
    // Those that wait there too look again soon.
    if (watch != nullptr) claims_.visited(nullptr, {}, watch, kAfterFailureMs, false);
  }

 private:
  [[nodiscard]] const core::ClaimRequest& request() const { return *claim_->request; }
  [[nodiscard]] std::uint32_t left() const {
    return request().max - static_cast<std::uint32_t>(claim_->reply.items.size());
  }
  [[nodiscard]] bool is_full() const {
    return claim_->gone || left() == 0 || (taken_ > 0 && bytes_ >= request().max_bytes);
  }

  // Which of the queue's to ask, in what order.
  void choose_shards() {
    shard_ = 0;
    shards_.clear();
    const std::size_t all = places_->shards.size();
    // By key the closed shards come first.
    const std::size_t turn = !request().keys.empty() && places_->closed > 0 ? 0 : turn_;
    const std::vector<std::uint32_t>* wanted = shards_wanted(request(), places_->name);
    for (std::size_t i = 0; i < all; ++i) {
      const std::size_t place = (turn + i) % all;
      if (wanted == nullptr || is_among(*wanted, place)) shards_.push_back(place);
    }
  }
  // Whoever is to have an open shard has its part of the closed ones too: else nobody would.
  [[nodiscard]] bool is_among(const std::vector<std::uint32_t>& wanted, std::size_t place) const {
    const auto shard = static_cast<std::uint32_t>(
        place < places_->closed ? place % places_->open() : place - places_->closed);
    return std::ranges::find(wanted, shard) != wanted.end();
  }

  void next_shard() {
    if (is_full() || shard_ == shards_.size()) {
      ++queue_;
      return next_queue();
    }
    const std::uint32_t asked = std::min(left(), kMostAtOnce);
    const bool by_key = !request().keys.empty();
    if (!settled_ && shard_ == places_->closed) return settle_keys();
    const Place& place = places_->shards[shards_[shard_]];
    sent_ = base::BootClock::now();
    claims_.context_.server.run_on(
        place, by_key ? Script::claim_keys : Script::claim,
        [self = shared_from_this(), asked](RedisCommand& command) { self->build(command, asked); },
        [self = shared_from_this(), &place, places = places_, asked](Result<RedisReply> reply) {
          if (!reply) return self->failed(std::move(reply).error());
          self->take(place, reply->view(), asked);
        });
  }

  void settle_keys() {
    settled_ = true;
    settle_parted(claims_.context_, places_, request().keys,
                  [self = shared_from_this()](Result<std::vector<bool>> gone) {
                    if (!gone) return self->failed(std::move(gone).error());
                    self->next_shard();
                  });
  }

  void build(RedisCommand& command, std::uint32_t asked) const {
    const core::ClaimRequest& wanted = request();
    const std::uint64_t bytes = wanted.max_bytes - std::min(bytes_, wanted.max_bytes);
    command.add(std::int64_t{asked});
    command.add(wanted.lease ? std::to_string(wanted.lease->count()) : "");
    command.add(static_cast<std::int64_t>(bytes)).add(taken_ == 0 ? "1" : "0");
    if (wanted.keys.empty()) {
      command.add(claims_.context_.identity.schema() >= kBulkSchema ? "1" : "0");
      return;
    }
    command.add(wanted.any_state ? "1" : "0");
    command.add(claim_->may_wait ? std::to_string(kWatchedMs) : "");
    std::string scratch;
    for (const std::string& key : wanted.keys) {
      command.add(member_of(key, claims_.context_.identity.secret(), scratch));
    }
  }

  void take(const Place& place, net::RedisView reply, std::uint32_t asked) {
    const auto answer = read_claim(reply, place, claims_.context_.identity.secret(), asked,
                                   claim_->reply, claims_.lateness_);
    if (!answer) return fail(strange_reply(claims_.context_.server, Script::claim));
    if (answer->taken > 0) claim_->reply.began(sent_);
    taken_ += answer->taken;
    bytes_ += answer->payload_bytes;
    if (answer->again_ms) again_ms_ = std::min(again_ms_, *answer->again_ms);
    if (!answer->damaged.empty()) {
      bury_damaged(place, *answer);
      again_ms_ = 0;
    }
    // As many as were asked for: there may be more here.
    if (answer->taken + answer->damaged.size() == asked && left() > 0) return next_shard();
    ++shard_;
    next_shard();
  }

  void bury_damaged(const Place& place, const ClaimAnswer& answer) {
    claims_.context_.server.run_on(
        place, Script::settle,
        [answer](RedisCommand& command) {
          for (const std::string& member : answer.damaged) {
            command.add(answer.claim).add(member).add("d").add("").add("");
            command.add("damaged: its checksum in Redis does not match");
          }
        },
        [places = places_](Result<RedisReply>) {});
  }

  void failed(Error error) {
    if (is_moved(error) && ++tries_ < 5) {
      return doubt(claims_.context_, places_, [self = shared_from_this()](Result<void> checked) {
        if (!checked) return self->fail(std::move(checked).error());
        self->next_queue();
      });
    }
    fail(std::move(error));
  }

  void finish() {
    if (request().keys.size() > 0) again_ms_ = std::min(again_ms_, kWatchAgainMs);
    // One that has gone meanwhile has not asked all: the next one looks in its place.
    claims_.visited(claim_, queues_, watch_, again_ms_, taken_ > 0 || claim_->gone);
  }

  Claims& claims_;
  ClaimPtr claim_;
  std::vector<std::string> queues_;
  Watch* watch_;  // the one for which it looks; null for a claim's first look
  std::size_t turn_;
  std::size_t queue_ = 0;
  std::vector<std::size_t> shards_;  // of places_, to be asked
  std::size_t shard_ = 0;            // of shards_
  bool settled_ = true;  // what is on its way between two sets of shards, of the keys asked for
  QueuePtr places_;
  std::size_t taken_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t again_ms_ = INT64_MAX;
  base::BootClock::time_point sent_;  // the script
  int tries_ = 0;
};

Claims::Claims(Context& context, Alarms& alarms) : context_(context), alarms_(alarms) {}

Claims::~Claims() = default;

Claims::Watch& Claims::watch_of(const std::string& queue) {
  auto& watch = watches_[queue];
  if (!watch) {
    watch = std::make_unique<Watch>();
    watch->queue = queue;
  }
  return *watch;
}

void Claims::begin(core::Ticket ticket, const AskedPtr& asked) {
  auto claim = std::make_shared<Claim>();
  claim->ticket = ticket;
  claim->asked = asked;
  claim->request = &std::get<core::ClaimRequest>(asked->request);
  claim->may_wait = claim->request->wait.count() > 0;
  if (claim->may_wait) claims_.emplace(ticket, claim);
  visit(claim, claim->request->queues, nullptr);
}

void Claims::visit(const ClaimPtr& claim, std::vector<std::string> queues, Watch* watch) {
  if (claim->may_wait) looking_.insert(claim);
  auto visit = std::make_shared<Visit>(*this, claim, std::move(queues), watch);
  context_.identity.check([visit](Result<void> checked) {
    if (!checked) return visit->fail(std::move(checked).error());
    visit->next_queue();
  });
}

void Claims::visited(const ClaimPtr& claim, const std::vector<std::string>& queues, Watch* watch,
                     std::int64_t again_ms, bool found) {
  looking_.erase(claim);
  if (claim != nullptr) {
    if (!claim->reply.items.empty() || claim->gone) {
      end(claim);
    } else if (!claim->may_wait) {
      end(claim);
    } else {
      park(claim, watch == nullptr ? queues : std::vector<std::string>(), again_ms);
    }
  }
  if (watch == nullptr) return;
  watch->looking = false;
  if (found || std::exchange(watch->again, false)) return look(*watch);
  look_in(*watch, again_ms);
}

void Claims::park(const ClaimPtr& claim, const std::vector<std::string>& looked_at,
                  std::int64_t again_ms) {
  if (closed_) return fail(claim, Error{ErrorCode::closed, "the store was closed"});
  claim->parked = true;
  claim->waited = true;
  if (claim->wait_end == 0) {
    // It waits no shorter than asked: the alarm's clock and the caller's may differ by a ms.
    claim->wait_end = alarms_.set(claim->request->wait.count(), [this, claim] {
      claim->may_wait = false;
      claim->wait_end = 0;
      if (claim->parked) {
        unpark(claim);
        end(claim);
      }
    });
  }
  for (const std::string& queue : claim->request->queues) {
    watch_of(queue).parked.push_back(claim);
  }
  for (const std::string& queue : looked_at) look_in(watch_of(queue), again_ms);
  // Those that looked at the time have been told too: to tell them once more would go on for ever.
  std::set<std::string> missed = std::exchange(claim->missed, {});
  while (!missed.empty()) {
    look(watch_of(missed.extract(missed.begin()).value()));
    if (claim->parked) continue;
    // It looks at that one now and waits at none, so the others would not find it: when it is back.
    claim->missed.merge(missed);
    return;
  }
}

void Claims::unpark(const ClaimPtr& claim) {
  claim->parked = false;
  for (const std::string& queue : claim->request->queues) {
    auto& parked = watch_of(queue).parked;
    std::erase(parked, claim);
  }
}

void Claims::end(const ClaimPtr& claim) {
  alarms_.cancel(std::exchange(claim->wait_end, 0));
  claims_.erase(claim->ticket);
  if (claim->gone) {
    release(claim->reply);
    return;
  }
  claim->gone = true;
  claim->asked->reply = std::move(claim->reply);
  claim->asked->complete();
}

void Claims::fail(const ClaimPtr& claim, Error error) {
  looking_.erase(claim);
  alarms_.cancel(std::exchange(claim->wait_end, 0));
  claims_.erase(claim->ticket);
  if (std::exchange(claim->gone, true)) return;
  claim->asked->fail(std::move(error));
}

void Claims::release(const core::ClaimReply& reply) {
  if (reply.items.empty()) return;
  core::SettleRequest request;
  for (const core::ClaimedItem& claimed : reply.items) {
    core::SettleItem item;
    item.receipt = core::append(request.bytes, core::view(reply.bytes, claimed.receipt));
    item.action = core::SettleAction::release;
    request.items.push_back(item);
  }
  auto asked = std::make_shared<Asked>();
  asked->request = std::move(request);
  // Should it fail, the leases run out by themselves.
  asked->completion = [](Result<core::Reply>) {};
  settle(context_, asked);
}

void Claims::withdraw(core::Ticket ticket) {
  const auto found = claims_.find(ticket);
  if (found == claims_.end()) return;
  const ClaimPtr claim = found->second;
  if (claim->parked) {
    unpark(claim);
    end(claim);
    return;
  }
  // It is looking: answered now, and what it finds is released.
  alarms_.cancel(std::exchange(claim->wait_end, 0));
  claims_.erase(found);
  claim->gone = true;
  claim->asked->reply = core::ClaimReply();
  claim->asked->complete();
}

void Claims::wake(std::string_view queue) {
  const std::string name(queue);
  for (const ClaimPtr& claim : looking_) {
    if (names(*claim->request, name)) claim->missed.insert(name);
  }
  const auto found = watches_.find(name);
  if (found != watches_.end()) look(*found->second);
}

void Claims::wake_all() {
  for (const ClaimPtr& claim : looking_) {
    const auto& queues = claim->request->queues;
    claim->missed.insert(queues.begin(), queues.end());
  }
  std::vector<std::string> queues;
  for (const auto& [name, watch] : watches_) queues.push_back(name);
  for (const std::string& queue : queues) wake(queue);
}

void Claims::look(Watch& watch) {
  if (watch.looking) {
    watch.again = true;
    return;
  }
  std::vector<ClaimPtr> each;
  ClaimPtr first;
  for (const ClaimPtr& claim : watch.parked) {
    if (looks_for_itself(*claim->request)) {
      each.push_back(claim);
    } else if (first == nullptr) {
      first = claim;
    }
  }
  for (const ClaimPtr& claim : each) {
    unpark(claim);
    visit(claim, {watch.queue}, nullptr);
  }
  if (first == nullptr) {
    // Those that look elsewhere are parked at no queue meanwhile: they look here when they are
    // back.
    for (const ClaimPtr& claim : looking_) {
      if (waits_at(*claim, watch.queue)) claim->missed.insert(watch.queue);
    }
    return;
  }
  // What was missed so far, this one sees for all of them.
  for (const ClaimPtr& claim : looking_) {
    if (waits_at(*claim, watch.queue)) claim->missed.erase(watch.queue);
  }
  alarms_.cancel(std::exchange(watch.alarm, 0));
  watch.looking = true;
  unpark(first);
  visit(first, {watch.queue}, &watch);
}

void Claims::look_in(Watch& watch, std::int64_t ms) {
  if (ms == INT64_MAX) return;
  const bool is_waited_at =
      !watch.parked.empty() || std::ranges::any_of(looking_, [&](const auto& claim) {
        return waits_at(*claim, watch.queue);
      });
  if (!is_waited_at) return;
  const std::int64_t at = alarms_.now_us() + ms * 1000;
  if (watch.alarm != 0 && watch.alarm_us <= at) return;
  alarms_.cancel(watch.alarm);
  watch.alarm_us = at;
  watch.alarm = alarms_.set(ms, [this, &watch] {
    watch.alarm = 0;
    wake(watch.queue);
  });
}

void Claims::close() {
  closed_ = true;
  std::vector<ClaimPtr> parked;
  for (const auto& [ticket, claim] : claims_) {
    if (claim->parked) parked.push_back(claim);
  }
  for (const ClaimPtr& claim : parked) {
    unpark(claim);
    fail(claim, Error{ErrorCode::closed, "the store was closed"});
  }
}

std::uint64_t Claims::waiting_at(const std::string& queue) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(claims_, [&](const auto& entry) {
    return entry.second->waited && names(*entry.second->request, queue);
  }));
}

void Claims::forget_unwaited() {
  std::unordered_set<std::string_view> looked_at;
  for (const ClaimPtr& claim : looking_) {
    looked_at.insert(claim->request->queues.begin(), claim->request->queues.end());
  }
  std::erase_if(watches_, [&](const auto& named) {
    const Watch& watch = *named.second;
    if (!watch.parked.empty() || watch.looking || looked_at.contains(watch.queue)) return false;
    alarms_.cancel(watch.alarm);
    return true;
  });
}

std::vector<std::string> Claims::waited_queues() const {
  std::vector<std::string> queues;
  for (const auto& [name, watch] : watches_) {
    if (!watch->parked.empty()) queues.push_back(name);
  }
  return queues;
}

}  // namespace tarry::redis
