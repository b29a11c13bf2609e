#include "engines/redis/claims/claims.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engines/redis/node/countdown.h"
#include "engines/redis/records/member.h"
#include "engines/redis/verbs/claim_reply.h"
#include "engines/redis/verbs/limited.h"
#include "engines/redis/verbs/parted.h"
#include "engines/redis/verbs/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// Messages that one call of the script claims; other clients wait during the call.
constexpr std::uint32_t kMostAtOnce = 500;
// A waiting claim by key asks Redis to publish changes for this long.
constexpr std::int64_t kWatchedMs = 10'000;
// The claim looks again after this time, before kWatchedMs ends.
constexpr std::int64_t kWatchAgainMs = 5'000;
constexpr std::int64_t kAfterFailureMs = 1'000;  // until a claim that failed looks again
// A claim lets up to 65,500 messages expire, 500 in each call, to get to those after them.
constexpr int kExpiredRounds = 131;
// If a queue's limits have no room, a claim ends leases that have run out: so many of them in each
// call, and so often.
constexpr std::int64_t kTickSlice = 100;
constexpr int kEndedRounds = 100;

}  // namespace

// One claim's look at its queues, shard after shard.
class Claims::Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(Claims& claims, ClaimPtr claim, std::vector<std::string> queues, Watch watch)
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
      if (*queue == nullptr) return self->leave_queue();
      self->places_ = std::move(*queue);
      self->choose_shards();
      self->settled_ = self->places_->closed == 0 || self->request().keys.empty();
      self->next_shard();
    });
  }

  void fail(Error error) {
    // Messages from other shards are handed over; the next claim gets the error.
    if (!claim_->reply.items.empty()) return finish();
    claims_.fail(claim_, watch_, std::move(error), kAfterFailureMs);
  }

 private:
  [[nodiscard]] const core::ClaimRequest& request() const { return *claim_->request; }
  [[nodiscard]] std::uint32_t left() const {
    return request().max - static_cast<std::uint32_t>(claim_->reply.items.size());
  }
  [[nodiscard]] bool is_full() const {
    return claim_->gone || left() == 0 || (taken_ > 0 && bytes_ >= request().max_bytes);
  }

  void leave_queue() {
    ++queue_;
    tries_ = 0;
    next_queue();
  }

  // Chooses which of the queue's shards to ask, and in what order.
  void choose_shards() {
    shard_ = 0;
    shards_.clear();
    const std::size_t all = places_->shards.size();
    // For claims by key the closed shards come first.
    const std::size_t turn = !request().keys.empty() && places_->closed > 0 ? 0 : turn_;
    const std::vector<std::uint32_t>* wanted = shards_wanted(request(), places_->name);
    for (std::size_t i = 0; i < all; ++i) {
      const std::size_t place = (turn + i) % all;
      if (wanted == nullptr || is_among(*wanted, place)) shards_.push_back(place);
    }
  }
  // A consumer that is to have an open shard also gets its part of the closed ones; otherwise no
  // consumer would.
  [[nodiscard]] bool is_among(const std::vector<std::uint32_t>& wanted, std::size_t place) const {
    const auto shard = static_cast<std::uint32_t>(
        place < places_->closed ? place % places_->open() : place - places_->closed);
    return std::ranges::find(wanted, shard) != wanted.end();
  }

  void next_shard() {
    if (is_full() || shard_ == shards_.size()) return leave_queue();
    const std::uint32_t asked = std::min(left(), kMostAtOnce);
    const bool by_key = !request().keys.empty();
    if (!settled_ && shard_ == places_->closed) return settle_keys();
    const Place& place = places_->shards[shards_[shard_]];
    sent_ = base::BootClock::now();
    auto build = [self = shared_from_this(), asked](RedisCommand& command) {
      self->build(command, asked);
    };
    auto done = [self = shared_from_this(), &place, places = places_,
                 asked](Result<RedisReply> reply) {
      if (!reply) return self->failed(std::move(reply).error());
      self->take(place, reply->view(), asked);
    };
    Server& server = claims_.context_.server;
    if (!places_->limited) {
      return server.run_on(place, by_key ? Script::claim_keys : Script::claim, std::move(build),
                           std::move(done));
    }
    if (auto refused = refuse_shards(claims_.context_, *places_)) {
      places_->limited = false;  // the next claim asks whether the queue still has limits
      return fail(*std::move(refused));
    }
    server.run_with_all(*places_, place,
                        by_key ? Script::claim_keys_limited : Script::claim_limited,
                        std::move(build), std::move(done));
  }

  // Leases in these shards may have ended, so that the limits have room.
  void end_leases(const std::vector<std::size_t>& behind) {
    const auto first = std::make_shared<std::optional<Error>>();
    auto countdown = std::make_shared<Countdown>(
        [self = shared_from_this(), first] { self->leases_ended(std::move(*first)); });
    for (const std::size_t shard : behind) {
      countdown->begin();
      claims_.context_.server.run_on(
          places_->open_first(shard), Script::tick,
          [](RedisCommand& command) { command.add(kTickSlice); },
          [countdown, first, places = places_](Result<RedisReply> reply) {
            if (!reply && !*first) *first = std::move(reply).error();
            countdown->end();
          });
    }
    countdown->end();
  }
  void leases_ended(std::optional<Error> error) {
    if (error && is_moved(*error)) return failed(*std::move(error));
    if (error) ended_rounds_ = kEndedRounds;  // the claim finds no room, and looks again later
    next_shard();
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
      if (places_->limited) command.add(claim_->may_wait ? "1" : "");
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
    if (answer->has_expired_left && ++expired_rounds_ < kExpiredRounds) return next_shard();
    if (answer->gate && !take_gate(*answer)) return;
    // The shard gave as many as were asked for, so it may have more.
    if (answer->taken + answer->damaged.size() == asked && left() > 0) return next_shard();
    ++shard_;
    next_shard();
  }

  // False if the claim does not go on with the next shard.
  bool take_gate(const ClaimAnswer& answer) {
    const GateAnswer& gate = *answer.gate;
    places_->limited = gate.limited;
    if (!gate.behind.empty() && !is_full() && ++ended_rounds_ < kEndedRounds) {
      end_leases(gate.behind);
      return false;
    }
    if (!gate.held) return true;
    if (!gate.behind.empty()) again_ms_ = std::min(again_ms_, kAfterFailureMs);
    leave_queue();
    return false;
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
    if (needs_all_shards(error)) {
      places_->limited = true;
      if (++tries_ < 5) return next_shard();
      error = {ErrorCode::unavailable,
               "the limits of queue " + places_->name + " are being changed; try again"};
    }
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
    // If the caller has gone, this claim did not ask all shards. Then the next claim has to look.
    claims_.looked(claim_, queues_, watch_, again_ms_, taken_ > 0 || claim_->gone);
  }

  Claims& claims_;
  ClaimPtr claim_;
  std::vector<std::string> queues_;
  Watch watch_;
  std::size_t turn_;
  std::size_t queue_ = 0;
  std::vector<std::size_t> shards_;  // shards to ask, as indices in places_
  std::size_t shard_ = 0;            // index in shards_
  bool settled_ = true;              // false: held copies of wanted messages come first (parted.h)
  QueuePtr places_;
  std::size_t taken_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t again_ms_ = INT64_MAX;
  base::BootClock::time_point sent_;  // when the script was sent
  int tries_ = 0;                     // at this queue
  int expired_rounds_ = 0;
  int ended_rounds_ = 0;
};

Claims::Claims(Context& context, Alarms& alarms, const core::Limits& limits)
    : WaitingClaims(alarms, limits), context_(context) {}

Claims::~Claims() = default;

void Claims::look(const ClaimPtr& claim, std::vector<std::string> queues, Watch watch) {
  auto visit = std::make_shared<Visit>(*this, claim, std::move(queues), watch);
  context_.identity.check([visit](Result<void> checked) {
    if (!checked) return visit->fail(std::move(checked).error());
    visit->next_queue();
  });
}

void Claims::release(const core::ClaimReply& reply) {
  if (auto asked = release_of(reply)) settle(context_, asked);
}

// There is no need to look from time to time: Redis reports when there may be a message.
std::int64_t Claims::longest_ms(const core::ClaimRequest& /*request*/) const { return INT64_MAX; }

}  // namespace tarry::redis
