#include "engines/rabbitmq/rabbitmq_engine.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine_parts/answer_thread.h"
#include "core/engine_parts/settle_first.h"
#include "core/rules/validation.h"
#include "engines/rabbitmq/messages/consumer.h"
#include "engines/rabbitmq/messages/pending_request.h"
#include "engines/rabbitmq/messages/publisher.h"
#include "engines/rabbitmq/refusals.h"
#include "timing/real_clock.h"

namespace tarry::rabbitmq {
namespace {

constexpr std::chrono::seconds kCloseGrace{5};
// Statistics name the queues that this process has used, because AMQP cannot list queues.
constexpr std::size_t kMostKnown = 10'000;

/// Random ids, because the broker has no counter that several processes could share.
class Ids {
 public:
  std::uint64_t next() {
    const std::lock_guard lock(mutex_);
    return (random_() >> 1) | 1;
  }

 private:
  static std::mt19937_64 seeded() {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }
  std::mutex mutex_;
  std::mt19937_64 random_ = seeded();
};

/// A push that is being carried out. One thread answers its items, one by one.
struct PushJob {
  PendingRequestPtr pending;
  core::PushReply reply;
  std::atomic<std::size_t> left = 0;

  void one_done() {
    if (--left == 0) pending->answer(core::Reply(std::move(reply)));
  }
};

class RabbitEngine final : public core::Engine {
 public:
  explicit RabbitEngine(RabbitEngineOptions options)
      : limits_(options.limits),
        ladder_(options.rung_ms),
        publisher_(options.address, ladder_, options.queues, options.log),
        consumer_(std::move(options.address), ladder_, publisher_, limits_,
                  std::move(options.log)) {}
  ~RabbitEngine() override { close(); }

  Result<void> start() {
    auto started = publisher_.start();
    return started ? consumer_.start() : started;
  }

  core::Ticket submit(core::Request request, core::Completion completion) override {
    if (core::settles_first(request)) {
      return core::submit_settle_first(std::move(request), std::move(completion),
                                       [this](core::Request part, core::Completion done) {
                                         return submit(std::move(part), std::move(done));
                                       });
    }
    const core::Ticket ticket = ++last_ticket_;
    auto pending = std::make_shared<PendingRequest>();
    pending->request = std::move(request);
    {
      const std::lock_guard lock(mutex_);
      if (!closed_) ++outstanding_;
      pending->completion = closed_ ? std::move(completion) : counted(std::move(completion));
      if (closed_) {
        answer_later(pending, Error{ErrorCode::closed, "the store is closed"});
        return ticket;
      }
    }
    auto error = core::check_request(pending->request);
    if (!error) error = refusal_of(pending->request);
    if (error) {
      answer_later(pending, *std::move(error));
    } else {
      run(ticket, pending);
    }
    return ticket;
  }

  void withdraw(core::Ticket ticket) override { consumer_.withdraw(ticket); }

  [[nodiscard]] core::Capabilities capabilities() const override {
    core::Capabilities capabilities;
    capabilities.engine = "rabbitmq";
    capabilities.by_key = false;
    capabilities.leases = false;
    capabilities.moves = false;
    capabilities.moves_away = false;
    capabilities.pauses = false;
    capabilities.counts_scheduled = false;
    capabilities.claims_outlive = false;
    capabilities.counts = false;
    capabilities.durable = true;
    return capabilities;
  }

  void close() override {
    std::call_once(close_once_, [this] {
      {
        const std::lock_guard lock(mutex_);
        closed_ = true;
      }
      consumer_.end_waits();
      {
        std::unique_lock lock(mutex_);
        idle_.wait_for(lock, kCloseGrace, [this] { return outstanding_ == 0; });
      }
      // Requests that are still open are answered on this thread, which counts as the engine's.
      answers_.post([this] {
        publisher_.close();
        consumer_.close();
      });
      answers_.drain();
    });
  }
  [[nodiscard]] bool is_closed() const noexcept override { return closed_; }

 private:
  core::Completion counted(core::Completion completion) {
    return [this, completion = std::move(completion)](Result<core::Reply> reply) mutable {
      if (reply) tell_watches(*reply);
      completion(std::move(reply));
      const std::lock_guard lock(mutex_);
      if (--outstanding_ == 0) idle_.notify_all();
    };
  }

  void answer_later(const PendingRequestPtr& pending, Result<core::Reply> reply) {
    answers_.post(
        [pending, reply = std::move(reply)]() mutable { pending->answer(std::move(reply)); });
  }

  void run(core::Ticket ticket, const PendingRequestPtr& pending) {
    std::visit([&](const auto& request) { know(request); }, pending->request);
    std::visit([&](const auto& request) { ask(ticket, pending, request); }, pending->request);
  }

  template <typename Request>
  void know(const Request& request) {
    const std::lock_guard lock(mutex_);
    if constexpr (std::is_same_v<Request, core::ClaimRequest>) {
      for (const std::string& queue : request.queues) know_queue(queue);
    } else if constexpr (requires { request.queue; }) {
      know_queue(request.queue);
    }
  }
  void know_queue(const std::string& queue) {
    if (!queue.empty() && known_.size() < kMostKnown) known_.insert(queue);
  }

  void ask(core::Ticket, const PendingRequestPtr& pending, const core::PushRequest& request);
  void ask(core::Ticket ticket, const PendingRequestPtr& pending, const core::ClaimRequest&) {
    consumer_.claim(ticket, pending);
  }
  void ask(core::Ticket, const PendingRequestPtr& pending, const core::SettleRequest&) {
    consumer_.settle(pending);
  }
  void ask(core::Ticket, const PendingRequestPtr& pending, const core::ListRequest&) {
    consumer_.list(pending);
  }
  void ask(core::Ticket, const PendingRequestPtr& pending, const core::PurgeRequest&) {
    consumer_.purge(pending);
  }
  void ask(core::Ticket, const PendingRequestPtr& pending, const core::ReviveRequest&) {
    consumer_.revive(pending);
  }
  void ask(core::Ticket, const PendingRequestPtr& pending, const core::StatsRequest& request) {
    std::set<std::string> queues{request.queue};
    if (request.queue.empty()) {
      const std::lock_guard lock(mutex_);
      queues = known_;
    }
    consumer_.stats(pending, std::move(queues));
  }
  void ask(core::Ticket, const PendingRequestPtr& pending, const core::ConfigureRequest&) {
    consumer_.configure(pending);
  }
  // No queue can be paused, so there is nothing to do.
  void ask(core::Ticket, const PendingRequestPtr& pending, const core::ResumeRequest&) {
    answer_later(pending, core::Reply(core::CountReply()));
  }
  template <typename Refused>
  void ask(core::Ticket, const PendingRequestPtr& pending, const Refused&) {
    answer_later(pending, Error{ErrorCode::unsupported, "rabbitmq cannot do that"});
  }

  [[nodiscard]] Result<Message> message_of(const core::PushRequest& request,
                                           const core::PushItem& item);

  const core::Limits limits_;
  const Ladder ladder_;
  const timing::RealClock clock_;
  Ids ids_;
  std::atomic<core::Ticket> last_ticket_ = 0;
  std::once_flag close_once_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t outstanding_ = 0;
  std::atomic<bool> closed_ = false;
  std::set<std::string> known_;
  Publisher publisher_;
  Consumer consumer_;
  core::AnswerThread answers_;
};

Result<Message> RabbitEngine::message_of(const core::PushRequest& request,
                                         const core::PushItem& item) {
  if (auto error = core::check_item(request, item, limits_)) return *error;
  if (auto error = refusal_of(item)) return *error;
  const std::int64_t now = clock_.now().realtime_ms;
  Message message;
  message.due_ms = item.due.is_relative() ? now + item.due.millis() : item.due.millis();
  if (!ladder_.units(message.due_ms - now)) return over_the_top(ladder_, message.due_ms - now);
  message.id = ids_.next();
  message.queue = request.queue;
  message.key = core::view(request.bytes, item.key);
  if (message.key.empty()) message.key = "#" + std::to_string(message.id);
  message.payload = core::view(request.bytes, item.payload);
  message.headers = core::view(request.bytes, item.headers);
  message.max_attempts = item.max_attempts;
  return message;
}

void RabbitEngine::ask(core::Ticket, const PendingRequestPtr& pending,
                       const core::PushRequest& request) {
  auto job = std::make_shared<PushJob>();
  job->pending = pending;
  job->reply.items.resize(request.items.size());
  std::vector<Outgoing> out;
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    core::PushResult& result = job->reply.items[i];
    auto message = message_of(request, request.items[i]);
    if (!message) {
      result.error = std::move(message).error();
      continue;
    }
    result.id = message->id;
    result.due_ms = message->due_ms;
    result.key = core::append(job->reply.bytes, message->key);
    out.push_back({*std::move(message), false, [job, i](Result<void> done) {
                     if (!done) job->reply.items[i].error = std::move(done).error();
                     job->one_done();
                   }});
  }
  if (out.empty()) return answer_later(pending, core::Reply(std::move(job->reply)));
  job->left = out.size();
  publisher_.publish(std::move(out));
}

}  // namespace

Result<std::unique_ptr<core::Engine>> open_rabbitmq(RabbitEngineOptions options) {
  if (!options.log) options.log = [](const LogEntry&) {};
  auto engine = std::make_unique<RabbitEngine>(std::move(options));
  if (auto started = engine->start(); !started) return std::move(started).error();
  return std::unique_ptr<core::Engine>(std::move(engine));
}

}  // namespace tarry::rabbitmq
