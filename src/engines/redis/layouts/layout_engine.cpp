#include "engines/redis/layouts/layout_engine.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "engines/redis/claims/loop_engine.h"
#include "engines/redis/layouts/verbs/layout_claims.h"
#include "engines/redis/layouts/verbs/layout_verbs.h"
#include "engines/redis/node/rights.h"
#include "engines/redis/node/start_up.h"

namespace tarry::redis {
namespace {

// A store without a fixed queue remembers this many of the queues that it was asked for, to count
// them in its stats.
constexpr std::size_t kMostKnown = 10'000;

class LayoutEngine final : public LoopEngine {
 public:
  LayoutEngine(LayoutEngineOptions options, LayoutNames names)
      : LoopEngine(
            [&](boost::asio::io_context& io) {
              return std::make_unique<net::RedisClient>(io, options.server);
            },
            options.clock),
        options_(std::move(options)),
        names_(std::move(names)),
        context_{server(), options_.layout, names_, options_.limits, log_of(options_)},
        claims_(context_, alarms()) {
    server().put_before_scripts(options_.before_scripts);
    if (!names_.only().empty()) known_.insert(names_.only());
  }

  ~LayoutEngine() override { close(); }

  [[nodiscard]] core::Capabilities capabilities() const override {
    core::Capabilities capabilities;
    capabilities.engine = "redis " + std::string(to_string(options_.layout.layout));
    capabilities.headers = false;
    capabilities.moves = false;
    capabilities.pauses = false;
    capabilities.dead = false;
    capabilities.counts = false;
    capabilities.forecast = true;
    capabilities.durable = true;
    capabilities.manual_clock = options_.clock != nullptr;
    return capabilities;
  }

 private:
  static Log log_of(const LayoutEngineOptions& options) {
    return options.log ? options.log : [](const LogEntry&) {};
  }

  void open(Started done) override {
    server().command(net::RedisCommand("INFO"),
                     [this, done = std::move(done)](Result<net::RedisReply> info) mutable {
                       if (!info) return done(std::move(info).error());
                       const auto facts = check_server(info->view().text(), server().name(),
                                                       {false, options_.allow_eviction});
                       if (!facts) return done(facts.error());
                       if (!facts->warning.empty()) {
                         context_.log({LogLevel::warning, "redis_no_aof", facts->warning});
                       }
                       server().load_scripts(
                           [this, done = std::move(done)](Result<void> loaded) mutable {
                             if (!loaded) return done(std::move(loaded));
                             check_rights([this, done = std::move(done)](auto allowed) mutable {
                               if (!allowed) return done(std::move(allowed));
                               listen();
                               done({});
                             });
                           },
                           true);
                     });
  }

  void check_rights(Started done) {
    const auto keys = names_.keys_of(names_.only().empty() ? "rights" : names_.only());
    redis::check_rights(server(), layout_rights(options_.layout.layout, (*keys)->leases),
                        std::move(done));
  }

  // If the store has one queue, Redisson's channel is known.
  void listen() {
    if (options_.layout.layout != Layout::redisson || names_.only().empty()) return;
    const auto keys = names_.keys_of(names_.only());
    redis().subscribe(
        net::RedisChannels::plain, {(*keys)->channel},
        [this](std::string_view, std::string_view) { claims_.wake_all(); },
        [this] { claims_.wake_all(); });
  }

  WaitingClaims* claims() noexcept override { return &claims_; }

  [[nodiscard]] std::optional<Error> refusal_of(const core::Request& request) const override {
    return redis::refusal_of(options_.layout.layout, request);
  }

  void run(core::Ticket ticket, const AskedPtr& asked) override {
    // Redis has refused a command, so a script may have stopped halfway. No further script runs
    // until the user may run all commands.
    if (!server().denied()) return dispatch(ticket, asked);
    asking_.emplace(ticket, asked);
    check_rights([this, ticket, asked](Result<void> allowed) {
      if (asking_.erase(ticket) == 0) return;  // withdrawn
      if (!allowed) return asked->fail(std::move(allowed).error());
      dispatch(ticket, asked);
    });
  }

  bool forget(core::Ticket ticket) override {
    const auto found = asking_.find(ticket);
    if (found == asking_.end()) return false;
    const AskedPtr asked = found->second;
    if (!std::holds_alternative<core::ClaimRequest>(asked->request)) return true;
    asking_.erase(found);
    asked->reply = core::ClaimReply();
    asked->complete();
    return true;
  }

  void dispatch(core::Ticket ticket, const AskedPtr& asked) {
    std::visit([&](const auto& request) { know(request); }, asked->request);
    std::visit([&](const auto& request) { ask(ticket, asked, request); }, asked->request);
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

  void ask(core::Ticket, const AskedPtr& asked, const core::PushRequest&) {
    layout_push(context_, asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::CancelRequest&) {
    layout_cancel(context_, asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::RescheduleRequest&) {
    layout_reschedule(context_, asked);
  }
  void ask(core::Ticket ticket, const AskedPtr& asked, const core::ClaimRequest&) {
    claims_.begin(ticket, asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::SettleRequest&) {
    layout_settle(context_, asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::ExtendRequest&) {
    layout_extend(context_, asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::GetRequest&) {
    layout_get(context_, asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::ListRequest&) {
    layout_list(context_, asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::PurgeRequest&) {
    layout_purge(context_, asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::StatsRequest& request) {
    std::vector<std::string> queues;
    if (!request.queue.empty()) {
      queues.push_back(request.queue);
    } else {
      for (const std::string& queue : known_) queues.push_back(queue);
    }
    layout_stats(context_, std::move(queues), asked);
  }
  void ask(core::Ticket, const AskedPtr& asked, const core::ForecastRequest&) {
    layout_forecast(context_, asked);
  }
  // Only default settings reach this function.
  void ask(core::Ticket, const AskedPtr& asked, const core::ConfigureRequest&) {
    asked->reply = core::ConfigureReply();
    asked->complete();
  }
  // Nothing is ever paused.
  void ask(core::Ticket, const AskedPtr& asked, const core::ResumeRequest&) {
    asked->reply = core::CountReply();
    asked->complete();
  }
  template <typename Refused>
  void ask(core::Ticket, const AskedPtr& asked, const Refused&) {
    asked->fail(unsupported_by(options_.layout.layout, "do that"));
  }

  // If this process made a message due sooner, it wakes its own claims.
  void carried_out(const core::Request& request) override {
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

  const LayoutEngineOptions options_;
  const LayoutNames names_;
  const LayoutContext context_;
  LayoutClaims claims_;
  std::set<std::string> known_;
  std::map<core::Ticket, AskedPtr> asking_;  // requests that wait until rights have been checked
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
