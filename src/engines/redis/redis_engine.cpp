#include "engines/redis/redis_engine.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/hash.h"
#include "engines/redis/claims/claims.h"
#include "engines/redis/claims/loop_engine.h"
#include "engines/redis/inbox/inbox.h"
#include "engines/redis/node/rights.h"
#include "engines/redis/node/start_up.h"
#include "engines/redis/reshard/reshard.h"
#include "engines/redis/sweeper.h"
#include "engines/redis/verbs/verbs.h"
#include "net/redis/redis_client.h"
#include "net/redis/redis_cluster.h"

namespace tarry::redis {
namespace {

namespace asio = boost::asio;

constexpr std::uint64_t kStoreNameSeed = 0x7461727279;

template <typename... Verbs>
struct Overloaded : Verbs... {
  using Verbs::operator()...;
};

std::unique_ptr<net::Redis> make_client(asio::io_context& io, const RedisEngineOptions& options) {
  if (options.cluster.empty()) return std::make_unique<net::RedisClient>(io, options.server);
  return std::make_unique<net::RedisCluster>(io, options.cluster, options.server);
}

// Verbs that make a store smaller, or keep a claim, work even if the store is unfit for new
// messages. So do claims.
bool ends(const core::Request& request) noexcept {
  return std::holds_alternative<core::SettleRequest>(request) ||
         std::holds_alternative<core::ExtendRequest>(request) ||
         std::holds_alternative<core::CancelRequest>(request);
}

class RedisEngine final : public LoopEngine {
 public:
  explicit RedisEngine(RedisEngineOptions options)
      : LoopEngine([&](asio::io_context& io) { return make_client(io, options); }, options.clock),
        options_(std::move(options)),
        ids_(server()) {
    if (options_.wait.replicas > 0) server().wait_for(options_.wait);
    server().put_before_scripts(options_.before_scripts);
  }

  ~RedisEngine() override { close(); }

  [[nodiscard]] core::Capabilities capabilities() const override {
    core::Capabilities capabilities;
    capabilities.engine = "redis";
    capabilities.durable = true;
    capabilities.forecast = true;
    capabilities.manual_clock = options_.clock != nullptr;
    capabilities.push_times = push_times_;
    capabilities.expiry = expiry_;
    capabilities.limits = limits_;
    capabilities.store = store_;
    return capabilities;
  }

 private:
  void open(Started done) override {
    server().command_masters(
        net::RedisCommand("INFO"), [this, done = std::move(done)](auto info) mutable {
          if (!info) return done(std::move(info).error());
          const auto facts = check_masters(*info, wish());
          if (!facts) return done(facts.error());
          channels_ = facts->channels;
          server().publish_on(channels_);
          if (!facts->warning.empty() && options_.log) {
            options_.log({LogLevel::warning, "redis_no_aof", facts->warning});
          }
          server().load_scripts([this, done = std::move(done)](Result<void> loaded) mutable {
            if (!loaded) return done(std::move(loaded).error());
            check_rights(server(), native_rights(),
                         [this, done = std::move(done)](Result<void> allowed) mutable {
                           if (!allowed) return done(std::move(allowed).error());
                           open_it(std::move(done));
                         });
          });
        });
  }

  [[nodiscard]] ServerWish wish() const {
    return {!options_.cluster.empty(), options_.allow_eviction};
  }

  void open_it(Started done) {
    open_store(server(), options_.partitions,
               [this, done = std::move(done)](Result<StoreFacts> store) mutable {
                 if (!store) return done(std::move(store).error());
                 begin(*store);
                 done({});
               });
  }

  void begin(const StoreFacts& store) {
    // The store's name is a hash of its secret, because nobody else needs to know the secret.
    store_ = std::to_string(base::keyed_hash(std::to_string(store.secret), kStoreNameSeed));
    push_times_ = store.schema >= kPushTimeSchema;
    expiry_ = store.schema >= kExpirySchema;
    limits_ = store.schema >= kLimitsSchema;
    directory_.emplace(server(), store.partitions, options_.shards, !options_.cluster.empty());
    identity_.emplace(redis(), server(), *directory_, ids_, steady(), store, wish(), options_.log);
    context_.emplace(Context{server(), *directory_, ids_, *identity_});
    claims_.emplace(*context_, alarms(), options_.limits);
    inbox_.emplace(*context_, InboxOptions{options_.limits, options_.inbox_hold_ms, options_.log});
    sweeper_.emplace(*context_, alarms(), *claims_, *inbox_, options_.log);
    std::vector<std::string> channels;
    for (std::uint32_t i = 0; i < store.partitions; ++i) {
      channels.push_back(partition_key(i, "wake"));
    }
    redis().subscribe(
        channels_, std::move(channels),
        [this](std::string_view channel, std::string_view message) {
          if (!inbox_->told(channel, message)) claims_->wake(queue_of(message));
        },
        [this] { claims_->wake_all(); });
    sweeper_->start();
  }

  WaitingClaims* claims() noexcept override { return claims_ ? &*claims_ : nullptr; }

  void run(core::Ticket ticket, const AskedPtr& asked) override {
    // A claim is registered before its store is asked for: it may be withdrawn meanwhile.
    if (std::holds_alternative<core::ClaimRequest>(asked->request)) {
      return claims_->begin(ticket, asked);
    }
    identity_->check([this, asked](Result<void> checked) {
      if (!checked) return asked->fail(std::move(checked).error());
      if (identity_->unfit() && !ends(asked->request)) return asked->fail(*identity_->unfit());
      dispatch(asked);
    });
  }

  void dispatch(const AskedPtr& asked) {
    Context& context = *context_;
    const core::Limits& limits = options_.limits;
    const Overloaded verbs{
        [&](const core::PushRequest&) { push(context, asked, limits); },
        [&](const core::MoveRequest&) { move(context, asked, limits); },
        [&](const core::CancelRequest&) { cancel(context, asked); },
        [&](const core::RescheduleRequest&) { reschedule(context, asked); },
        [](const core::ClaimRequest&) {},  // claims were registered in `run`
        [&](const core::SettleRequest&) { settle(context, asked); },
        [&](const core::ExtendRequest&) { extend(context, asked); },
        [&](const core::GetRequest&) { get(context, asked, limits); },
        [&](const core::ListRequest&) { list(context, asked, limits); },
        [&](const core::StatsRequest&) { stats(context, asked); },
        [&](const core::ConfigureRequest&) { configure(context, asked); },
        [&](const core::PauseRequest&) { pause(context, asked); },
        [&](const core::ResumeRequest&) { resume(context, asked); },
        [&](const core::PurgeRequest&) { purge(context, asked); },
        [&](const core::ReviveRequest&) { revive(context, asked); },
        [&](const core::RemoveRequest&) { remove(context, asked, options_.reshard_calls); },
        [&](const core::ReshardRequest&) { reshard(context, asked, options_.reshard_calls); },
        [&](const core::ForecastRequest&) { forecast(context, asked); },
    };
    std::visit(verbs, asked->request);
  }

  const RedisEngineOptions options_;
  Ids ids_;
  std::string store_;  // set before `start` returns, as the next three
  bool push_times_ = false;
  bool expiry_ = false;
  bool limits_ = false;
  std::optional<Directory> directory_;
  std::optional<Identity> identity_;
  std::optional<Context> context_;
  std::optional<Claims> claims_;
  std::optional<Inbox> inbox_;
  std::optional<Sweeper> sweeper_;
  net::RedisChannels channels_ = net::RedisChannels::plain;
};

}  // namespace

Result<std::unique_ptr<core::Engine>> open_redis(RedisEngineOptions options) {
  auto engine = std::make_unique<RedisEngine>(std::move(options));
  if (auto started = engine->start(); !started) return std::move(started).error();
  return std::unique_ptr<core::Engine>(std::move(engine));
}

}  // namespace tarry::redis
