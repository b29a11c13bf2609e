#include "engines/redis/redis_engine.h"

#include <atomic>
#include <future>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/assert.h"
#include "base/hash.h"
#include "base/thread.h"
#include "core/answer_thread.h"
#include "core/validation.h"
#include "engines/redis/claims/claims.h"
#include "engines/redis/inbox/inbox.h"
#include "engines/redis/node/alarms.h"
#include "engines/redis/node/own_figures.h"
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

// How long `close` waits for answers that are on their way.
constexpr std::int64_t kCloseGraceMs = 5'000;
constexpr std::uint64_t kStoreNameSeed = 0x7461727279;

template <typename... Verbs>
struct Overloaded : Verbs... {
  using Verbs::operator()...;
};

std::unique_ptr<net::Redis> make_client(asio::io_context& io, const RedisEngineOptions& options) {
  if (options.cluster.empty()) return std::make_unique<net::RedisClient>(io, options.server);
  return std::make_unique<net::RedisCluster>(io, options.cluster, options.server);
}

// What makes less of a store, or keeps a claim, goes on where nothing may be added. So do claims.
bool ends(const core::Request& request) noexcept {
  return std::holds_alternative<core::SettleRequest>(request) ||
         std::holds_alternative<core::ExtendRequest>(request) ||
         std::holds_alternative<core::CancelRequest>(request);
}

// Thread safe. What is made by `start` is the io thread's alone.
class RedisEngine final : public core::Engine {
 public:
  explicit RedisEngine(RedisEngineOptions options)
      : options_(std::move(options)),
        redis_(make_client(io_, options_)),
        server_(*redis_, options_.clock.get()),
        ids_(server_),
        alarms_(io_, options_.clock.get()),
        steady_(io_, nullptr) {
    if (options_.wait.replicas > 0) server_.wait_for(options_.wait);
    server_.put_before_scripts(options_.before_scripts);
    thread_ = base::start_thread("tarry-redis", [this] {
      const core::EngineThreadScope scope;
      io_.run();
    });
  }

  ~RedisEngine() override { close(); }

  Result<void> start() {
    std::promise<Result<void>> started;
    asio::post(io_, [&] {
      check_and_open([&](Result<void> result) { started.set_value(std::move(result)); });
    });
    return started.get_future().get();
  }

  core::Ticket submit(core::Request request, core::Completion completion) override {
    const core::Ticket ticket = ++last_ticket_;
    auto error = core::check_request(request);
    auto asked = std::make_shared<Asked>();
    asked->request = std::move(request);
    std::unique_lock lock(mutex_);
    if (closed_) {
      lock.unlock();
      answers_.post([completion = std::move(completion)]() mutable {
        completion(Error{ErrorCode::closed, "the store is closed"});
      });
      return ticket;
    }
    asio::post(io_, [this, ticket, asked = std::move(asked), error = std::move(error),
                     completion = std::move(completion)]() mutable {
      ++outstanding_;
      asked->completion = [this,
                           completion = std::move(completion)](Result<core::Reply> reply) mutable {
        complete(std::move(completion), std::move(reply));
      };
      if (error) return asked->fail(std::move(*error));
      // A claim is known before its store is asked for: it may be withdrawn meanwhile.
      if (std::holds_alternative<core::ClaimRequest>(asked->request)) {
        return claims_->begin(ticket, asked);
      }
      identity_->check([this, asked](Result<void> checked) {
        if (!checked) return asked->fail(std::move(checked).error());
        if (identity_->unfit() && !ends(asked->request)) return asked->fail(*identity_->unfit());
        dispatch(asked);
      });
    });
    return ticket;
  }

  void withdraw(core::Ticket ticket) override {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    asio::post(io_, [this, ticket] { claims_->withdraw(ticket); });
  }

  [[nodiscard]] core::Capabilities capabilities() const override {
    core::Capabilities capabilities;
    capabilities.engine = "redis";
    capabilities.durable = true;
    capabilities.forecast = true;
    capabilities.manual_clock = options_.clock != nullptr;
    capabilities.push_times = push_times_;
    capabilities.store = store_;
    return capabilities;
  }

  void close() override {
    TARRY_ASSERT(thread_.get_id() != std::this_thread::get_id());
    std::call_once(close_once_, [this] {
      if (clock_token_) options_.clock->unsubscribe(*clock_token_);
      {
        const std::lock_guard lock(mutex_);
        closed_ = true;
      }
      asio::post(io_, [this] { begin_close(); });
      thread_.join();
    });
  }

 private:
  using Started = base::UniqueFunction<void(Result<void>)>;

  void check_and_open(Started done) {
    server_.command_masters(
        net::RedisCommand("INFO"), [this, done = std::move(done)](auto info) mutable {
          if (!info) return done(std::move(info).error());
          const auto facts = check_masters(*info, wish());
          if (!facts) return done(facts.error());
          channels_ = facts->channels;
          server_.publish_on(channels_);
          if (!facts->warning.empty() && options_.log) {
            options_.log({LogLevel::warning, "redis_no_aof", facts->warning});
          }
          server_.load_scripts([this, done = std::move(done)](Result<void> loaded) mutable {
            if (!loaded) return done(std::move(loaded).error());
            check_rights(server_, native_rights(),
                         [this, done = std::move(done)](Result<void> allowed) mutable {
                           if (!allowed) return done(std::move(allowed).error());
                           open(std::move(done));
                         });
          });
        });
  }

  [[nodiscard]] ServerWish wish() const {
    return {!options_.cluster.empty(), options_.allow_eviction};
  }

  void open(Started done) {
    open_store(server_, options_.partitions,
               [this, done = std::move(done)](Result<StoreFacts> store) mutable {
                 if (!store) return done(std::move(store).error());
                 begin(*store);
                 done({});
               });
  }

  void begin(const StoreFacts& store) {
    // Not the secret itself, which is nobody else's business.
    store_ = std::to_string(base::keyed_hash(std::to_string(store.secret), kStoreNameSeed));
    push_times_ = store.schema >= kPushTimeSchema;
    directory_.emplace(server_, store.partitions, options_.shards, !options_.cluster.empty());
    identity_.emplace(*redis_, server_, *directory_, ids_, steady_, store, wish(), options_.log);
    context_.emplace(Context{server_, *directory_, ids_, *identity_});
    claims_.emplace(*context_, alarms_, options_.limits);
    inbox_.emplace(*context_, InboxOptions{options_.limits, options_.inbox_hold_ms, options_.log});
    sweeper_.emplace(*context_, alarms_, *claims_, *inbox_, options_.log);
    std::vector<std::string> channels;
    for (std::uint32_t i = 0; i < store.partitions; ++i) {
      channels.push_back(partition_key(i, "wake"));
    }
    redis_->subscribe(
        channels_, std::move(channels),
        [this](std::string_view channel, std::string_view message) {
          if (!inbox_->told(channel, message)) claims_->wake(queue_of(message));
        },
        [this] { claims_->wake_all(); });
    sweeper_->start();
    if (options_.clock) {
      clock_token_ = options_.clock->subscribe([this] {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        asio::post(io_, [this] {
          alarms_.moved();
          claims_->wake_all();
        });
      });
    }
  }

  void dispatch(const AskedPtr& asked) {
    Context& context = *context_;
    const core::Limits& limits = options_.limits;
    const Overloaded verbs{
        [&](const core::PushRequest&) { push(context, asked, limits); },
        [&](const core::MoveRequest&) { move(context, asked, limits); },
        [&](const core::CancelRequest&) { cancel(context, asked); },
        [&](const core::RescheduleRequest&) { reschedule(context, asked); },
        [](const core::ClaimRequest&) {},  // begun before its store is asked for
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

  void complete(core::Completion completion, Result<core::Reply> reply) {
    if (reply) {
      if (auto* stats = std::get_if<StoreStats>(&*reply)) add_own(*stats);
      tell_watches(*reply);
    }
    completion(std::move(reply));
    --outstanding_;
    if (closing_) end_if_done();
  }

  // What this process alone knows.
  void add_own(StoreStats& stats) const {
    for (QueueStats& queue : stats.queues) queue.waiting_claims = claims_->waiting_at(queue.queue);
    add_own_figures(stats, claims_->lateness(), server_);
  }

  void begin_close() {
    closing_ = true;
    if (claims_) claims_->close();
    steady_.set(kCloseGraceMs, [this] { redis_->close(); });  // which answers what is left
    end_if_done();
  }

  void end_if_done() {
    if (outstanding_ > 0) return;
    alarms_.close();
    steady_.close();
    redis_->close();
    guard_.reset();
  }

  const RedisEngineOptions options_;
  std::atomic<core::Ticket> last_ticket_ = 0;
  std::once_flag close_once_;
  std::mutex mutex_;  // held while posting, so that nothing is posted after the close
  bool closed_ = false;
  std::optional<timing::ManualClock::Token> clock_token_;

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
  const std::unique_ptr<net::Redis> redis_;
  Server server_;
  Ids ids_;
  Alarms alarms_;
  Alarms steady_;      // by the steady clock always
  std::string store_;  // set before `start` returns, as the next
  bool push_times_ = false;
  std::optional<Directory> directory_;
  std::optional<Identity> identity_;
  std::optional<Context> context_;
  std::optional<Claims> claims_;
  std::optional<Inbox> inbox_;
  std::optional<Sweeper> sweeper_;
  net::RedisChannels channels_ = net::RedisChannels::plain;
  std::size_t outstanding_ = 0;
  bool closing_ = false;
  std::thread thread_;
  core::AnswerThread answers_;  // for what is submitted after the close
};

}  // namespace

Result<std::unique_ptr<core::Engine>> open_redis(RedisEngineOptions options) {
  auto engine = std::make_unique<RedisEngine>(std::move(options));
  if (auto started = engine->start(); !started) return std::move(started).error();
  return std::unique_ptr<core::Engine>(std::move(engine));
}

}  // namespace tarry::redis
