// For tests: random lives of one shard, with every verb and with moves of the clock.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/rules/headers.h"
#include "support/embedded/one_shard.h"
#include "support/embedded/requests.h"

namespace tarry::embedded::test {

// The kind of step, and two numbers for it.
using Step = std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>;
using Steps = std::vector<Step>;

inline constexpr std::int64_t kSecond = 1000;

class Life {
 public:
  explicit Life(timing::ManualClock& clock) : clock_(&clock) {}

  /// Carries out the step: submits a request to the shard, or moves the clock.
  void submit(OneShard& shard, const Step& step) {
    const auto [what, a, b] = step;
    const std::string queue = a % 5 == 0 ? "other" : "q";
    switch (what % 24) {
      default: push(shard, queue, a, b); break;
      case 6:
      case 7:
      case 8: claim(shard, queue, a, b); break;
      case 9: settle(shard, core::SettleAction::ack, a, b); break;
      case 10: settle(shard, core::SettleAction::retry, a, b); break;
      case 11: settle(shard, core::SettleAction::release, a, b); break;
      case 12: settle(shard, core::SettleAction::bury, a, b); break;
      case 13: shard.submit(test::extend(receipt(a), Millis((1 + b) * kSecond))); break;
      case 14: shard.submit(test::cancel(queue, key(b))); break;
      case 15: shard.submit(test::reschedule(queue, key(b), Due::after(Millis(a * 100)))); break;
      case 16: configure(shard, queue, a, b); break;
      case 17:
        if (b % 2 == 0) {
          shard.submit(core::PauseRequest{queue, std::nullopt});
        } else {
          shard.submit(core::ResumeRequest{queue});
        }
        break;
      case 18:
        if (b % 4 == 0) {
          shard.submit(core::PurgeRequest{queue});
        } else {
          core::ReviveRequest revive;
          revive.queue = queue;
          revive.all = true;
          shard.submit(std::move(revive));
        }
        break;
      case 19: move(shard, queue, a, b); break;
      case 20: clock_->advance(b * 100); break;
      case 21: clock_->advance(b * kSecond); break;
      case 22: clock_->step_realtime((b - 128) * 50); break;
      case 23: settle(shard, core::SettleAction::move_away, a, b); break;
    }
  }

 private:
  static std::string key(std::uint8_t number) { return "key-" + std::to_string(number % 16); }
  std::string receipt(std::uint8_t number) const {
    if (receipts_.empty()) return "r" + std::string(30, 'A');
    return receipts_[receipts_.size() - 1 - number % std::min<std::size_t>(8, receipts_.size())];
  }

  void push(OneShard& shard, const std::string& queue, std::uint8_t a, std::uint8_t b) {
    const std::string name = a % 7 == 0 ? "" : key(b);
    const Due due = a % 3 == 0 ? Due::at(Time(Millis(clock_->now().realtime_ms + b * 50)))
                               : Due::after(Millis((b % 32) * 100));
    auto request = test::push(queue, name.c_str(), due, std::string(a * 4u, 'p'));
    if (a % 4 != 0) {  // else it is refused while messages have groups
      const std::string headers = core::encode_headers({{"g", std::to_string(b % 3)}}).value();
      request.items[0].headers = core::append(request.bytes, headers);
    }
    request.items[0].if_exists = static_cast<IfExists>(a % 5);
    request.items[0].priority = b % 3;
    request.items[0].max_attempts = a % 4;
    if (a % 11 == 0) request.items[0].expire = Millis((1 + b % 16) * 500);
    if (a % 11 == 1) {
      request.items[0].expire_at = Time(Millis(clock_->now().realtime_ms + b * 100));
    }
    shard.submit(std::move(request));
  }

  void claim(OneShard& shard, const std::string& queue, std::uint8_t a, std::uint8_t b) {
    auto request = test::claim(queue, 1 + a % 4);
    request.lease = Millis((1 + b % 20) * kSecond);
    request.by = std::string(a, 'w');
    if (b % 6 == 0) {
      request.keys = {key(a), key(static_cast<std::uint8_t>(a + 1))};
      request.any_state = true;
    }
    shard.submit(std::move(request), [this](const Result<core::Reply>& reply) {
      if (!reply) return;
      const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
      receipts_.insert(receipts_.end(), receipts.begin(), receipts.end());
    });
  }

  void settle(OneShard& shard, core::SettleAction action, std::uint8_t a, std::uint8_t b) {
    auto request = test::settle({receipt(a), receipt(b)}, action,
                                action == core::SettleAction::ack ? "" : key(b));
    if (b % 2 == 0) request.items[0].priority = b;
    if (action == core::SettleAction::retry && a % 2 == 0) {
      request.items[0].delay = Millis(b * 10);
    }
    shard.submit(std::move(request));
  }

  static void configure(OneShard& shard, const std::string& queue, std::uint8_t a, std::uint8_t b) {
    core::ConfigureRequest request;
    request.queue = queue;
    request.patch.remember = Millis(a % 3 * 5 * kSecond);
    request.patch.dead_keep = Millis((1 + b % 3) * 10 * kSecond);
    request.patch.max_attempts = 1 + b % 4;
    request.patch.if_exists = static_cast<IfExists>(a % 5);
    request.patch.expire = Millis(b % 4 == 0 ? 5 * kSecond : 0);
    request.patch.max_leased = b % 5 == 0 ? 1 + a % 3 : 0;
    if (b % 2 == 0) request.patch.group = Grouping{Grouping::By::header, "g"};
    if (b % 16 == 1) request.patch.group = Grouping();
    request.patch.group_max_leased = b % 7 == 0 ? 1 + a % 2 : 0;
    if (b % 3 != 0) request.patch.history = b % 8 == 1 ? 0 : 1 + a % 6;
    if (b % 11 == 0) request.patch.group_order = GroupOrder::push;
    request.patch.on_expiry = b % 3 == 0 ? OnExpiry::dead : OnExpiry::end;
    shard.submit(std::move(request));
  }

  static void move(OneShard& shard, const std::string& queue, std::uint8_t a, std::uint8_t b) {
    core::MoveRequest request;
    request.queue = queue;
    core::MoveItem item;
    item.push.key = core::append(request.bytes, key(b));
    item.push.payload = core::append(request.bytes, "moved");
    item.attempt = a % 3;
    item.tallies = {a, b, 1, 2, 3};
    item.dead = a % 2 == 0;
    if (item.dead) item.reason = core::append(request.bytes, "was dead there");
    request.items.push_back(item);
    shard.submit(std::move(request));
  }

  timing::ManualClock* clock_;
  std::vector<std::string> receipts_;
};

inline rc::Gen<Steps> gen_steps() { return rc::gen::scale(2.0, rc::gen::arbitrary<Steps>()); }

}  // namespace tarry::embedded::test
