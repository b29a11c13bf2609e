#include "designs/redis_zset_hash.h"

#include <initializer_list>
#include <utility>
#include <vector>

#include "designs/hiredis_pipe.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::string_view kDue = "q:due";
constexpr std::string_view kBodies = "q:bodies";
constexpr std::string_view kLeases = "q:leases";
constexpr std::int64_t kUsualLeaseMs = 30'000;

// The truthful push. ARGV: all keys, then all due times, then all payloads. A body is there from
// its push to its ack, so a key is taken as long as it has one; or if it stands twice in the batch.
// One HMGET looks, and two commands write: that costs Redis no more than an HSETNX for each message
// would. The answer has the positions of the keys that were taken, mostly none, because an array
// with a number for each message would cost more.
constexpr std::string_view kPushNew = R"lua(
local call, argv, count = redis.call, ARGV, #ARGV / 3
local there = call('HMGET', KEYS[2], unpack(argv, 1, count))
local dues, bodies, taken, seen, n = {}, {}, {}, {}, 0
for i = 1, count do
  local key = argv[i]
  if there[i] or seen[key] then
    taken[#taken + 1] = i - 1
  else
    seen[key] = true
    dues[n + 1] = argv[count + i]
    dues[n + 2] = key
    bodies[n + 1] = key
    bodies[n + 2] = argv[2 * count + i]
    n = n + 2
  end
end
if n > 0 then
  call('HSET', KEYS[2], unpack(bodies))
  call('ZADD', KEYS[1], unpack(dues))
end
return taken
)lua";

constexpr std::string_view kClaimDue = R"lua(
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
if #ids == 0 then return {{}, {}} end
redis.call('ZREM', KEYS[1], unpack(ids))
local leases, ends = {}, ARGV[3]
for i = 1, #ids do
  leases[2 * i - 1] = ends
  leases[2 * i] = ids[i]
end
redis.call('ZADD', KEYS[3], unpack(leases))
return {ids, redis.call('HMGET', KEYS[2], unpack(ids))}
)lua";

constexpr std::string_view kAckLeased = R"lua(
redis.call('ZREM', KEYS[1], unpack(ARGV))
return redis.call('HDEL', KEYS[2], unpack(ARGV))
)lua";

class LeasedIds final : public Claimed {
 public:
  explicit LeasedIds(const redisReply& reply) {
    const redisReply& ids = *reply.element[0];
    const redisReply& bodies = *reply.element[1];
    ids_.reserve(ids.elements);
    bodies_.reserve(ids.elements);
    for (std::size_t i = 0; i < ids.elements; ++i) {
      ids_.emplace_back(text_of(*ids.element[i]));
      bodies_.emplace_back(text_of(*bodies.element[i]));
      proof_ += proof_of(bodies_.back());
    }
  }
  std::size_t size() const override { return ids_.size(); }
  std::uint64_t proof() const override { return proof_; }
  std::string_view payload(std::size_t index) const override { return bodies_[index]; }
  const std::vector<std::string>& ids() const { return ids_; }

 private:
  std::vector<std::string> ids_;
  std::vector<std::string> bodies_;
  std::uint64_t proof_ = 0;
};

class RedisZsetHash : public Piped {
 public:
  RedisZsetHash(const std::string& socket_path, std::int64_t lease_ms)
      : pipe_(socket_path),
        claim_(pipe_.load(kClaimDue)),
        ack_(pipe_.load(kAckLeased)),
        lease_ms_(lease_ms) {}

  std::string_view name() const override { return "design (e)"; }

  void push(std::span<const Message> batch, Told done) override {
    words_.clear();
    words_.add("ZADD");
    words_.add(kDue);
    std::uint64_t id = next_id_;
    for (const Message& message : batch) {
      words_.add_number(message.due_ms);
      add_id(message, id);
    }
    pipe_.send(words_, [size = batch.size()](const redisReply& reply) {
      must(reply.integer == static_cast<long long>(size), "each message is new");
    });
    words_.clear();
    words_.add("HSET");
    words_.add(kBodies);
    id = next_id_;
    for (const Message& message : batch) {
      add_id(message, id);
      words_.add(message.payload);
    }
    next_id_ = id;
    pipe_.send(words_, [done = std::move(done)](const redisReply&) { done({}); });
  }

  void claim(std::size_t max, Got done) override {
    const std::int64_t now = now_ms();
    begin_script(claim_, {"3", kDue, kBodies, kLeases});
    words_.add_number(now);
    words_.add_number(static_cast<std::int64_t>(max));
    words_.add_number(now + lease_ms_);
    pipe_.send(words_, [done = std::move(done)](const redisReply& reply) {
      done(std::make_shared<LeasedIds>(reply));
    });
  }

  void settle(const Claimed& claimed, Done done) override {
    begin_script(ack_, {"2", kLeases, kBodies});
    const auto& ids = static_cast<const LeasedIds&>(claimed).ids();
    for (const std::string& id : ids) words_.add(id);
    pipe_.send(words_, [done = std::move(done), size = ids.size()](const redisReply& reply) {
      must(reply.integer == static_cast<long long>(size), "each claim is live");
      done();
    });
  }

  void run(Done begin) override {
    begin();
    pipe_.run();
  }

 protected:
  HiredisPipe& pipe() { return pipe_; }
  Words& words() { return words_; }
  void begin_script(const std::string& script, std::initializer_list<std::string_view> keys) {
    words_.clear();
    words_.add("EVALSHA");
    words_.add(script);
    for (const std::string_view key : keys) words_.add(key);
  }

 private:
  void add_id(const Message& message, std::uint64_t& next) {
    if (message.key.empty()) {
      words_.add_number(static_cast<std::int64_t>(next++));
    } else {
      words_.add(message.key);
    }
  }

  HiredisPipe pipe_;
  const std::string claim_;
  const std::string ack_;
  const std::int64_t lease_ms_;
  Words words_;
  std::uint64_t next_id_ = 1;
};

class TruthfulZsetHash final : public RedisZsetHash {
 public:
  TruthfulZsetHash(const std::string& socket_path, std::int64_t lease_ms)
      : RedisZsetHash(socket_path, lease_ms), push_(pipe().load(kPushNew)) {}

  std::string_view name() const override { return "design (e) that tells"; }

  void push(std::span<const Message> batch, Told done) override {
    begin_script(push_, {"2", kDue, kBodies});
    for (const Message& message : batch) words().add(message.key);
    for (const Message& message : batch) words().add_number(message.due_ms);
    for (const Message& message : batch) words().add(message.payload);
    pipe().send(words(), [this, done = std::move(done)](const redisReply& reply) {
      taken_.clear();
      for (std::size_t i = 0; i < reply.elements; ++i) {
        taken_.push_back(static_cast<std::uint32_t>(reply.element[i]->integer));
      }
      done(taken_);
    });
  }

 private:
  const std::string push_;
  std::vector<std::uint32_t> taken_;
};

}  // namespace

std::unique_ptr<Piped> make_redis_zset_hash(const std::string& socket_path) {
  return make_redis_zset_hash(socket_path, kUsualLeaseMs);
}

std::unique_ptr<Piped> make_redis_zset_hash(const std::string& socket_path, std::int64_t lease_ms) {
  return std::make_unique<RedisZsetHash>(socket_path, lease_ms);
}

std::unique_ptr<Piped> make_truthful_zset_hash(const std::string& socket_path) {
  return std::make_unique<TruthfulZsetHash>(socket_path, kUsualLeaseMs);
}

}  // namespace tarry::bench
