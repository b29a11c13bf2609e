#include "server/http/connection.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>

#include "base/ascii.h"
#include "base/text.h"
#include "server/http/admission.h"
#include "wire/problem.h"

namespace tarry::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kSmallChunk = 4 * 1024;   // idle connections keep no more
constexpr std::size_t kLargeChunk = 64 * 1024;  // within a body
constexpr std::size_t kMaxPipelined = 64 * 1024;
constexpr std::uint64_t kMaxLingered = 1ull << 30;  // the largest body that any server may be given
constexpr Millis kLinger{1'000};                    // without anything more to throw away
constexpr Millis kMemoryPause{10};
// What was sent before its client could know of the drain is in the kernel, or on its way.
constexpr Millis kDrainGrace{200};

// What the engine owes keeps the server's thread from ending; until it is paid, and not for as long
// as the engine happens to keep the completion.
class Work {
 public:
  explicit Work(const Executor& executor)
      : executor_(asio::require(executor, asio::execution::outstanding_work.tracked)) {}

  /// A small task that can be copied. The engine's thread waits where there is not even the memory
  /// for that: what it answers must not be lost.
  template <typename Task>
  void post(Task task) noexcept {
    const auto executor = std::move(*executor_);
    executor_.reset();
    for (;;) {
      try {
        asio::post(executor, task);
        return;
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(kMemoryPause);
      }
    }
  }

 private:
  using Tracked =
      decltype(asio::require(std::declval<Executor>(), asio::execution::outstanding_work.tracked));
  std::optional<Tracked> executor_;
};

// Of a batch with some items of which the store itself was at fault (no space, mostly): why. The
// answer as a whole is 200 all the same, and nothing else would tell who runs the server.
const std::string* store_trouble(const core::Reply& reply) noexcept {
  const auto first_in = [](const auto& items) -> const std::string* {
    for (const auto& item : items) {
      if (item.error && wire::status_of(item.error->code) >= 500) return &item.error->message;
    }
    return nullptr;
  };
  if (const auto* pushed = std::get_if<core::PushReply>(&reply)) return first_in(pushed->items);
  if (const auto* items = std::get_if<core::ItemsReply>(&reply)) return first_in(items->items);
  return nullptr;
}

std::string limit_text(std::string_view what, std::uint64_t limit) {
  return "the " + std::string(what) + " is over the limit of " + std::to_string(limit) + " bytes";
}

// Whatever is answered with what is stored: as much as the store has, while a change is answered
// with a few words for each item.
bool reads(const core::Request& request) noexcept {
  return std::visit(
      [](const auto& asked) {
        using Asked = std::decay_t<decltype(asked)>;
        return std::is_same_v<Asked, core::ClaimRequest> ||
               std::is_same_v<Asked, core::GetRequest> ||
               std::is_same_v<Asked, core::ListRequest> ||
               std::is_same_v<Asked, core::StatsRequest> ||
               std::is_same_v<Asked, core::ForecastRequest>;
      },
      request);
}

// What a claim takes besides its body for as long as it waits.
std::uint64_t size_of(const core::ClaimRequest& claim) noexcept {
  return (claim.queues.size() + claim.keys.size()) * sizeof(std::string);
}

// The engine works, and says that what it asks does not answer just now: /readyz tells that, and to
// start this process again would mend nothing.
bool is_away(const Error& error) noexcept {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::unknown_outcome;
}

}  // namespace

Connection::Connection(Hub& hub, Socket socket)
    : hub_(hub), socket_(std::move(socket)), timer_(socket_.get_executor()) {}

template <typename Step>
void Connection::guard(Step step) {
  try {
    step();
  } catch (const std::exception& error) {
    on_exception(error);
  }
}

void Connection::on_exception(const std::exception& error) {
  try {
    hub_.warn_of(error);
    if (state_ == State::reading && parser_ && parser_->started()) {
      parser_->message().body = {};
      held_ = {};
      if (!head_seen_) request_id_ = hub_.make_request_id();
      Response refused = no_memory();
      refused.close = true;
      respond(std::move(refused));
      return;
    }
  } catch (const std::exception&) {
    // Not even for that: it is closed without an answer.
  }
  close();
}

void Connection::start() {
  guard([this] {
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);  // a unix socket has no such thing
    socket_.non_blocking(true, ignored);
    set_deadline(between_requests());
    read();
  });
}

void Connection::refuse() {
  guard([this] {
    request_id_ = hub_.make_request_id();
    Response response = problem(503, ErrorCode::unavailable,
                                "there are " + std::to_string(hub_.options.max_connections) +
                                    " connections already, which is the limit; try again");
    response.close = true;
    // A log line for each would be one more thing to flood.
    response.reason = hub_.refusals.line(response.reason, Clock::now()).value_or("");
    respond(std::move(response));
  });
}

void Connection::drain() {
  switch (state_) {
    case State::reading:
      if (!parser_ || !parser_->started()) guard([this] { set_deadline(between_requests()); });
      break;
    case State::asking: guard([this] { withdraw_claim(); }); break;
    case State::writing:
    case State::lingering:
    case State::closed: break;
  }
}

void Connection::close() {
  if (state_ == State::closed) return;
  const auto self = shared_from_this();
  const bool claim_waits = state_ == State::asking && claiming_;
  state_ = State::closed;
  error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  hold(0);
  release_unsent();
  hub_.closed(this);
  if (!claim_waits) return;
  try {
    hub_.engine.withdraw(ticket_);
  } catch (const std::exception& error) {
    hub_.warn_of(error);  // it waits to its end, and what it gets is released then
  }
}

void Connection::read() {
  if (read_outstanding_ || peer_ended_ || state_ == State::closed) return;
  if (held_.size() >= kMaxPipelined) {
    if (state_ == State::asking) withdraw_claim();
    return;
  }
  const bool in_body = (state_ == State::reading && head_seen_) || lingered_ > kSmallChunk;
  chunk_.resize(in_body ? kLargeChunk : kSmallChunk);
  if (!in_body) chunk_.shrink_to_fit();
  read_outstanding_ = true;
  socket_.async_read_some(asio::buffer(chunk_.data(), chunk_.size()),
                          [self = shared_from_this()](const error_code& error, std::size_t size) {
                            self->guard([&] { self->on_read(error, size); });
                          });
}

void Connection::on_read(const error_code& error, std::size_t size) {
  read_outstanding_ = false;
  if (state_ == State::closed) return;
  if (error) {
    on_end();
    return;
  }
  const std::string_view bytes(chunk_.data(), size);
  if (state_ == State::lingering) {
    lingered_ += size;
    if (lingered_ > kMaxLingered) {
      close();
      return;
    }
    set_deadline(kLinger, lingers_until_);
  } else if (state_ == State::reading && held_.empty()) {
    const std::size_t used = consume(bytes);
    held_.append(bytes.substr(used));
  } else {
    held_.append(bytes);
    if (state_ == State::reading) consume_held();
  }
  count_held();
  read();
}

void Connection::consume_held() {
  const std::size_t used = consume(held_);
  held_.erase(0, used);
}

void Connection::on_end() {
  peer_ended_ = true;
  switch (state_) {
    case State::reading:
    case State::lingering: close(); break;
    case State::asking:
      // One that only stopped sending cannot be told from one that is gone. A claim is safe with
      // neither; any other request was made and is carried out.
      withdraw_claim();
      break;
    case State::writing:
    case State::closed: break;
  }
}

std::size_t Connection::consume(std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (!parser_) {
    parser_.emplace(net::HttpParser::Side::request,
                    net::HttpLimits{hub_.options.max_head_bytes, hub_.options.max_body_bytes});
    head_seen_ = false;
  }
  const bool first = !parser_->started();
  const std::size_t used = parser_->feed(bytes);
  if (const auto fault = parser_->fault()) {
    on_fault(*fault, parser_->fault_text());
    return used;
  }
  if (parser_->head_done() && !head_seen_) {
    on_head();
    if (state_ != State::reading) return used;
  } else if (first) {
    set_deadline(hub_.options.head_deadline);
  }
  if (head_seen_) hold(parser_->message().body.size());
  if (parser_->done()) {
    dispatch();
  } else if (hub_.held_bytes > hub_.options.max_held_bytes) {
    Response busy = problem(429, ErrorCode::unavailable,
                            limit_text("sum of all bodies", hub_.options.max_held_bytes));
    busy.close = true;
    respond(std::move(busy));
  } else if (bytes.size() - used > hub_.options.max_head_bytes) {
    on_fault(net::HttpFault::malformed, "a line of the body's framing is too long");
  }
  return used;
}

void Connection::on_head() {
  head_seen_ = true;
  began_ = Clock::now();
  const net::HttpMessage& message = parser_->message();
  const auto id = request_id_of(message);
  request_id_ = id ? std::string(*id) : hub_.make_request_id();
  keep_alive_ = parser_->keep_alive();
  if (auto refused = check_sender(message, hub_.options.hosts)) {
    refused->close = true;
    respond(std::move(*refused));
    return;
  }
  if (auto refused = check_token(message, hub_.options.token)) {
    refused->close = true;
    respond(std::move(*refused));
    return;
  }
  const std::string* expect = message.find("Expect");
  if (expect != nullptr && !base::equals_ignoring_case(*expect, "100-continue")) {
    Response refused = problem(417, ErrorCode::invalid_argument,
                               "the field Expect " + base::quoted(*expect) +
                                   " is not 100-continue, which is all that may be expected");
    refused.close = true;
    respond(std::move(refused));
    return;
  }
  if (parser_->done()) return;
  set_deadline(hub_.options.body_deadline);
  // HTTP/1.0 knows no answer before the answer (RFC 9110, 10.1.1).
  if (expect == nullptr || message.version < 11) return;
  // Should the socket not take it now, the client sends its body without, after a second or so.
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  error_code ignored;
  socket_.write_some(asio::buffer(kContinue), ignored);
}

void Connection::on_fault(net::HttpFault fault, std::string_view text) {
  if (!head_seen_) request_id_ = hub_.make_request_id();
  Response response;
  switch (fault) {
    case net::HttpFault::malformed:
      response = problem(400, ErrorCode::invalid_argument,
                         "the request is not well-formed HTTP: " + std::string(text));
      break;
    case net::HttpFault::head_too_large:
      response = problem(431, ErrorCode::too_large,
                         limit_text("request's head", hub_.options.max_head_bytes));
      break;
    case net::HttpFault::body_too_large: {
      // Of one that comes in chunks nobody knows.
      const std::string* length = parser_->message().find("Content-Length");
      const std::string body = length != nullptr ? "body of " + *length + " bytes" : "body";
      response = problem(413, ErrorCode::too_large, limit_text(body, hub_.options.max_body_bytes));
      break;
    }
    case net::HttpFault::unsupported_coding:
      response = problem(501, ErrorCode::unsupported, text);
      break;
  }
  response.close = true;
  respond(std::move(response));
}

void Connection::dispatch() {
  Routed routed = route(hub_.service, parser_->message(), route_);
  if (auto* response = std::get_if<Response>(&routed)) {
    respond(std::move(*response));
  } else {
    admit(std::get<Submission>(std::move(routed)));
  }
}

// What waits, and answers that nobody takes, count too: who reads on meanwhile makes more of them.
// What settles or cancels makes less, and is let through. Probes are small.
void Connection::admit(Submission submission) {
  if (const auto* claim = std::get_if<core::ClaimRequest>(&submission.request)) {
    hold(request_bytes_ + size_of(*claim));
  }
  if (submission.check == Check::none && hub_.held_bytes > hub_.options.max_held_bytes &&
      reads(submission.request)) {
    respond(problem(
        429, ErrorCode::unavailable,
        limit_text("sum of all requests and answers that are held", hub_.options.max_held_bytes)));
    return;
  }
  submit(std::move(submission));
}

void Connection::submit(Submission submission) {
  state_ = State::asking;
  clear_deadline();
  answer_ = std::move(submission.answer);
  check_ = submission.check;
  claiming_ = std::holds_alternative<core::ClaimRequest>(submission.request);
  auto completion = [self = shared_from_this(),
                     work = Work(socket_.get_executor())](Result<core::Reply> result) mutable {
    self->reply_.emplace(std::move(result));
    work.post([self = std::move(self)] { self->on_reply(); });
  };
  const auto holders = weak_from_this().use_count();
  try {
    ticket_ = hub_.engine.submit(std::move(submission.request), std::move(completion));
  } catch (const std::bad_alloc& error) {
    hub_.warn_of(error);
    // What the engine has kept the completion of it may carry out all the same.
    if (weak_from_this().use_count() < holders) {
      respond(no_memory());
    } else {
      close();
    }
    return;
  }
  if (hub_.draining || peer_ended_) withdraw_claim();
}

void Connection::withdraw_claim() {
  if (claiming_ && ticket_ != 0) hub_.engine.withdraw(ticket_);
}

void Connection::on_reply() {
  Result<core::Reply> result = *std::exchange(reply_, std::nullopt);
  ticket_ = 0;
  const auto* claimed = result ? std::get_if<core::ClaimReply>(&*result) : nullptr;
  if (claimed != nullptr && claiming_ && !take_receipts(*claimed)) {
    close();
    release_unsent();  // where it was closed already
    return;
  }
  guard([&] { answer(std::move(result)); });
}

void Connection::answer(Result<core::Reply> result) {
  MakeResponse make = std::move(answer_);
  if (!result) {
    if (!is_away(result.error())) hub_.service.engine_suspect = true;
  } else if (check_ == Check::health) {
    hub_.service.engine_suspect = false;
  }
  if (state_ == State::closed) {
    release_unsent();
    return;
  }
  if (claiming_ && (peer_ended_ || has_hung_up())) {
    close();
    return;
  }
  if (result) {
    const std::string* trouble = store_trouble(*result);
    Response response = make(*result);
    if (trouble != nullptr && response.reason.empty()) {
      response.reason = hub_.troubles.line(*trouble, Clock::now()).value_or("");
    }
    respond(std::move(response));
  } else if (check_ == Check::health && is_away(result.error())) {
    core::Reply nothing;
    respond(make(nothing));
  } else {
    respond(check_ != Check::none ? unwell(result.error()) : problem(result.error()));
  }
}

// Without receipts nothing can be given back, so all else makes room for them.
bool Connection::take_receipts(const core::ClaimReply& reply) {
  try {
    collect_receipts(reply);
    return true;
  } catch (const std::bad_alloc&) {
    unsent_ = {};
    answer_ = nullptr;
    parser_.reset();
    held_ = {};
  }
  try {
    collect_receipts(reply);
  } catch (const std::bad_alloc& error) {
    unsent_ = {};
    hub_.warn_of(error);
  }
  return false;
}

void Connection::collect_receipts(const core::ClaimReply& reply) {
  std::size_t bytes = 0;
  for (const core::ClaimedItem& item : reply.items) bytes += item.receipt.size;
  unsent_.items.reserve(reply.items.size());
  unsent_.bytes.reserve(bytes);
  for (const core::ClaimedItem& item : reply.items) {
    core::SettleItem release;
    release.receipt = core::append(unsent_.bytes, core::view(reply.bytes, item.receipt));
    release.action = core::SettleAction::release;
    unsent_.items.push_back(release);
  }
}

void Connection::release_unsent() {
  if (unsent_.items.empty()) return;
  const std::size_t count = unsent_.items.size();
  auto completion = [&hub = hub_, work = Work(socket_.get_executor()),
                     count](Result<core::Reply> result) mutable {
    if (result) return work.post([] {});
    work.post([&hub, count, error = std::move(result).error()] {
      if (!is_away(error)) hub.service.engine_suspect = true;
      hub.warn(
          std::to_string(count) +
          " claimed messages could not be released, and wait for their leases: " + error.message);
    });
  };
  try {
    hub_.engine.submit(std::exchange(unsent_, {}), std::move(completion));
  } catch (const std::exception& error) {
    hub_.warn_of(error);  // they wait for their leases
  }
}

// The read that is outstanding may not have been told yet what the kernel knows; nor would it find
// the end behind bytes that are unread.
bool Connection::has_hung_up() {
  pollfd socket{socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) > 0;
}

void Connection::note(const Response& response) {
  if (!hub_.options.on_request) return;
  RequestNote note;
  note.id = request_id_;
  if (parser_) note.method = parser_->message().method;
  note.route = route_;
  note.status = response.status;
  note.reason = response.reason;
  if (head_seen_) {
    note.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began_);
  }
  hub_.options.on_request(note);
}

void Connection::respond(Response response) {
  state_ = State::writing;
  note(response);
  hub_.meter.answered(std::exchange(route_, kNoRoute), response.status);
  keep_alive_ = keep_alive_ && !response.close && !hub_.draining;
  head_ = head_of(response, request_id_, keep_alive_);
  // What follows the head of an answer to HEAD would be taken for the next answer.
  const bool head_only = parser_ && parser_->message().method == "HEAD";
  body_ = head_only ? std::string() : std::move(response.body);
  written_ = 0;
  hold(body_.size());
  set_deadline(hub_.options.write_deadline);
  write();
}

void Connection::write() {
  std::array<asio::const_buffer, 2> pieces;
  if (written_ < head_.size()) {
    pieces[0] = asio::buffer(head_) + written_;
    pieces[1] = asio::buffer(body_);
  } else {
    pieces[1] = asio::buffer(body_) + (written_ - head_.size());
  }
  socket_.async_write_some(pieces,
                           [self = shared_from_this()](const error_code& error, std::size_t size) {
                             self->guard([&] { self->on_write(error, size); });
                           });
}

void Connection::on_write(const error_code& error, std::size_t size) {
  if (state_ == State::closed) return;
  if (error) {
    close();
    return;
  }
  written_ += size;
  if (written_ == head_.size() + body_.size()) {
    on_written();
  } else {
    set_deadline(hub_.options.write_deadline);
    write();
  }
}

void Connection::on_written() {
  unsent_ = {};
  claiming_ = false;
  head_.clear();
  body_ = {};
  parser_.reset();
  head_seen_ = false;
  hold(0);
  if (!keep_alive_) {
    linger();
    return;
  }
  state_ = State::reading;
  set_deadline(between_requests());
  consume_held();
  if (state_ == State::reading && peer_ended_) {
    close();
    return;
  }
  read();
}

// Closing with bytes unread would reset the connection, and the client might never see the reply:
// many look for it only once they have sent all of their body. So that is thrown away, for as long
// as a body may take.
void Connection::linger() {
  if (peer_ended_) {
    close();
    return;
  }
  state_ = State::lingering;
  held_ = {};
  count_held();
  error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  lingers_until_ = Clock::now() + hub_.options.body_deadline;
  set_deadline(kLinger, lingers_until_);
  read();
}

void Connection::hold(std::uint64_t bytes) {
  request_bytes_ = bytes;
  count_held();
}

// With what the client has sent ahead.
void Connection::count_held() {
  const std::uint64_t bytes = state_ == State::closed ? 0 : request_bytes_ + held_.size();
  hub_.held_bytes += bytes;
  hub_.held_bytes -= held_bytes_;
  held_bytes_ = bytes;
}

Millis Connection::between_requests() const {
  const Millis idle = hub_.options.idle_deadline;
  return hub_.draining ? std::min(kDrainGrace, idle) : idle;
}

// A later deadline costs nothing: the timer that is armed looks again when it fires.
void Connection::set_deadline(Millis from_now, Clock::time_point latest) {
  deadline_ = std::min(Clock::now() + from_now, latest);
  if (deadline_ < armed_) arm();
}

void Connection::arm() {
  armed_ = deadline_;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->guard([&] { self->on_timer(); });
  });
}

void Connection::on_timer() {
  armed_ = Clock::time_point::max();
  if (state_ == State::closed || deadline_ == Clock::time_point::max()) return;
  if (Clock::now() < deadline_) {
    arm();
  } else {
    expire();
  }
}

void Connection::expire() {
  if (state_ == State::reading && parser_ && parser_->started()) {
    if (!head_seen_) request_id_ = hub_.make_request_id();
    Response late = problem(408, ErrorCode::unavailable,
                            head_seen_ ? "the body did not arrive in time"
                                       : "the request's head did not arrive in time");
    late.close = true;
    respond(std::move(late));
    return;
  }
  close();
}

}  // namespace tarry::http
