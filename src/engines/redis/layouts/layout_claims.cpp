#include "engines/redis/layouts/layout_claims.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "engines/redis/layouts/layout_look.h"
#include "engines/redis/layouts/layout_verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// Messages that one call of the script claims: other clients wait meanwhile.
constexpr std::uint32_t kMostClaimedAtOnce = 500;
// Foreign producers publish nothing.
constexpr std::int64_t kLookAgainMs = 1'000;
// Redisson's entries are found by their ids only by looking through all of them.
constexpr std::int64_t kWalkAgainMs = 5'000;
constexpr std::int64_t kNotSoonMs = INT64_MAX;
// So many queues are kept in any case.
constexpr std::size_t kLeastKept = 64;

bool names(const core::ClaimRequest& request, const std::string& queue) {
  return std::ranges::find(request.queues, queue) != request.queues.end();
}

std::string fresh_nonce() {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < kNonceDigits / 2) bytes += static_cast<char>(random() & 0xFFu);
  return base::hex_digits(bytes);
}

}  // namespace

struct LayoutClaims::Claim {
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

// It takes what any other that waits there leaves over. Those by key look for different messages.
bool LayoutClaims::waits_at(const Claim& claim, const std::string& queue) {
  return claim.request->keys.empty() && names(*claim.request, queue);
}

// What is known of a queue at which claims wait.
struct LayoutClaims::Watch {
  std::string queue;
  std::deque<ClaimPtr> parked;
  Alarms::Id alarm = 0;
  std::int64_t alarm_us = 0;
  bool looking = false;
  bool again = false;  // woken while one looked
};

// One claim's look at queues, one after the other, until it has what it wants.
class LayoutClaims::Look : public std::enable_shared_from_this<Look> {
 public:
  Look(LayoutClaims& claims, ClaimPtr claim, std::vector<std::string> queues, Watch* watch)
      : claims_(claims),
        claim_(std::move(claim)),
        queues_(std::move(queues)),
        watch_(watch),
        turn_(claims.turn_++) {}

  void next_queue() {
    if (is_full() || at_ == queues_.size()) return finish();
    auto keys = claims_.context_.names.keys_of(queues_[(turn_ + at_) % queues_.size()]);
    if (!keys) return fail(std::move(keys).error());
    keys_ = *std::move(keys);
    if (request().keys.empty()) return call();
    find_members(claims_.context_, keys_, request().keys,
                 [self = shared_from_this()](Result<Members> members) {
                   if (!members) return self->fail(std::move(members).error());
                   self->wish_.by_member = true;
                   for (auto& member : *members) {
                     if (member) self->wish_.members.push_back(*std::move(member));
                   }
                   self->call();
                 });
  }

 private:
  [[nodiscard]] const core::ClaimRequest& request() const { return *claim_->request; }
  [[nodiscard]] bool is_full() const {
    return claim_->gone || claim_->reply.items.size() >= request().max ||
           (taken_ > 0 && bytes_ >= request().max_bytes);
  }

  void call() {
    const auto left = static_cast<std::uint32_t>(request().max - claim_->reply.items.size());
    wish_.max = std::min(left, kMostClaimedAtOnce);
    wish_.lease_ms = request().lease.value_or(QueueSettings().lease).count();
    wish_.bytes = request().max_bytes - std::min(bytes_, request().max_bytes);
    wish_.first_goes = taken_ == 0;
    wish_.nonce = fresh_nonce();
    wish_.turn = turn_;
    wish_.any_state = request().any_state;
    sent_ = base::BootClock::now();
    call_layout(
        claims_.context_, keys_, wish_.by_member ? Script::layout_claim_keys : Script::layout_claim,
        [self = shared_from_this()](RedisCommand& command) {
          add_wish(self->claims_.context_.spec, self->wish_, command);
        },
        [self = shared_from_this()](Result<RedisReply> told) {
          if (!told) return self->fail(std::move(told).error());
          self->take(told->view());
        });
  }

  void take(net::RedisView told) {
    const LayoutContext& context = claims_.context_;
    const auto answer =
        read_look(context.spec, *keys_, wish_, told, claim_->reply, claims_.lateness_);
    if (!answer) return fail(strange_reply(context.server, Script::layout_claim));
    if (answer->taken > 0) claim_->reply.began(sent_);
    taken_ += answer->taken;
    bytes_ += answer->bytes;
    if (answer->again_ms) again_ms_ = std::min(again_ms_, *answer->again_ms);
    if (answer->odd > 0) claims_.tell_odd(*keys_, answer->odd, answer->first_odd);
    if (answer->odd >= 0) {
      claims_.told_bodyless_.erase(keys_->queue);
    } else if (claims_.told_bodyless_.insert(keys_->queue).second) {
      context.log("layout hash: messages of queue " + base::quoted(keys_->queue) +
                  " are due, and HASH " + base::quoted(answer->first_odd, 512) +
                  " is not there; they are left alone. Is it the right hash=?");
    }
    if (answer->undecoded > 0) {
      context.log("layout redisson: " + std::to_string(answer->undecoded) + " values of queue " +
                  base::quoted(keys_->queue) +
                  " are not what decode=" + std::string(to_string(context.spec.decode)) +
                  " reads, and were handed out as they are; decode=auto or raw may fit");
    }
    if (answer->wrong_unit.empty()) {
      claims_.told_units_.erase(keys_->queue);
    } else {
      const Error error = wrong_unit(context.spec, *keys_, answer->wrong_unit);
      if (claim_->reply.items.empty()) return fail(error);
      if (claims_.told_units_.insert(keys_->queue).second) context.log(error.message);
    }
    // As many as were asked for, or some that were no messages: there may be more here.
    const bool more = answer->taken == wish_.max || answer->odd > 0;
    if (answer->seen == Seen()) return go_on(more);
    // Before the messages are handed over: with their acks the queue may be empty.
    claims_.seen_.saw(keys_, answer->seen,
                      [self = shared_from_this(), more] { self->go_on(more); });
  }

  void go_on(bool more) {
    if (more && !wish_.by_member && !is_full()) return call();
    ++at_;
    next_queue();
  }

  void fail(Error error) {
    // What came before is handed over; the next claim is told.
    if (!claim_->reply.items.empty()) return finish();
    Watch* watch = std::exchange(watch_, nullptr);
    claims_.fail(claim_, std::move(error));
    if (watch != nullptr) claims_.looked(nullptr, watch, kLookAgainMs, false);
  }

  void finish() { claims_.looked(claim_, watch_, again_ms_, taken_ > 0); }

  LayoutClaims& claims_;
  const ClaimPtr claim_;
  const std::vector<std::string> queues_;
  Watch* watch_;  // the one for which it looks; null for a claim's first look
  const std::size_t turn_;
  std::size_t at_ = 0;
  LayoutKeysPtr keys_;
  LookWish wish_;
  std::size_t taken_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t again_ms_ = kNotSoonMs;
  base::BootClock::time_point sent_;  // the script
};

LayoutClaims::LayoutClaims(const LayoutContext& context, Alarms& alarms)
    : context_(context), alarms_(alarms), seen_(context) {}

LayoutClaims::~LayoutClaims() = default;

LayoutClaims::Watch& LayoutClaims::watch_of(const std::string& queue) {
  auto& watch = watches_[queue];
  if (!watch) {
    watch = std::make_unique<Watch>();
    watch->queue = queue;
  }
  return *watch;
}

void LayoutClaims::begin(core::Ticket ticket, const AskedPtr& asked) {
  auto claim = std::make_shared<Claim>();
  claim->ticket = ticket;
  claim->asked = asked;
  claim->request = &std::get<core::ClaimRequest>(asked->request);
  claim->may_wait = claim->request->wait.count() > 0;
  if (watches_.size() >= most_watches_) forget_unwaited();
  if (claim->may_wait) claims_.emplace(ticket, claim);
  look_for(claim, claim->request->queues, nullptr);
}

void LayoutClaims::look_for(const ClaimPtr& claim, std::vector<std::string> queues, Watch* watch) {
  if (claim->may_wait) looking_.insert(claim);
  std::make_shared<Look>(*this, claim, std::move(queues), watch)->next_queue();
}

void LayoutClaims::looked(const ClaimPtr& claim, Watch* watch, std::int64_t again_ms, bool found) {
  if (claim != nullptr) {
    looking_.erase(claim);
    if (!claim->reply.items.empty() || claim->gone || !claim->may_wait) {
      end(claim);
    } else {
      park(claim, again_ms);
    }
  }
  if (watch == nullptr) return;
  watch->looking = false;
  if (std::exchange(watch->again, false) || found) return look_at(*watch);
  look_in(*watch, std::min(again_ms, kLookAgainMs));
}

void LayoutClaims::park(const ClaimPtr& claim, std::int64_t again_ms) {
  if (closed_) return fail(claim, Error{ErrorCode::closed, "the store was closed"});
  claim->parked = true;
  claim->waited = true;
  if (claim->wait_end == 0) {
    claim->wait_end = alarms_.set(claim->request->wait.count(), [this, claim] {
      claim->may_wait = false;
      claim->wait_end = 0;
      if (!claim->parked) return;
      unpark(claim);
      end(claim);
    });
  }
  const bool walks = !claim->request->keys.empty() && context_.spec.layout == Layout::redisson;
  const std::int64_t at_last = walks ? kWalkAgainMs : kLookAgainMs;
  for (const std::string& queue : claim->request->queues) {
    watch_of(queue).parked.push_back(claim);
    look_in(watch_of(queue), std::min(again_ms, at_last));
  }
  // Those that looked at the time have been told too: to tell them once more would go on for ever.
  std::set<std::string> missed = std::exchange(claim->missed, {});
  while (!missed.empty()) {
    look_at(watch_of(missed.extract(missed.begin()).value()));
    if (claim->parked) continue;
    // It looks at that one now and waits at none, so the others would not find it: when it is back.
    claim->missed.merge(missed);
    return;
  }
}

void LayoutClaims::unpark(const ClaimPtr& claim) {
  claim->parked = false;
  for (const std::string& queue : claim->request->queues) {
    std::erase(watch_of(queue).parked, claim);
  }
}

void LayoutClaims::forget(const ClaimPtr& claim) {
  alarms_.cancel(std::exchange(claim->wait_end, 0));
  claims_.erase(claim->ticket);
}

void LayoutClaims::end(const ClaimPtr& claim) {
  forget(claim);
  if (std::exchange(claim->gone, true)) return release(claim->reply);
  claim->asked->reply = std::move(claim->reply);
  claim->asked->complete();
}

void LayoutClaims::fail(const ClaimPtr& claim, Error error) {
  looking_.erase(claim);
  forget(claim);
  if (std::exchange(claim->gone, true)) return;
  claim->asked->fail(std::move(error));
}

void LayoutClaims::release(const core::ClaimReply& reply) {
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
  layout_settle(context_, asked);
}

void LayoutClaims::tell_odd(const LayoutKeys& keys, std::int64_t count, std::string_view first) {
  const std::string which = std::to_string(count) + " in queue " + base::quoted(keys.queue) +
                            ", the first " + base::quoted(first);
  if (context_.spec.layout == Layout::hash) {
    context_.log("layout hash: members without a body in the HASH: " + which +
                 "; they are looked at again in 10s");
  } else {
    context_.log("layout redisson: entries that do not unpack: " + which +
                 "; they are set aside in ZSET " + base::quoted(keys.aside, 512));
  }
}

void LayoutClaims::withdraw(core::Ticket ticket) {
  const auto found = claims_.find(ticket);
  if (found == claims_.end()) return;
  const ClaimPtr claim = found->second;
  if (claim->parked) {
    unpark(claim);
    end(claim);
    return;
  }
  // It is looking: answered now, and what it finds is released.
  forget(claim);
  claim->gone = true;
  claim->asked->reply = core::ClaimReply();
  claim->asked->complete();
}

void LayoutClaims::wake(const std::string& queue) {
  for (const ClaimPtr& claim : looking_) {
    if (names(*claim->request, queue)) claim->missed.insert(queue);
  }
  const auto found = watches_.find(queue);
  if (found != watches_.end()) look_at(*found->second);
}

void LayoutClaims::wake_all() {
  for (const ClaimPtr& claim : looking_) {
    const auto& queues = claim->request->queues;
    claim->missed.insert(queues.begin(), queues.end());
  }
  std::vector<std::string> queues;
  for (const auto& [name, watch] : watches_) queues.push_back(name);
  for (const std::string& queue : queues) wake(queue);
}

void LayoutClaims::look_at(Watch& watch) {
  if (watch.looking) {
    watch.again = true;
    return;
  }
  // Those by key look for different messages: each looks for itself.
  std::vector<ClaimPtr> by_key;
  ClaimPtr first;
  for (const ClaimPtr& claim : watch.parked) {
    if (!claim->request->keys.empty()) {
      by_key.push_back(claim);
    } else if (first == nullptr) {
      first = claim;
    }
  }
  for (const ClaimPtr& claim : by_key) {
    unpark(claim);
    look_for(claim, {watch.queue}, nullptr);
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
  look_for(first, {watch.queue}, &watch);
}

void LayoutClaims::look_in(Watch& watch, std::int64_t ms) {
  if (watch.parked.empty()) return;
  ms = std::clamp<std::int64_t>(ms, 0, kWalkAgainMs);
  const std::int64_t at = alarms_.now_us() + ms * 1000;
  if (watch.alarm != 0 && watch.alarm_us <= at) return;
  alarms_.cancel(watch.alarm);
  watch.alarm_us = at;
  watch.alarm = alarms_.set(ms, [this, &watch] {
    watch.alarm = 0;
    // Not look_at: one that is looking elsewhere would not hear of it.
    wake(watch.queue);
  });
}

void LayoutClaims::close() {
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

std::uint64_t LayoutClaims::waiting_at(const std::string& queue) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(claims_, [&](const auto& entry) {
    return entry.second->waited && names(*entry.second->request, queue);
  }));
}

void LayoutClaims::forget_unwaited() {
  std::set<std::string_view> looked_at;
  for (const ClaimPtr& claim : looking_) {
    looked_at.insert(claim->request->queues.begin(), claim->request->queues.end());
  }
  std::erase_if(watches_, [&](const auto& named) {
    const Watch& watch = *named.second;
    if (!watch.parked.empty() || watch.looking || looked_at.contains(watch.queue)) return false;
    alarms_.cancel(watch.alarm);
    return true;
  });
  most_watches_ = std::max(kLeastKept, 2 * watches_.size());
}

}  // namespace tarry::redis
