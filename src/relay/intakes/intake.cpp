#include "relay/intakes/intake.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <utility>
#include <variant>

#include "base/loaded_library.h"
#include "base/text/text.h"
#include "core/limits.h"
#include "core/reply_as.h"
#include "core/rules/validation.h"
#include "net/rabbit/library.h"
#include "relay/intakes/mailbox.h"

namespace tarry::relay {
namespace {

constexpr std::int64_t kLookAgainMs = 500;  // so that heartbeats are not missed

IntakeFlow::Moment steady_moment() {
  return std::chrono::duration_cast<IntakeFlow::Moment>(
      std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

Result<void> check(const IntakeOptions& options) {
  if (const auto loaded = base::load(net::kRabbitLibrary); !loaded) {
    return Unexpected(loaded.error().code, "RabbitMQ " + loaded.error().message);
  }
  for (const core::MaybeError& error :
       {core::check_queue_name(options.queue), core::check_new_queue(options.queue),
        core::check_number("batch", options.batch, 1, core::kMaxBatch),
        core::check_number("prefetch", options.source.prefetch, 1, 65'535),
        core::check_span("drain", options.drain, 0, Millis(std::chrono::hours(1)).count())}) {
    if (error) return *error;
  }
  const auto wrong = [](const std::string& message) {
    return Error{ErrorCode::invalid_argument, message};
  };
  const std::array<std::pair<const char*, const std::string*>, 3> names{
      {{"queue", &options.source.queue},
       {"exchange", &options.source.exchange},
       {"refused", &options.source.refused}}};
  for (const auto& [what, name] : names) {
    if (name->size() > 255) {
      return wrong(std::string(what) + " has " + std::to_string(name->size()) +
                   " bytes; in AMQP a name has up to 255");
    }
  }
  if (options.source.queue.empty() || options.source.queue == options.source.refused) {
    return wrong("an intake needs a queue to consume, and another one for what it refuses");
  }
  return {};
}

class Intake::Impl {
 public:
  Impl(core::Engine& engine, IntakeOptions options, OnChange on_change)
      : engine_(engine),
        options_(std::move(options)),
        on_change_(std::move(on_change)),
        server_("rabbitmq " + options_.source.host + ":" + std::to_string(options_.source.port)),
        broker_(server_ + ", queue '" + options_.source.queue + "'"),
        refused_(server_ + ", queue '" + options_.source.refused + "'"),
        flow_(options_.queue, options_.batch) {}

  Result<void> run(const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [this] { mailbox_->wake(); });
    for (;;) {
      for (Mailbox::Letter& letter : mailbox_->take()) {
        flow_.pushed(letter.batch, letter.reply, steady_moment());
      }
      if (stop.stop_requested() && !stopped_at_) begin_to_stop();
      if (!source_ && !stopped_at_ && steady_moment() >= connect_at_) {
        if (auto fatal = connect(); !fatal) return fatal;
      }
      listen();
      const auto until = perform();
      publish_stats();
      if (!until) break;
      if (source_ && ended_ && flow_.is_idle()) leave();
      tell_of_trouble("the store", flow_.trouble(), told_of_store_);
      tell_of_trouble(refused_, flow_.aside_trouble(), told_of_refused_);
      wait(*until);
    }
    if (source_) source_->close();
    if (flow_.error() && flow_.error()->code != ErrorCode::closed) return *flow_.error();
    return {};
  }

  [[nodiscard]] IntakeStats stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  void begin_to_stop() {
    stopped_at_ = steady_moment();
    flow_.stop();
  }

  Result<void> connect() {
    auto opened = RabbitSource::open(options_.source);
    if (opened) {
      source_ = *std::move(opened);
      if (!why_down_.empty() || !was_here_) tell(broker_, {});
      why_down_.clear();
      was_here_ = true;
      return {};
    }
    // After a first connection, a refusal may come from a broker that is starting. At the first
    // attempt it is a mistake of the user.
    if (!was_here_ && opened.error().code != ErrorCode::unavailable) return opened.error();
    down(opened.error().message);
    return {};
  }

  void leave() {
    source_->close();
    down(*std::exchange(ended_, {}));
  }

  void down(const std::string& why) {
    source_.reset();
    ended_.reset();
    flow_.disconnected();
    connect_at_ = steady_moment() + backoff_.next();
    if (why_down_.empty()) tell(broker_, std::string(base::without_prefix(why, server_ + ": ")));
    why_down_ = why;
  }

  void listen() {
    while (source_) {
      auto event = source_->next();
      if (!event) return down(event.error().message);
      if (!*event) return;
      if (auto* arrival = std::get_if<Arrival>(&**event)) {
        if (!stopped_at_) flow_.arrived(std::move(*arrival));
      } else if (const auto* not_aside = std::get_if<RabbitSource::NotSetAside>(&**event)) {
        const auto why = base::without_prefix(not_aside->why, server_ + ": ");
        flow_.not_set_aside(not_aside->tag, std::string(why), steady_moment());
      } else if (auto* ended = std::get_if<RabbitSource::Ended>(&**event)) {
        ended_ = std::move(ended->why);
      } else {
        flow_.set_aside(std::get<RabbitSource::SetAside>(**event).tag);
      }
    }
  }

  /// Performs the flow's steps. Returns until when to wait; empty: the intake has ended.
  std::optional<IntakeFlow::Wait> perform() {
    for (;;) {
      IntakeFlow::Step step = flow_.next(steady_moment());
      if (std::holds_alternative<IntakeFlow::Finished>(step)) return std::nullopt;
      if (auto* wait = std::get_if<IntakeFlow::Wait>(&step)) {
        const bool over = stopped_at_ && steady_moment() >= *stopped_at_ + options_.drain;
        return over ? std::nullopt : std::optional(*wait);
      }
      if (auto* push = std::get_if<IntakeFlow::Push>(&step)) {
        submit(std::move(*push));
        continue;
      }
      Result<void> done;
      if (!source_) continue;
      if (const auto* ack = std::get_if<IntakeFlow::Ack>(&step)) {
        done = source_->ack(ack->tag, ack->multiple);
        // Only an ack resets the pause: a connection that makes no progress still counts as a
        // delivery of the messages that it was handed.
        if (done) backoff_.reset();
      } else {
        const auto& refuse = std::get<IntakeFlow::Refuse>(step);
        done = source_->set_aside(refuse.refusal->arrival, refuse.refusal->reason);
      }
      if (!done) down(done.error().message);
    }
  }

  void submit(IntakeFlow::Push push) {
    engine_.submit(std::move(push.request),
                   [mailbox = mailbox_, batch = push.batch](Result<core::Reply> reply) {
                     mailbox->put({batch, core::reply_as<core::PushReply>(std::move(reply))});
                   });
  }

  void tell_of_trouble(const std::string& who, const std::string& why, bool& told) const {
    const bool troubled = !why.empty();
    if (troubled != std::exchange(told, troubled)) tell(who, why);
  }
  void tell(const std::string& who, const std::string& why) const {
    if (on_change_) on_change_(who, why);
  }

  void wait(const IntakeFlow::Wait& flows) const {
    const auto now = steady_moment();
    auto until = now + Millis(kLookAgainMs);
    if (flows.until) until = std::min(until, *flows.until);
    if (!source_ && !stopped_at_) until = std::min(until, connect_at_);
    if (stopped_at_) until = std::min(until, *stopped_at_ + options_.drain);
    std::array<pollfd, 2> fds{{{mailbox_->descriptor(), POLLIN, 0}, {-1, POLLIN, 0}}};
    if (source_) fds[1].fd = source_->socket();
    const auto ms = std::max<std::int64_t>(0, (until - now).count());
    static_cast<void>(::poll(fds.data(), fds.size(), static_cast<int>(ms)));
  }

  void publish_stats() {
    const std::lock_guard lock(mutex_);
    stats_ = flow_.stats();
  }

  core::Engine& engine_;
  const IntakeOptions options_;
  const OnChange on_change_;
  const std::string server_;
  const std::string broker_;
  const std::string refused_;
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  IntakeFlow flow_;
  std::unique_ptr<RabbitSource> source_;
  leases::Backoff backoff_;
  IntakeFlow::Moment connect_at_{0};
  std::optional<IntakeFlow::Moment> stopped_at_;
  // Why no message arrives any more; the connection stays until all are acked.
  std::optional<std::string> ended_;
  std::string why_down_;  // why the broker is unavailable; empty: it is not
  bool was_here_ = false;
  bool told_of_store_ = false;
  bool told_of_refused_ = false;
  mutable std::mutex mutex_;
  IntakeStats stats_;
};

Intake::Intake(core::Engine& engine, IntakeOptions options, OnChange on_change)
    : impl_(std::make_unique<Impl>(engine, std::move(options), std::move(on_change))) {}
Intake::~Intake() = default;
Result<void> Intake::run(std::stop_token stop) { return impl_->run(stop); }
IntakeStats Intake::stats() const { return impl_->stats(); }

}  // namespace tarry::relay
