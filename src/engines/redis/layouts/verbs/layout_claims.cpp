#include "engines/redis/layouts/verbs/layout_claims.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "engines/redis/layouts/verbs/layout_look.h"
#include "engines/redis/layouts/verbs/layout_verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// Messages that one call of the script claims; other clients wait during the call.
constexpr std::uint32_t kMostClaimedAtOnce = 500;
// Foreign producers publish nothing, so a waiting claim looks this often.
constexpr std::int64_t kLookAgainMs = 1'000;
// To find Redisson's entries by their ids, Redis looks through all of them. So a claim by key looks
// only this often.
constexpr std::int64_t kWalkAgainMs = 5'000;

constexpr std::int64_t kNotSoonMs = INT64_MAX;

std::string fresh_nonce() {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < kNonceDigits / 2) bytes += static_cast<char>(random() & 0xFFu);
  return base::hex_digits(bytes);
}

}  // namespace

// One claim's look at its queues, one after the other, until it has enough.
class LayoutClaims::Look : public std::enable_shared_from_this<Look> {
 public:
  Look(LayoutClaims& claims, ClaimPtr claim, std::vector<std::string> queues, Watch watch)
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
    if (!choose_shards()) return go_on(false);
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

  // Each ZSET is a shard. Returns false if the queue has none of the wanted shards.
  [[nodiscard]] bool choose_shards() {
    wish_.shards.clear();
    const std::vector<std::uint32_t>* wanted = shards_wanted(request(), keys_->queue);
    if (wanted == nullptr) return true;
    std::ranges::copy_if(*wanted, std::back_inserter(wish_.shards),
                         [this](std::uint32_t shard) { return shard < keys_->zsets.size(); });
    return !wish_.shards.empty();
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
      context.log({LogLevel::warning, "layout_hash_missing",
                   "layout hash: messages of queue " + base::quoted(keys_->queue) +
                       " are due, and HASH " + base::quoted(answer->first_odd, 512) +
                       " does not exist; they are left alone. Is it the right hash=?"});
    }
    if (answer->undecoded > 0) {
      context.log({LogLevel::warning, "layout_undecoded",
                   "layout redisson: " + std::to_string(answer->undecoded) + " values of queue " +
                       base::quoted(keys_->queue) + " cannot be read with decode=" +
                       std::string(to_string(context.spec.decode)) +
                       ", and were delivered as they are; decode=auto or raw may fit"});
    }
    if (answer->wrong_unit.empty()) {
      claims_.told_units_.erase(keys_->queue);
    } else {
      const Error error = wrong_unit(context.spec, *keys_, answer->wrong_unit);
      if (claim_->reply.items.empty()) return fail(error);
      if (claims_.told_units_.insert(keys_->queue).second) {
        context.log({LogLevel::warning, "layout_unit", error.message});
      }
    }
    // The call took as many as were asked for, or found members that were no messages: there may be
    // more here.
    const bool more = answer->taken == wish_.max || answer->odd > 0;
    if (answer->seen == Seen()) return go_on(more);
    // The form is remembered before the messages are handed over, because once they are acked the
    // queue may be empty.
    claims_.seen_.saw(keys_, answer->seen,
                      [self = shared_from_this(), more] { self->go_on(more); });
  }

  void go_on(bool more) {
    if (more && !wish_.by_member && !is_full()) return call();
    ++at_;
    next_queue();
  }

  void fail(Error error) {
    // Messages found so far are handed over; the next claim gets the error.
    if (!claim_->reply.items.empty()) return finish();
    claims_.fail(claim_, watch_, std::move(error), kLookAgainMs);
  }

  void finish() { claims_.looked(claim_, queues_, watch_, again_ms_, taken_ > 0); }

  LayoutClaims& claims_;
  const ClaimPtr claim_;
  const std::vector<std::string> queues_;
  const Watch watch_;
  const std::size_t turn_;
  std::size_t at_ = 0;
  LayoutKeysPtr keys_;
  LookWish wish_;
  std::size_t taken_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t again_ms_ = kNotSoonMs;
  base::BootClock::time_point sent_;  // when the script was sent
};

LayoutClaims::LayoutClaims(const LayoutContext& context, Alarms& alarms)
    : WaitingClaims(alarms, context.limits), context_(context), seen_(context) {}

LayoutClaims::~LayoutClaims() = default;

void LayoutClaims::look(const ClaimPtr& claim, std::vector<std::string> queues, Watch watch) {
  std::make_shared<Look>(*this, claim, std::move(queues), watch)->next_queue();
}

void LayoutClaims::release(const core::ClaimReply& reply) {
  if (auto asked = release_of(reply)) layout_settle(context_, asked);
}

std::int64_t LayoutClaims::longest_ms(const core::ClaimRequest& request) const {
  const bool walks = !request.keys.empty() && context_.spec.layout == Layout::redisson;
  return walks ? kWalkAgainMs : kLookAgainMs;
}

void LayoutClaims::tell_odd(const LayoutKeys& keys, std::int64_t count, std::string_view first) {
  const std::string which = std::to_string(count) + " in queue " + base::quoted(keys.queue) +
                            ", the first " + base::quoted(first);
  if (context_.spec.layout == Layout::hash) {
    context_.log({LogLevel::warning, "layout_no_body",
                  "layout hash: members without a body in the HASH: " + which +
                      "; tarry looks at them again in 10s"});
  } else {
    context_.log({LogLevel::warning, "layout_set_aside",
                  "layout redisson: entries that cannot be unpacked: " + which +
                      "; they are set aside in ZSET " + base::quoted(keys.aside, 512)});
  }
}

}  // namespace tarry::redis
