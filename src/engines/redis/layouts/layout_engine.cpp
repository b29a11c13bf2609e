#include "engines/redis/layouts/layout_engine.h"

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/assert.h"
#include "base/thread.h"
#include "core/answer_thread.h"
#include "core/validation.h"
#include "engines/redis/layouts/layout_claims.h"
#include "engines/redis/layouts/layout_verbs.h"
#include "engines/redis/node/own_figures.h"
#include "engines/redis/node/rights.h"
#include "engines/redis/node/start_up.h"

namespace tarry::redis {
namespace {

namespace asio = boost::asio;

// How long `close` waits for answers that are on their way.
constexpr std::int64_t kLayoutGraceMs = 5'000;
// Queues that a store without a fixed one is asked for are remembered, so that it can count them.
constexpr std::size_t kMostKnown = 10'000;

// Thread safe. What is made by `start` is the io thread's alone.
class LayoutEngine final : public core::Engine {
 public:
  LayoutEngine(LayoutEngineOptions options, LayoutNames names)
      : options_(std::move(options)),
        names_(std::move(names)),
        client_(io_, options_.server),
        server_(client_, options_.clock.get()),
        alarms_(io_, options_.clock.get()),
        grace_(io_, nullptr),
        context_{server_, options_.layout, names_, options_.limits, log_of(options_)},
        claims_(context_, alarms_) {
    server_.put_before_scripts(options_.before_scripts);
    if (!names_.only().empty()) known_.insert(names_.only());
    thread_ = base::start_thread("tarry-redis", [this] {
      const core::EngineThreadScope scope;
      io_.run();
    });
  }

  ~LayoutEngine() override { close(); }

  Result<void> start() {
    std::promise<Result<void>> started;
    asio::post(io_,
               [&] { check([&](Result<void> result) { started.set_value(std::move(result)); }); });
    return started.get_future().get();
  }

  core::Ticket submit(core::Request request, core::Completion completion) override {
    const core::Ticket ticket = ++last_ticket_;
    auto error = core::check_request(request);
    if (!error) error = refusal_of(options_.layout.layout, request);
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
      asked->completion = [this, asked = asked.get(),
                           completion = std::move(completion)](Result<core::Reply> reply) mutable {
        complete(*asked, std::move(completion), std::move(reply));
      };
      if (error) return asked->fail(std::move(*error));
      dispatch(ticket, asked);
    });
    return ticket;
  }

  void withdraw(core::Ticket ticket) override {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    asio::post(io_, [this, ticket] { withdraw_now(ticket); });
  }

  [[nodiscard]] core::Capabilities capabilities() const override {
    core::Capabilities capabilities;
    capabilities.engine = "redis " + std::string(to_string(options_.layout.layout));
    capabilities.moves = false;
    capabilities.pauses = false;
    capabilities.counts = false;
    capabilities.forecast = true;
    capabilities.durable = true;
    capabilities.manual_clock = options_.clock != nullptr;
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

  static Log log_of(const LayoutEngineOptions& options) {
    return options.log ? options.log : [](const LogEntry&) {};
  }

  void check(Started done) {
    server_.command(net::RedisCommand("INFO"),
                    [this, done = std::move(done)](Result<net::RedisReply> info) mutable {
                      if (!info) return done(std::move(info).error());
                      const auto facts = check_server(info->view().text(), server_.name(),
                                                      {false, options_.allow_eviction});
                      if (!facts) return done(facts.error());
                      if (!facts->warning.empty()) {
                        context_.log({LogLevel::warning, "redis_no_aof", facts->warning});
                      }
                      server_.load_scripts(
                          [this, done = std::move(done)](Result<void> loaded) mutable {
                            if (!loaded) return done(std::move(loaded));
                            check_rights([this, done = std::move(done)](auto allowed) mutable {
                              if (!allowed) return done(std::move(allowed));
                              begin();
                              done({});
                            });
                          },
                          true);
                    });
  }

  void check_rights(Started done) {
    const auto keys = names_.keys_of(names_.only().empty() ? "rights" : names_.only());
    redis::check_rights(server_, layout_rights(options_.layout.layout, (*keys)->leases),
                        std::move(done));
  }

  void begin() {
    listen();
    if (!options_.clock) return;
    clock_token_ = options_.clock->subscribe([this] {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      asio::post(io_, [this] {
        alarms_.moved();
        claims_.wake_all();
      });
    });
  }

  // Where the store has one queue, Redisson's channel is known.
  void listen() {
    if (options_.layout.layout != Layout::redisson || names_.only().empty()) return;
    const auto keys = names_.keys_of(names_.only());
    client_.subscribe(
        net::RedisChannels::plain, {(*keys)->channel},
        [this](std::string_view, std::string_view) { claims_.wake_all(); },
        [this] { claims_.wake_all(); });
  }

  void dispatch(core::Ticket ticket, const AskedPtr& asked) {
    // A script may have done half: no more of them until the user may run all of it.
    if (!server_.denied()) return run(ticket, asked);
    asking_.emplace(ticket, asked);
    check_rights([this, ticket, asked](Result<void> allowed) {
      if (asking_.erase(ticket) == 0) return;  // withdrawn
      if (!allowed) return asked->fail(std::move(allowed).error());
      run(ticket, asked);
    });
  }

  void withdraw_now(core::Ticket ticket) {
    const auto found = asking_.find(ticket);
    if (found == asking_.end()) return claims_.withdraw(ticket);
    const AskedPtr asked = found->second;
    if (!std::holds_alternative<core::ClaimRequest>(asked->request)) return;
    asking_.erase(found);
    asked->reply = core::ClaimReply();
    asked->complete();
  }

  void run(core::Ticket ticket, const AskedPtr& asked) {
    std::visit([&](const auto& request) { know(request); }, asked->request);
    std::visit([&](const auto& request) { run(ticket, asked, request); }, asked->request);
  }

  template <typename Request>
  void know(const Request& request) {
    if constexpr (std::is_same_v<Request, core::ClaimRequest>) {
      for (const std::string& queue : request.queues) know_queue(queue);
    } else if constexpr (requires { request.queue; }) {
      know_queue(request.queue);
    }
  }
  void know_queue(const std::string& queue) {
    if (queue.empty() || !names_.only().empty() || known_.size() >= kMostKnown) return;
    known_.insert(queue);
  }

  void run(core::Ticket, const AskedPtr& asked, const core::PushRequest&) {
    layout_push(context_, asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::CancelRequest&) {
    layout_cancel(context_, asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::RescheduleRequest&) {
    layout_reschedule(context_, asked);
  }
  void run(core::Ticket ticket, const AskedPtr& asked, const core::ClaimRequest&) {
    claims_.begin(ticket, asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::SettleRequest&) {
    layout_settle(context_, asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::ExtendRequest&) {
    layout_extend(context_, asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::GetRequest&) {
    layout_get(context_, asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::ListRequest&) {
    layout_list(context_, asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::PurgeRequest&) {
    layout_purge(context_, asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::StatsRequest& request) {
    std::vector<std::string> queues;
    if (!request.queue.empty()) {
      queues.push_back(request.queue);
    } else {
      for (const std::string& queue : known_) queues.push_back(queue);
    }
    layout_stats(context_, std::move(queues), asked);
  }
  void run(core::Ticket, const AskedPtr& asked, const core::ForecastRequest&) {
    layout_forecast(context_, asked);
  }
  // Only the defaults come so far.
  void run(core::Ticket, const AskedPtr& asked, const core::ConfigureRequest&) {
    asked->reply = core::ConfigureReply();
    asked->complete();
  }
  // Nothing is ever paused.
  void run(core::Ticket, const AskedPtr& asked, const core::ResumeRequest&) {
    asked->reply = core::CountReply();
    asked->complete();
  }
  template <typename Refused>
  void run(core::Ticket, const AskedPtr& asked, const Refused&) {
    asked->fail(unsupported_by(options_.layout.layout, "do that"));
  }

  void complete(const Asked& asked, core::Completion completion, Result<core::Reply> reply) {
    if (reply) {
      if (auto* stats = std::get_if<StoreStats>(&*reply)) add_own(*stats);
      wake_after(asked.request);
      tell_watches(*reply);
    }
    completion(std::move(reply));
    --outstanding_;
    if (closing_) end_if_done();
  }

  // What this process made due sooner, its own claims need not look for.
  void wake_after(const core::Request& request) {
    if (const auto* push = std::get_if<core::PushRequest>(&request)) claims_.wake(push->queue);
    if (const auto* moved = std::get_if<core::RescheduleRequest>(&request)) {
      claims_.wake(moved->queue);
    }
    if (const auto* settle = std::get_if<core::SettleRequest>(&request)) {
      for (const core::SettleItem& item : settle->items) {
        if (item.action == core::SettleAction::ack) continue;
        return claims_.wake_all();
      }
    }
  }

  // What this process alone knows.
  void add_own(StoreStats& stats) const {
    for (QueueStats& queue : stats.queues) queue.waiting_claims = claims_.waiting_at(queue.queue);
    add_own_figures(stats, claims_.lateness(), server_);
  }

  void begin_close() {
    closing_ = true;
    claims_.close();
    grace_.set(kLayoutGraceMs, [this] { client_.close(); });  // which answers what is left
    end_if_done();
  }

  void end_if_done() {
    if (outstanding_ > 0) return;
    alarms_.close();
    grace_.close();
    client_.close();
    guard_.reset();
  }

  const LayoutEngineOptions options_;
  const LayoutNames names_;
  std::atomic<core::Ticket> last_ticket_ = 0;
  std::once_flag close_once_;
  std::mutex mutex_;  // held while posting, so that nothing is posted after the close
  bool closed_ = false;
  std::optional<timing::ManualClock::Token> clock_token_;

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{io_.get_executor()};
  net::RedisClient client_;
  Server server_;
  Alarms alarms_;
  Alarms grace_;  // by the steady clock always
  const LayoutContext context_;
  LayoutClaims claims_;
  std::set<std::string> known_;
  std::map<core::Ticket, AskedPtr> asking_;  // what waits until rights have been looked at
  std::size_t outstanding_ = 0;
  bool closing_ = false;
  std::thread thread_;
  core::AnswerThread answers_;  // for what is submitted after the close
};

}  // namespace

Result<std::unique_ptr<core::Engine>> open_layout(LayoutEngineOptions options) {
  auto names = LayoutNames::make(options.layout);
  if (!names) return std::move(names).error();
  auto engine = std::make_unique<LayoutEngine>(std::move(options), *std::move(names));
  if (auto started = engine->start(); !started) return std::move(started).error();
  return std::unique_ptr<core::Engine>(std::move(engine));
}

}  // namespace tarry::redis
