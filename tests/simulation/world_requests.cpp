// World: the requests that steps make.
#include "core/rules/headers.h"
#include "world.h"

namespace tarry::simulation {
namespace {

Due due_of(const Step& step, const timing::ManualClock& clock) {
  const std::int64_t ms = step.b % 4 == 0 ? step.b * 1000 : step.b % 32 * 100;
  if (step.a % 3 == 0) return Due::at(Time(Millis(clock.now().realtime_ms + ms - 500)));
  return Due::after(Millis(ms));
}

void set_expiry(const Step& step, const timing::ManualClock& clock, core::PushItem& item) {
  if (step.c % 5 == 0) item.expire = Millis(1 + step.c / 5 % 60 * 100);
  if (step.c % 5 == 1) {
    const std::int64_t due =
        item.due.is_relative() ? clock.now().realtime_ms + item.due.millis() : item.due.millis();
    item.expire_at = Time(Millis(due + 1 + step.c / 5 % 60 * 100));
  }
}

}  // namespace

std::string World::queue_of(const Step& step) const {
  return "q" + std::to_string(step.c % options_.queues);
}

std::string World::key_for(const Step& step, const std::string& queue) const {
  if (step.a % 6 == 0) {
    if (std::string made = oracle_.generated_key(queue, step.b); !made.empty()) return made;
  }
  return key_of(step.b % options_.keys);
}

std::string World::receipt_of(std::uint8_t number) const {
  const auto& receipts = oracle_.receipts();
  if (receipts.empty() || number % 16 == 15) return "r" + std::string(30, 'A');
  const std::size_t recent = std::min<std::size_t>(receipts.size(), 8);
  return receipts[receipts.size() - 1 - number % recent];
}

void World::submit(core::Request request) {
  // The completion needs the operation, which is known only after `submit` has returned.
  auto holder = std::make_shared<const embedded::Operation*>(nullptr);
  const embedded::OperationPtr op =
      shard_->submit(std::move(request), [this, holder](const Result<core::Reply>& reply) {
        if (disk_.failed_syncs() > 0 && reply) oracle_.expect_no_answers();
        if (armed_ && faults_->failed() > 0) oracle_.expect_errors();
        oracle_.answered(*holder, reply);
      });
  *holder = op.get();
  oracle_.asked(op);
}

core::Request World::push(const Step& step, std::size_t items) {
  core::PushRequest request;
  request.queue = queue_of(step);
  for (std::size_t i = 0; i < items; ++i) {
    Step one = step;
    one.b = static_cast<std::uint8_t>(step.b + i);
    core::PushItem item;
    if (step.a % 7 != 0) item.key = core::append(request.bytes, key_of(one.b % options_.keys));
    std::string payload = "payload " + std::to_string(++pushed_);
    const std::uint32_t size = options_.payload == 0 ? 0 : step.c % options_.payload;
    payload.resize(std::max<std::size_t>(payload.size(), size), static_cast<char>(step.b));
    item.payload = core::append(request.bytes, payload);
    if (options_.groups && step.a % 8 != 0) {  // else it is refused while messages have groups
      const std::string group(1, static_cast<char>('a' + one.b / 3 % 3));
      const auto headers = core::encode_headers({{"x", ""}, {"g", group}});
      item.headers = core::append(request.bytes, headers.value());
    } else if (step.a % 5 == 0) {
      const auto headers = core::encode_headers({{"attempt", payload}, {"x", ""}});
      item.headers = core::append(request.bytes, headers.value());
    }
    item.due = due_of(one, clock_);
    item.priority = one.b % 3 == 0 ? step.b : kDefaultPriority;
    item.max_attempts = step.a % 4 == 0 ? step.a % 3 : 0;
    if (step.a % 2 == 0) item.if_exists = static_cast<IfExists>(step.c / 7 % 5);
    if (options_.expiry) set_expiry(one, clock_, item);
    request.items.push_back(item);
  }
  return request;
}

core::Request World::move(const Step& step) {
  core::MoveRequest request;
  request.queue = queue_of(step);
  core::MoveItem item;
  item.push.key = core::append(request.bytes, key_of(step.b % options_.keys));
  item.push.payload = core::append(request.bytes, "moved " + std::to_string(++pushed_));
  item.push.due = due_of(step, clock_);
  if (options_.expiry) {
    set_expiry(step, clock_, item.push);
    if (item.push.expire && step.a % 2 == 0) {  // as after a retry
      item.push.expire_at = Time(Millis(clock_.now().realtime_ms + step.b * 50));
    }
  }
  item.attempt = step.a % 3;
  item.tallies = {step.a, step.b, 1, 2, 3};
  item.dead = step.c % 3 == 0;
  if (step.a % 2 == 0) item.pushed_ms = clock_.now().realtime_ms - step.b;
  if (item.dead) item.reason = core::append(request.bytes, "dead before it came");
  request.items.push_back(item);
  return request;
}

core::Request World::claim(const Step& step) {
  core::ClaimRequest request;
  request.queues = {queue_of(step)};
  if (step.b % 4 == 0 && options_.queues > 1 && step.op == Op::claim) {
    request.queues = {"q0", "q1"};
  }
  request.max = 1 + step.a % 5;
  if (step.b % 2 == 0) request.lease = Millis((1 + step.b % 40) * 500);
  if (step.op == Op::claim_waiting) request.wait = Millis((1 + step.a) * 200);
  if (step.op == Op::claim_keys) {
    const std::string key = key_for(step, request.queues.front());
    request.keys = {key};
    const std::string other = key_of((step.b + 1u) % options_.keys);
    if (other != key) request.keys.push_back(other);
    request.any_state = step.c % 2 == 0;
  }
  return request;
}

core::Request World::settle(const Step& step, core::SettleAction action) {
  using core::SettleAction;
  core::SettleRequest request;
  const std::size_t items = 1 + step.c % 2;
  for (std::size_t i = 0; i < items; ++i) {
    core::SettleItem item;
    item.receipt = core::append(request.bytes,
                                receipt_of(static_cast<std::uint8_t>(i == 0 ? step.a : step.b)));
    item.action = action;
    if (step.b % 3 == 0) item.priority = step.b;
    if (action == core::SettleAction::retry && step.b % 2 == 0) {
      item.delay = Millis(step.b * 50);
    }
    std::string reason = "bad " + std::to_string(step.b % 5);
    if (options_.reason != 0) {
      reason.resize(step.a % 2 == 0 ? options_.reason : step.c / 8 % options_.reason, 'r');
    }
    if (action == SettleAction::bury || (action == SettleAction::retry && options_.reason != 0)) {
      item.reason = core::append(request.bytes, reason);
    }
    request.items.push_back(item);
  }
  return request;
}

core::Request World::configure(const Step& step) {
  core::ConfigureRequest request;
  request.queue = queue_of(step);
  if (step.a % 2 == 0) request.patch.remember = Millis(step.b % 4 * 5000);
  if (step.a % 3 == 0) request.patch.dead_keep = Millis((1 + step.b % 30) * 10'000);
  if (step.a % 5 == 0) request.patch.max_attempts = 1 + step.b % 4;
  if (step.b % 7 == 0) {
    request.patch.objective = Objective{99'000, Millis(1 + step.b % 1'000)};
  }
  if (options_.expiry && step.c % 3 == 0) request.patch.expire = Millis(step.b % 3 * 4000);
  if (options_.expiry && step.c % 4 == 0) {
    request.patch.on_expiry = step.b % 2 == 0 ? OnExpiry::dead : OnExpiry::end;
  }
  if (options_.limits && step.c % 2 == 0) request.patch.max_leased = step.b % 4;
  if (options_.limits && step.c % 5 == 0) {
    request.patch.rate = step.b % 3 == 0 ? DeliveryRate() : DeliveryRate{3, Millis(1'000), 2};
  }
  if (options_.groups && step.c % 3 != 0) {
    request.patch.group = step.b % 8 == 0 ? Grouping() : Grouping{Grouping::By::header, "g"};
  }
  if (options_.groups && step.c % 4 == 1) request.patch.group_max_leased = step.b % 3;
  if (options_.history) request.patch.history = step.c % 8 == 0 ? 0 : 1 + step.b % 6;
  if (options_.ordered) {
    request.patch.group = Grouping{Grouping::By::header, "g"};
    request.patch.group_order = step.c % 8 == 7 ? GroupOrder::due : GroupOrder::push;
  }
  if (step.a % 7 == 0) request.patch.if_exists = static_cast<IfExists>(step.b % 5);
  if (step.a % 11 == 0) request.patch.lease = Millis((1 + step.b) * 100);
  if (step.a % 13 == 0) request.patch.backoff_min = Millis(step.b % 10 * 50);
  return request;
}

std::optional<core::Request> World::request_of(const Step& step) {
  using core::SettleAction;
  const std::string queue = queue_of(step);
  switch (step.op) {
    case Op::push: return push(step, 1);
    case Op::push_many: return push(step, 2 + step.b % 6);
    case Op::move: return move(step);
    case Op::claim:
    case Op::claim_waiting:
    case Op::claim_keys: return claim(step);
    case Op::ack: return settle(step, SettleAction::ack);
    case Op::retry: return settle(step, SettleAction::retry);
    case Op::release: return settle(step, SettleAction::release);
    case Op::bury: return settle(step, SettleAction::bury);
    case Op::move_away: return settle(step, SettleAction::move_away);
    case Op::extend: {
      core::ExtendRequest request;
      core::ExtendItem item;
      item.receipt = core::append(request.bytes, receipt_of(step.a));
      if (step.b % 2 == 0) item.lease = Millis((1 + step.b) * 200);
      request.items.push_back(item);
      return request;
    }
    case Op::cancel: {
      core::CancelRequest request;
      request.queue = queue;
      request.keys.push_back(core::append(request.bytes, key_for(step, queue)));
      if (step.c % 3 == 0) request.keys.push_back(core::append(request.bytes, key_of(0)));
      return request;
    }
    case Op::reschedule: {
      core::RescheduleRequest request;
      request.queue = queue;
      core::RescheduleItem item;
      item.key = core::append(request.bytes, key_for(step, queue));
      item.due = due_of(step, clock_);
      if (step.c % 3 == 0) item.priority = step.b;
      request.items.push_back(item);
      return request;
    }
    case Op::configure: return configure(step);
    case Op::pause: {
      core::PauseRequest request{queue, std::nullopt};
      if (step.b % 2 == 0) request.until = Time(Millis(clock_.now().realtime_ms + step.b * 100));
      return request;
    }
    case Op::resume: return core::ResumeRequest{queue};
    case Op::purge:
      if (oracle_.sweeping(queue)) return std::nullopt;
      return core::PurgeRequest{queue};
    case Op::revive: {
      if (oracle_.sweeping(queue)) return std::nullopt;
      core::ReviveRequest request;
      request.queue = queue;
      request.all = step.a % 2 == 0;
      if (!request.all) request.keys.push_back(core::append(request.bytes, key_for(step, queue)));
      return request;
    }
    case Op::get: {
      core::GetRequest request;
      request.queue = queue;
      request.keys.push_back(core::append(request.bytes, key_for(step, queue)));
      return request;
    }
    case Op::list: {
      core::ListRequest request;
      request.queue = queue;
      request.limit = 1000;
      return request;
    }
    case Op::stats: return core::StatsRequest{""};
    default: return std::nullopt;
  }
}

}  // namespace tarry::simulation
