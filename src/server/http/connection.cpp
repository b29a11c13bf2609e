// What a connection reads, and what becomes of its client. What it answers: connection_answers.cpp.
#include "server/http/connection.h"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>

#include "base/ascii.h"
#include "base/text.h"
#include "server/http/admission.h"

namespace tarry::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kSmallBody = 4 * 1024;  // mostly comes with its head, and is held anyway
constexpr std::uint64_t kMaxLingered = 1ull << 30;  // the largest body that any server may be given
// What was sent before its client could know of the drain is in the kernel, or on its way.
constexpr Millis kDrainGrace{200};

}  // namespace

Connection::Connection(Front& front, listening::Socket socket)
    : front_(front),
      socket_(std::move(socket)),
      session_(front.context(), *this, socket_),
      deadline_(*this, socket_.get_executor()) {}

void Connection::on_exception(const std::exception& error) {
  try {
    context().warn_of(error);
    if (state_ == State::reading && reader_.has_begun()) {
      reader_.forget_bytes();
      if (!reader_.has_head()) request_.id = context().make_request_id();
      respond_and_close(no_memory());
      return;
    }
  } catch (const std::exception&) {
    // Not even for that: it is closed without an answer.
  }
  close();
}

void Connection::start(Place place) {
  on_reserve_ = place == Place::reserve;
  guard([this] {
    listening::prepare(socket_);
    session_.become_idle();
    // Whoever connects means to ask; only between requests there is time.
    deadline_.set(std::min(between_requests(), front_.options().head_deadline));
    read();
  });
}

bool Connection::give_way() {
  error_code ignored;
  const bool silent = state_ == State::reading && reader_.is_silent();
  if (!silent && state_ != State::lingering) return false;
  if (socket_.available(ignored) > 0) return false;
  close();
  return true;
}

void Connection::revoke() {
  guard([this] {
    if (session_.revoke()) return;
    if (state_ == State::reading && reader_.has_head()) respond(token_replaced());
  });
}

void Connection::drain() {
  guard([this] {
    if (state_ == State::asking) session_.end_wait();
    if (state_ == State::reading && !reader_.has_begun()) deadline_.set(between_requests());
  });
}

void Connection::close() {
  if (state_ == State::closed) return;
  const auto self = shared_from_this();
  state_ = State::closed;
  error_code ignored;
  socket_.close(ignored);
  deadline_.end();
  session_.close();
}

void Connection::free_memory() noexcept {
  request_.answer = nullptr;
  reader_.next();
  reader_.forget_ahead();
}

void Connection::read() {
  if (read_outstanding_ || session_.has_client_ended() || state_ == State::closed) return;
  if (reader_.is_full()) {
    session_.end_wait();
    return;
  }
  const bool in_body =
      (state_ == State::reading && reader_.has_head()) || lingered_ > RequestReader::kSmallRead;
  const auto room = reader_.room(in_body);
  if (in_body || (state_ == State::reading && reader_.has_begun())) {
    listening::acknowledge(socket_);
  }
  read_outstanding_ = true;
  socket_.async_read_some(
      asio::buffer(room.data(), room.size()),
      [this, self = shared_from_this()](const error_code& error, std::size_t size) {
        guard([&] { on_read(error, size); });
      });
}

void Connection::on_read(const error_code& error, std::size_t size) {
  read_outstanding_ = false;
  if (state_ == State::closed) return;
  if (error) {
    if (state_ != State::asking) return on_end();
    context().turns.run(socket_.get_executor(),
                        [this, self = shared_from_this()] { guard([this] { on_end(); }); });
    return;
  }
  const std::string_view bytes = reader_.read(size);
  if (state_ == State::lingering) {
    lingered_ += size;
    if (lingered_ > kMaxLingered) {
      close();
      return;
    }
    deadline_.set(kLinger, lingers_until_);
  } else if (state_ == State::reading && reader_.ahead().empty()) {
    const std::size_t used = consume(bytes);
    reader_.keep_ahead(bytes.substr(used));
  } else {
    reader_.keep_ahead(bytes);
    if (state_ == State::reading) consume_ahead();
  }
  session_.held().hold_input(reader_.memory());
  read();
}

void Connection::consume_ahead() {
  const std::size_t used = consume(reader_.ahead());
  reader_.drop_ahead(used);
}

void Connection::on_end() {
  if (state_ == State::closed) return;
  session_.client_ended();
  if (state_ == State::reading || state_ == State::lingering) close();
}

std::size_t Connection::consume(std::string_view bytes) {
  const FrontOptions& options = front_.options();
  const RequestReader::Step step =
      reader_.feed(bytes, {options.max_head_bytes, context().options.max_body_bytes});
  if (step.fault) {
    on_fault(*step.fault, step.fault_text);
    return step.used;
  }
  if (!reader_.has_begun()) return step.used;
  if (step.head_ended) {
    on_head();
    if (state_ != State::reading) return step.used;
  } else if (step.began) {
    deadline_.set(options.head_deadline);
  }
  net::HttpParser& parser = reader_.parser();
  if (reader_.has_head()) {
    session_.held().hold_request(session::memory_of(parser.message().body), reader_.memory());
  }
  if (parser.done()) {
    dispatch();
    return step.used;
  }
  if (auto busy = reader_.has_head() ? refuse_body() : std::nullopt) {
    respond_and_close(*std::move(busy));
  } else if (bytes.size() - step.used > options.max_head_bytes) {
    on_fault(net::HttpFault::malformed, "a line of the body's framing is too long");
  }
  return step.used;
}

// Looked at with what is still to come, so that a body is refused before it is sent. Of one that
// comes in chunks nobody knows.
std::optional<Response> Connection::refuse_body() {
  const auto over = session_.held().requests_over();
  if (!over) return std::nullopt;
  net::HttpParser& parser = reader_.parser();
  const std::uint64_t body = parser.content_length().value_or(parser.message().body.size());
  if (body <= kSmallBody || session_.held().may_settle(body)) return std::nullopt;
  return too_much_held(*over);
}

void Connection::on_head() {
  request_.began = Clock::now();
  net::HttpParser& parser = reader_.parser();
  const net::HttpMessage& message = parser.message();
  const auto id = request_id_of(message);
  request_.id = id ? std::string(*id) : context().make_request_id();
  keep_alive_ = parser.keep_alive() && !on_reserve_;
  session_.become_busy();
  if (auto refused = check_head()) {
    respond_and_close(*std::move(refused));
    return;
  }
  if (parser.done()) return;
  deadline_.set(front_.options().body_deadline);
  // HTTP/1.0 knows no answer before the answer (RFC 9110, 10.1.1).
  if (message.find("Expect") == nullptr || message.version < 11 || refuse_body()) return;
  // Should the socket not take it now, the client sends its body without, after a second or so.
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  error_code ignored;
  socket_.write_some(asio::buffer(kContinue), ignored);
}

// Why nothing more of the request is read.
std::optional<Response> Connection::check_head() {
  const net::HttpMessage& message = reader_.parser().message();
  if (auto refused = check_sender(message, front_.options().hosts)) return refused;
  if (auto refused = check_token(message, context().options.token)) return refused;
  request_.let_in = true;
  const std::string* expect = message.find("Expect");
  if (expect != nullptr && !base::equals_ignoring_case(*expect, "100-continue")) {
    return problem(417, ErrorCode::invalid_argument,
                   "the field Expect " + base::quoted(*expect) +
                       " is not 100-continue, which is all that may be expected");
  }
  const bool settling = settles(message);
  session_.held().set_settling(settling);
  if (!on_reserve_ || settling || is_probe(message)) return std::nullopt;
  return problem(503, ErrorCode::unavailable,
                 "there are " + std::to_string(context().options.max_connections) +
                     " connections already, which is the limit; try again");
}

void Connection::on_fault(net::HttpFault fault, std::string_view text) {
  if (!reader_.has_head()) request_.id = context().make_request_id();
  switch (fault) {
    case net::HttpFault::malformed:
      respond_and_close(problem(400, ErrorCode::invalid_argument,
                                "the request is not well-formed HTTP: " + std::string(text)));
      break;
    case net::HttpFault::head_too_large:
      respond_and_close(problem(431, ErrorCode::too_large,
                                over_limit("request's head", front_.options().max_head_bytes)));
      break;
    case net::HttpFault::body_too_large: {
      // Of one that comes in chunks nobody knows.
      const std::string* length = reader_.parser().message().find("Content-Length");
      const std::string body = length != nullptr ? "body of " + *length + " bytes" : "body";
      respond_and_close(
          problem(413, ErrorCode::too_large, over_limit(body, context().options.max_body_bytes)));
      break;
    }
    case net::HttpFault::unsupported_coding:
      respond_and_close(problem(501, ErrorCode::unsupported, text));
      break;
  }
}

Millis Connection::between_requests() const {
  const Millis idle = context().options.idle_deadline;
  return context().draining ? std::min(kDrainGrace, idle) : idle;
}

void Connection::on_deadline() {
  if (state_ == State::reading && reader_.has_begun()) {
    if (!reader_.has_head()) request_.id = context().make_request_id();
    respond_and_close(problem(408, ErrorCode::unavailable,
                              reader_.has_head() ? "the body did not arrive in time"
                                                 : "the request's head did not arrive in time"));
    return;
  }
  close();
}

}  // namespace tarry::http
