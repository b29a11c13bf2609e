#include "designs/redis/redisson_queue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "designs/hiredis_pipe.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::string_view kDestination = "q";
constexpr std::string_view kTimeouts = "redisson_delay_queue_timeout:{q}";
constexpr std::string_view kEntries = "redisson_delay_queue:{q}";
constexpr std::string_view kHeadChannel = "redisson_delay_queue_channel:{q}";
constexpr std::size_t kMostTransferred = 100;

constexpr std::string_view kOffer = R"lua(
local entry = struct.pack('Bc0Lc0', #ARGV[2], ARGV[2], #ARGV[3], ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[1], entry)
redis.call('RPUSH', KEYS[2], entry)
if redis.call('ZRANGE', KEYS[1], 0, 0)[1] == entry then
  redis.call('PUBLISH', KEYS[3], ARGV[1])
end
)lua";

constexpr std::string_view kTransfer = R"lua(
local due = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[1], 'LIMIT', 0, ARGV[2])
if #due > 0 then
  for _, entry in ipairs(due) do
    local id, value = struct.unpack('Bc0Lc0', entry)
    redis.call('RPUSH', KEYS[1], value)
    redis.call('LREM', KEYS[3], 1, entry)
  end
  redis.call('ZREM', KEYS[2], unpack(due))
end
return redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
)lua";

class Popped final : public Claimed {
 public:
  explicit Popped(const redisReply& reply) {
    values_.reserve(reply.elements);
    for (std::size_t i = 0; i < reply.elements; ++i) {
      values_.emplace_back(text_of(*reply.element[i]));
      proof_ += proof_of(values_.back());
    }
  }
  std::size_t size() const override { return values_.size(); }
  std::uint64_t proof() const override { return proof_; }
  std::string_view payload(std::size_t index) const override { return values_[index]; }

 private:
  std::vector<std::string> values_;
  std::uint64_t proof_ = 0;
};

class RedissonQueue final : public Piped {
 public:
  explicit RedissonQueue(const std::string& socket_path)
      : pipe_(socket_path), offer_(pipe_.load(kOffer)), transfer_(pipe_.load(kTransfer)) {}

  std::string_view name() const override { return "Redisson's scripts"; }

  void push(std::span<const Message> batch, Told done) override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto id = std::bit_cast<std::array<char, 8>>(random_());
      begin_script(offer_);
      for (const std::string_view key : {kTimeouts, kEntries, kHeadChannel}) words_.add(key);
      words_.add_number(batch[i].due_ms);
      words_.add({id.data(), id.size()});
      words_.add(batch[i].payload);
      if (i + 1 < batch.size()) {
        pipe_.send(words_, [](const redisReply&) {});
      } else {
        pipe_.send(words_, [done = std::move(done)](const redisReply&) { done({}); });
      }
    }
  }

  void claim(std::size_t max, Got done) override {
    const auto most = static_cast<std::int64_t>(std::min(max, kMostTransferred));
    begin_script(transfer_);
    for (const std::string_view key : {kDestination, kTimeouts, kEntries}) words_.add(key);
    words_.add_number(now_ms());
    words_.add_number(most);
    pipe_.send(words_, [](const redisReply&) {});
    words_.clear();
    words_.add("LPOP");
    words_.add(kDestination);
    words_.add_number(most);
    pipe_.send(words_, [done = std::move(done)](const redisReply& reply) {
      done(std::make_shared<Popped>(reply));
    });
  }

  void settle(const Claimed& /*claimed*/, Done done) override { done(); }

  void run(Done begin) override {
    begin();
    pipe_.run();
  }

 private:
  void begin_script(const std::string& sha) {
    words_.clear();
    for (const std::string_view word :
         {std::string_view("EVALSHA"), std::string_view(sha), std::string_view("3")}) {
      words_.add(word);
    }
  }

  HiredisPipe pipe_;
  const std::string offer_;
  const std::string transfer_;
  Words words_;
  std::mt19937_64 random_{3};
};

}  // namespace

std::unique_ptr<Piped> make_redisson_queue(const std::string& socket_path) {
  return std::make_unique<RedissonQueue>(socket_path);
}

}  // namespace tarry::bench
