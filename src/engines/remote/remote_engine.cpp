#include "engines/remote/remote_engine.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <tarry/version.h>

#include "base/assert.h"
#include "base/threads/thread.h"
#include "core/claimed.h"
#include "core/engine_parts/answer_thread.h"
#include "core/engine_parts/settle_first.h"
#include "core/rules/validation.h"
#include "engines/remote/lent_loop.h"
#include "net/http/http_client.h"
#include "wire/call.h"
#include "wire/parts/problem.h"
#include "wire/service.h"

namespace tarry::remote {
namespace {

namespace asio = boost::asio;
using net::HttpAnswer;
using net::HttpClient;
using net::HttpFailure;
using net::HttpMessage;

// How long `close` waits for outstanding answers.
constexpr std::chrono::seconds kCloseGrace{5};

// Servers show it as the holder of a lease.
std::string user_agent() {
  std::array<char, 256> host{};
  (void)::gethostname(host.data(), host.size() - 1);
  return std::string("tarry/" TARRY_VERSION " (") + host.data() + ", process " +
         std::to_string(::getpid()) + ")";
}

net::HttpClientOptions client_options(const RemoteOptions& options) {
  net::HttpClientOptions client;
  client.host = options.host;
  client.port = options.port;
  client.unix_path = options.unix_path;
  client.connections = options.connections;
  client.reserved = options.connections;
  client.connect_timeout_ms = options.connect_timeout_ms;
  client.token = options.token;
  client.renew_token = options.renew_token;
  client.tls = options.tls;
  client.user_agent = user_agent();
  return client;
}

std::string url_of(const RemoteOptions& options) {
  if (!options.unix_path.empty()) return "http+unix://" + options.unix_path;
  const bool v6 = options.host.find(':') != std::string::npos;
  return (options.tls ? "https://" : "http://") + (v6 ? "[" + options.host + "]" : options.host) +
         ":" + std::to_string(options.port);
}

// A server of this version has a route for each of these calls.
Error read_refusal(const HttpMessage& message) {
  constexpr unsigned kUnauthorized = 401;
  constexpr unsigned kMethodNotAllowed = 405;
  Error error = wire::read_problem(message.status, message.body);
  if (message.status == kUnauthorized) {
    error.message += "; give it in TARRY_TOKEN, or with ?token_file=FILE in the store's URL";
  }
  const bool no_method = message.status == kMethodNotAllowed && wire::tells_no_method(error);
  if (!no_method && !wire::tells_no_route(error)) return error;
  return {ErrorCode::unsupported,
          "the server cannot do this, it is older than this program: " + error.message};
}

Result<core::Reply> read_answer(const wire::Call& call, HttpAnswer answer) {
  if (auto* failure = std::get_if<HttpFailure>(&answer)) {
    // If nothing was to change, nothing is in doubt.
    if (failure->sent && !call.changes) failure->error.code = ErrorCode::unavailable;
    return std::move(failure->error);
  }
  const auto& message = std::get<HttpMessage>(answer);
  if (message.status != 200) {
    Error refusal = read_refusal(message);
    if (refusal.code == ErrorCode::unknown_outcome && !call.changes) {
      refusal.code = ErrorCode::unavailable;
    }
    return refusal;
  }
  auto reply = wire::decode_answer(call, message.body);
  if (!reply) {
    return Unexpected(call.changes ? ErrorCode::unknown_outcome : ErrorCode::unavailable,
                      "the server's answer cannot be read: " + reply.error().message);
  }
  if (auto* stats = std::get_if<StoreStats>(&*reply)) {
    // The server's store may be another server. `served` names the last engine in the chain.
    if (stats->served.empty()) stats->served = stats->engine;
    stats->engine = "remote";
  }
  return reply;
}

bool settles(const core::Request& request) noexcept {
  const auto* claim = std::get_if<core::ClaimRequest>(&request);
  return std::holds_alternative<core::SettleRequest>(request) ||
         (claim != nullptr && !claim->settle.items.empty());
}

// How long to wait for an answer. A connection may die silently: a request that keeps or ends a
// lease must then have time left for another connection.
std::int64_t patience_ms(const core::Request& request, std::int64_t most_ms) {
  constexpr std::int64_t kLeastExtend = 250;
  constexpr std::int64_t kSettle = 10'000;
  if (settles(request)) return std::min(kSettle, most_ms);
  const auto* extend = std::get_if<core::ExtendRequest>(&request);
  if (extend == nullptr) return most_ms;
  std::int64_t shortest_ms = most_ms;
  for (const core::ExtendItem& item : extend->items) {
    if (item.lease) shortest_ms = std::min<std::int64_t>(shortest_ms, item.lease->count() / 4);
  }
  return std::max(shortest_ms, std::min(kLeastExtend, most_ms));
}

// A request that keeps or ends a lease must not wait behind a dead request: a worker extends and
// settles one at a time, but any number of threads may settle.
net::HttpLane lane_of(const core::Request& request, std::int64_t wait_ms) {
  if (wait_ms == 0 && settles(request)) return net::HttpLane::reserved;
  const bool own = wait_ms > 0 || std::holds_alternative<core::ExtendRequest>(request);
  return own ? net::HttpLane::own : net::HttpLane::common;
}

// The reply to a claim that is withdrawn before the server has answered it.
core::ClaimReply not_told(std::size_t settles) {
  core::ClaimReply reply;
  reply.settled.resize(settles);
  for (core::ItemResult& item : reply.settled) {
    item.error = Error{ErrorCode::unknown_outcome,
                       "the claim was withdrawn before the server told whether it had settled"};
  }
  return reply;
}

// The release of messages whose caller no longer waits.
std::optional<core::SettleRequest> release_of(const Result<core::Reply>& result) {
  const auto* claimed = result ? std::get_if<core::ClaimReply>(&*result) : nullptr;
  if (claimed == nullptr || claimed->items.empty()) return std::nullopt;
  return core::release_of(*claimed);
}

// Thread safe. The members after the loop belong to the thread that runs the loop.
//
// Invariants
//  1. A completion is taken out of its Pending before it runs, so it runs once.
//  2. If a Pending has no completion, nobody waits for its answer, and messages in the answer are
//     released.
//  3. A caller that runs the loop runs no other caller's callback: the answer thread does.
class RemoteEngine final : public core::Engine {
 public:
  explicit RemoteEngine(RemoteOptions options)
      : options_(std::move(options)), grace_(loop_.io().get_executor()) {
    client_.emplace(loop_.io(), client_options(options_));
    loop_.start("tarry-remote");
  }

  ~RemoteEngine() override { close(); }

  Result<void> check_server() {
    std::promise<HttpAnswer> answered;
    loop_.post([&] {
      net::HttpCall call;
      call.method = "GET";
      call.target = "/healthz";
      call.timeout_ms = options_.request_timeout_ms;
      client_->send(std::move(call), [&](HttpAnswer a) { answered.set_value(std::move(a)); });
    });
    HttpAnswer answer = answered.get_future().get();
    if (auto* failure = std::get_if<HttpFailure>(&answer)) {
      const ErrorCode code = failure->error.code;
      if (code == ErrorCode::invalid_argument || code == ErrorCode::permission_denied) {
        return std::move(failure->error);
      }
      return Unexpected(ErrorCode::unavailable,
                        "no tarry server at " + url_of(options_) + ": " + failure->error.message);
    }
    const auto& message = std::get<HttpMessage>(answer);
    if (message.status == 503) return wire::read_problem(message.status, message.body);
    auto health = wire::decode_health(message.body);
    if (message.status != 200 || !health) {
      return Unexpected(
          ErrorCode::invalid_argument,
          "what answers at " + url_of(options_) + " is not a tarry server: " +
              (health ? "status " + std::to_string(message.status) : health.error().message));
    }
    capabilities_ = health->capabilities;
    capabilities_.served = std::exchange(capabilities_.engine, "remote");
    return {};
  }

  core::Ticket submit(core::Request request, core::Completion completion) override {
    if (!capabilities_.joins && core::settles_first(request)) {  // an older server
      return core::submit_settle_first(std::move(request), std::move(completion),
                                       [this](core::Request part, core::Completion done) {
                                         return submit(std::move(part), std::move(done));
                                       });
    }
    const core::Ticket ticket = ++last_ticket_;
    Prepared prepared = prepare(std::move(request), std::move(completion));
    const std::lock_guard lock(mutex_);
    if (closed_) {
      answers_.post([completion = std::move(prepared.pending.completion)]() mutable {
        completion(store_is_closed());
      });
    } else {
      post(ticket, std::move(prepared));
    }
    return ticket;
  }

  // As long as nobody else uses the engine, the caller runs the loop.
  void submit_waiting(core::Request request, core::Completion completion) override {
    if (!capabilities_.joins && core::settles_first(request)) {
      submit(std::move(request), std::move(completion));
      return;
    }
    const core::Ticket ticket = ++last_ticket_;
    Prepared prepared = prepare(std::move(request), std::move(completion));
    prepared.pending.is_waited_for = true;
    std::unique_lock lock(mutex_);
    if (closed_) {
      lock.unlock();
      prepared.pending.completion(store_is_closed());
      return;
    }
    if (!loop_.take()) {
      post(ticket, std::move(prepared));
      return;
    }
    const auto keeps_loop = asio::make_work_guard(loop_.io());  // if the store is closed meanwhile
    lock.unlock();
    bool done = false;
    prepared.pending.done = &done;
    // Without memory the program ends, as on the loop's own thread: nobody could run the loop
    // again.
    [&]() noexcept { begin(ticket, std::move(prepared.call), std::move(prepared.pending)); }();
    loop_.lend(done);
  }

  void withdraw(core::Ticket ticket) override {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    loop_.post([this, ticket] {
      const auto found = pending_.find(ticket);
      if (found == pending_.end() || !found->second.is_claim) return;
      abandon(found->second, core::Reply(not_told(found->second.settles)));
    });
  }

  [[nodiscard]] core::Capabilities capabilities() const override { return capabilities_; }

  void close() override {
    TARRY_ASSERT(!loop_.is_own_thread());
    std::call_once(close_once_, [this] {
      {
        const std::lock_guard lock(mutex_);
        closed_ = true;
      }
      loop_.post([this] { begin_close(); });
      loop_.join();
    });
  }

 private:
  struct Pending {
    wire::Call call;
    core::Completion completion;
    HttpClient::Id id = 0;
    bool is_claim = false;
    bool is_waited_for = false;  // the completion only records its result
    bool* done = nullptr;        // of the caller that runs the loop until then
    std::size_t settles = 0;     // settlements that a claim has taken with it
    std::int64_t wait_ms = 0;
    std::int64_t timeout_ms = 0;  // in addition to `wait_ms`
    net::HttpLane lane = net::HttpLane::common;
  };

  struct Prepared {
    Result<wire::Call> call;
    Pending pending;
  };

  static Error store_is_closed() { return {ErrorCode::closed, "the store is closed"}; }

  static Result<wire::Call> encode(const core::Request& request) {
    if (auto error = core::check_request(request)) return std::move(*error);
    return wire::encode_call(request);
  }

  Prepared prepare(core::Request request, core::Completion completion) const {
    // An older server refuses fields that it does not know.
    if (auto* move = std::get_if<core::MoveRequest>(&request); move && !capabilities_.push_times) {
      for (core::MoveItem& item : move->items) item.pushed_ms.reset();
    }
    Prepared prepared{encode(request), {}};
    Pending& pending = prepared.pending;
    pending.timeout_ms = patience_ms(request, options_.request_timeout_ms);
    if (const auto* claim = std::get_if<core::ClaimRequest>(&request)) {
      pending.is_claim = true;
      pending.wait_ms = claim->wait.count();
      pending.settles = claim->settle.items.size();
    }
    pending.lane = lane_of(request, pending.wait_ms);
    pending.completion = std::move(completion);
    return prepared;
  }

  void post(core::Ticket ticket, Prepared prepared) {
    loop_.post([this, ticket, prepared = std::move(prepared)]() mutable {
      begin(ticket, std::move(prepared.call), std::move(prepared.pending));
    });
  }

  // `pending` has a completion.
  void complete(Pending& pending, Result<core::Reply> result) {
    core::Completion completion = std::exchange(pending.completion, nullptr);
    if (pending.done != nullptr) *pending.done = true;
    if (!pending.is_waited_for && core::on_lent_thread()) {
      answers_.post([completion = std::move(completion), result = std::move(result)]() mutable {
        completion(std::move(result));
      });
    } else {
      completion(std::move(result));
    }
  }

  void begin(core::Ticket ticket, Result<wire::Call> call, Pending pending) {
    if (!call) {
      complete(pending, std::move(call).error());
      return;
    }
    net::HttpCall http;
    http.method = call->method;
    http.target = std::move(call->target);
    http.content_type = call->body.empty() ? "" : "application/json";
    http.body = std::move(call->body);
    http.timeout_ms = pending.timeout_ms + pending.wait_ms;
    http.lane = pending.lane;
    pending.call = std::move(*call);
    pending.call.asked_at = base::BootClock::now();
    pending.id = client_->send(std::move(http), [this, ticket](HttpAnswer answer) {
      on_answer(ticket, std::move(answer));
    });
    pending_.emplace(ticket, std::move(pending));
  }

  void on_answer(core::Ticket ticket, HttpAnswer answer) {
    auto node = pending_.extract(ticket);
    Pending& pending = node.mapped();
    auto* failure = std::get_if<HttpFailure>(&answer);
    if (closing_ && failure != nullptr && !failure->sent) failure->error.code = ErrorCode::closed;
    auto result = read_answer(pending.call, std::move(answer));
    if (pending.completion) {
      if (result) tell_watches(*result);
      complete(pending, std::move(result));
    } else if (auto settle = release_of(result)) {
      // If the release fails, the leases run out by themselves.
      Pending release;
      release.timeout_ms = patience_ms(*settle, options_.request_timeout_ms);
      release.lane = lane_of(*settle, 0);
      begin(++last_ticket_, wire::encode_call(*settle), std::move(release));
    }
    if (closing_) end_if_done();
  }

  // The caller is answered now; the server is told, and messages that it had sent already are
  // released.
  void abandon(Pending& pending, Result<core::Reply> result) {
    if (!pending.completion) return;
    const HttpClient::Id id = pending.id;
    complete(pending, std::move(result));
    client_->hang_up(id);
  }

  void begin_close() {
    closing_ = true;
    std::vector<core::Ticket> waiting;
    for (const auto& [ticket, pending] : pending_) {
      if (pending.is_claim && pending.wait_ms > 0) waiting.push_back(ticket);
    }
    for (const core::Ticket ticket : waiting) {
      const auto found = pending_.find(ticket);
      if (found == pending_.end()) continue;
      const bool in_doubt = found->second.settles > 0;
      abandon(found->second, Error{in_doubt ? ErrorCode::unknown_outcome : ErrorCode::closed,
                                   "the store was closed"});
    }
    grace_.expires_after(kCloseGrace);
    grace_.async_wait([this](const boost::system::error_code& error) {
      if (!error) client_->close();  // this answers the remaining requests
    });
    end_if_done();
  }

  void end_if_done() {
    if (!pending_.empty()) return;
    client_->close();
    grace_.cancel();
    guard_.reset();
  }

  const RemoteOptions options_;
  core::Capabilities capabilities_;  // written before another thread sees the engine
  std::atomic<core::Ticket> last_ticket_ = 0;
  std::once_flag close_once_;
  std::mutex mutex_;  // held while posting, so that nothing is posted after the close
  bool closed_ = false;

  // While it closes, the own thread runs the loop to its end.
  LentLoop loop_{[this] { return pending_.empty() && !closing_; }};
  asio::executor_work_guard<asio::io_context::executor_type> guard_{loop_.io().get_executor()};
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>,
                             asio::io_context::executor_type>
      grace_;
  bool closing_ = false;
  std::unordered_map<core::Ticket, Pending> pending_;
  std::optional<HttpClient> client_;
  // For requests submitted after the close, and for callbacks while a caller runs the loop.
  core::AnswerThread answers_;
};

}  // namespace

Result<std::unique_ptr<core::Engine>> open_remote(RemoteOptions options) {
  auto engine = std::make_unique<RemoteEngine>(std::move(options));
  if (auto checked = engine->check_server(); !checked) return std::move(checked).error();
  return std::unique_ptr<core::Engine>(std::move(engine));
}

}  // namespace tarry::remote
