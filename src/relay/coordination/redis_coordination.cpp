#include "relay/coordination/redis_coordination.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <random>
#include <thread>
#include <utility>
#include <variant>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/threads/thread.h"

namespace tarry::relay {
namespace {

using Steady = std::chrono::steady_clock;
using Timer = boost::asio::basic_waitable_timer<Steady, boost::asio::wait_traits<Steady>,
                                                boost::asio::io_context::executor_type>;

constexpr Millis kFirstPause{100};
constexpr Millis kLeaveGrace{1'000};

// KEYS: members, order, units, and the name of the channel. ARGV: member, session in ms, "stay" or
// "leave", units in rising order. Answers: number of members, ms until the session of another
// member ends (-1: none), how many units this member lacks, its units.
constexpr std::string_view kScript = R"(
local members, order, units = KEYS[1], KEYS[2], KEYS[3]
local me, session = ARGV[1], tonumber(ARGV[2])
local news = false
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function forget(member)
  redis.call('ZREM', members, member)
  redis.call('HDEL', order, member)
  news = true
end
-- One that may not publish is heard of when the others look again.
local function tell()
  if news then redis.pcall('PUBLISH', KEYS[4], me) end
end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', members, '-inf', now)) do
  if member ~= me then forget(member) end
end
if ARGV[3] == 'leave' then
  forget(me)
else
  redis.call('ZADD', members, now + session, me)
  if redis.call('HEXISTS', order, me) == 0 then
    redis.call('HSET', order, me, redis.call('HINCRBY', order, 'last', 1))
    news = true
  end
end

local alive, count, came, ends = {}, 0, {}, -1
local numbers = redis.call('HGETALL', order)
for i = 1, #numbers, 2 do came[numbers[i]] = tonumber(numbers[i + 1]) end
local all = redis.call('ZRANGE', members, 0, -1, 'WITHSCORES')
local rank = 0
for i = 1, #all, 2 do
  local member, left = all[i], tonumber(all[i + 1]) - now
  alive[member] = true
  count = count + 1
  if member ~= me then
    if (came[member] or 0) < (came[me] or 0) then rank = rank + 1 end
    if ends < 0 or left < ends then ends = left end
  end
end

local there, taken, mine = {}, {}, {}
for i = 4, #ARGV do there[ARGV[i]] = true end
local held = redis.call('HGETALL', units)
for i = 1, #held, 2 do
  local unit, member = held[i], held[i + 1]
  if not alive[member] or (member == me and not there[unit]) then
    redis.call('HDEL', units, unit)
    news = true
  else
    taken[unit] = member
  end
end
if ARGV[3] == 'leave' then
  tell()
  return {count, ends, 0}
end

local total = #ARGV - 3
local due = math.floor(total / count)
if rank < total % count then due = due + 1 end
for i = 4, #ARGV do
  if taken[ARGV[i]] == me then
    if #mine < due then
      mine[#mine + 1] = ARGV[i]
    else
      redis.call('HDEL', units, ARGV[i])
      news = true
    end
  end
end
for i = 4, #ARGV do
  if #mine >= due then break end
  if not taken[ARGV[i]] then
    redis.call('HSET', units, ARGV[i], me)
    mine[#mine + 1] = ARGV[i]
  end
end
-- Tidiness, which a user who may not do it goes without.
for i = 1, 3 do redis.pcall('PEXPIRE', KEYS[i], 86400000) end
tell()
local answer = {count, ends, due - #mine}
for _, unit in ipairs(mine) do answer[#answer + 1] = unit end
return answer
)";

std::string random_name() {
  std::random_device random;
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (int i = 0; i < 16; ++i) name += kDigits[random() % 16];
  return name;
}

// Everything except the public functions runs on the io_context's thread.
class RedisCoordination final : public Coordination {
 public:
  explicit RedisCoordination(RedisCoordinationOptions options)
      : options_(std::move(options)),
        group_("tarry:relays:{" + options_.group + "}:"),
        member_(random_name()),
        redis_(options_.connect(io_)),
        title_("redis " + redis_->server()),
        timer_(io_),
        pause_(kFirstPause) {}

  ~RedisCoordination() override {
    if (!thread_.joinable()) return;
    leave();
    (void)left_.get_future().wait_for(kLeaveGrace);
    boost::asio::post(io_, [this] {
      closed_ = true;
      timer_.cancel();
      redis_->close();
      guard_.reset();
    });
    thread_.join();
  }

  void start(Hooks hooks) override {
    hooks_ = std::move(hooks);
    redis_->subscribe(
        net::RedisChannels::plain, {group_ + "news"},
        [this](std::string_view, std::string_view from) {
          if (from != member_) ask();
        },
        [this] { ask(); });
    thread_ = base::start_thread("tarry-sharing", [this] { io_.run(); });
  }
  void offer(std::vector<Unit> all) override {
    boost::asio::post(io_, [this, all = std::move(all)]() mutable {
      const bool first = !std::exchange(offered_, true);
      if (!first && all == all_) return;
      all_ = std::move(all);
      ask();
    });
  }
  void leave() override {
    boost::asio::post(io_, [this] {
      if (std::exchange(leaving_, true)) return;
      ask();
    });
  }
  [[nodiscard]] Millis session() const override { return options_.session; }
  [[nodiscard]] std::string title() const override { return title_; }

 private:
  [[nodiscard]] net::RedisCommand command() const {
    net::RedisCommand command("EVAL", kScript.size() + 256);
    command.add(kScript).add(std::int64_t{4});
    for (const char* key : {"members", "order", "units", "news"}) command.key(group_ + key);
    command.add(member_).add(std::int64_t{options_.session.count()});
    command.add(leaving_ ? "leave" : "stay");
    for (const Unit& unit : all_) command.add(spell_unit(unit));
    return command;
  }

  void ask() {
    if (asking_) {
      again_ = true;
      return;
    }
    if (closed_ || left_already_) return;
    if (!offered_) {
      if (leaving_) end();
      return;
    }
    asking_ = true;
    again_ = false;
    timer_.cancel();
    const bool last = leaving_;
    redis_->send(command(), [this, last](net::RedisAnswer answer) {
      asking_ = false;
      if (last) return end();
      take(std::move(answer));
      if (again_) ask();
    });
  }

  void take(net::RedisAnswer answer) {
    if (const auto* failure = std::get_if<net::RedisFailure>(&answer)) return fail(failure->error);
    const net::RedisView reply = std::get<net::RedisReply>(answer).view();
    if (reply.is_error()) {
      return fail({ErrorCode::unavailable, title_ + ": " + std::string(reply.text())});
    }
    View view;
    view.members = static_cast<std::size_t>(std::max<std::int64_t>(reply[0].integer(), 1));
    for (std::size_t i = 3; i < reply.size(); ++i) {
      Unit unit;
      if (read_unit(reply[i].text(), unit)) view.mine.push_back(std::move(unit));
    }
    std::ranges::sort(view.mine);
    if (std::exchange(in_trouble_, false)) hooks_.on_trouble(std::nullopt);
    const bool changed = view != view_;
    if (changed) {
      view_ = std::move(view);
      hooks_.on_change(*view_);
    }
    ask_in(next_look(reply[1].integer(), reply[2].integer() > 0, changed));
  }

  // Looks again soon while this relay lacks units that other relays have not given up yet.
  Millis next_look(std::int64_t ends_ms, bool lacking, bool changed) {
    const Millis usual = options_.session / 3;
    pause_ = lacking && !changed ? std::min(2 * pause_, usual) : std::min(kFirstPause, usual);
    Millis next = lacking ? pause_ : usual;
    if (ends_ms >= 0) next = std::min(next, Millis(ends_ms + 1));
    return next;
  }

  void fail(Error error) {
    if (!std::exchange(in_trouble_, true)) hooks_.on_trouble(std::move(error));
    ask_in(std::min(Millis(500), options_.session / 6));
  }

  void ask_in(Millis pause) {
    if (closed_ || leaving_) return;
    timer_.expires_after(pause);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) ask();
    });
  }

  void end() {
    if (!std::exchange(left_already_, true)) left_.set_value();
  }

  const RedisCoordinationOptions options_;
  const std::string group_;
  const std::string member_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      io_.get_executor()};
  const std::unique_ptr<net::Redis> redis_;
  const std::string title_;
  Timer timer_;
  Hooks hooks_;
  std::vector<Unit> all_;
  bool offered_ = false;
  std::optional<View> view_;
  Millis pause_;
  bool asking_ = false;
  bool again_ = false;  // something has changed while the script was running
  bool in_trouble_ = false;
  bool leaving_ = false;
  bool left_already_ = false;
  bool closed_ = false;
  std::promise<void> left_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Coordination> redis_coordination(RedisCoordinationOptions options) {
  return std::make_unique<RedisCoordination>(std::move(options));
}

}  // namespace tarry::relay
