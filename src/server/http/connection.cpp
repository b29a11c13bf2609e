#include "server/http/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/ascii.h"
#include "base/text.h"
#include "server/http/admission.h"

namespace tarry::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kSmallChunk = 4 * 1024;   // idle connections keep no more
constexpr std::size_t kLargeChunk = 64 * 1024;  // within a body
constexpr std::size_t kMaxPipelined = 64 * 1024;
constexpr std::size_t kSmallBody = 4 * 1024;  // mostly comes with its head, and is held anyway
constexpr std::size_t kMaxPassedOver = 8;     // four empty lines before a request
constexpr std::uint64_t kMaxLingered = 1ull << 30;  // the largest body that any server may be given
constexpr Millis kLinger{1'000};                    // without anything more to throw away
// What was sent before its client could know of the drain is in the kernel, or on its way.
constexpr Millis kDrainGrace{200};

// Besides the string itself.
std::size_t memory_of(const std::string& text) noexcept {
  static const std::size_t within = std::string().capacity();
  return text.capacity() > within ? text.capacity() : 0;
}

// Of a unix socket the user at its other end, since it has no address. `port` stays 0 there.
std::string peer_name(Socket& socket, std::uint16_t& port) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  if (error) return "gone";
  const int family = endpoint.data()->sa_family;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* address = nullptr;
  if (family == AF_INET) {
    address = &reinterpret_cast<const sockaddr_in*>(endpoint.data())->sin_addr;
    port = ntohs(reinterpret_cast<const sockaddr_in*>(endpoint.data())->sin_port);
  } else if (family == AF_INET6) {
    address = &reinterpret_cast<const sockaddr_in6*>(endpoint.data())->sin6_addr;
    port = ntohs(reinterpret_cast<const sockaddr_in6*>(endpoint.data())->sin6_port);
  } else {
    ucred user{};
    socklen_t size = sizeof user;
    ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &user, &size);
    return "user " + std::to_string(user.uid);
  }
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? "?" : text.data();
}

}  // namespace

Connection::Connection(Hub& hub, Socket socket)
    : hub_(hub), socket_(std::move(socket)), timer_(socket_.get_executor()) {
  std::uint16_t port = 0;
  std::string name = peer_name(socket_, port);
  address_ = name.find(':') == std::string::npos ? name : "[" + name + "]";
  if (port != 0) address_ += ":" + std::to_string(port);
  peer_ = &hub_.peers[name];
  peer_->name = std::move(name);
  ++peer_->connections;
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
    become_idle();
    // Whoever connects means to ask; only between requests there is time.
    set_deadline(std::min(between_requests(), hub_.options.head_deadline));
    read();
  });
}

void Connection::start_on_reserve() {
  on_reserve_ = true;
  start();
}

bool Connection::give_way() {
  error_code ignored;
  const bool silent = state_ == State::reading && held_.empty() && passed_over_ == 0 &&
                      (!parser_ || !parser_->started());
  if (!silent && state_ != State::lingering) return false;
  if (socket_.available(ignored) > 0) return false;
  close();
  return true;
}

void Connection::revoke() {
  if (state_ == State::asking && claiming_) {
    revoked_ = true;
    guard([this] { withdraw_claim(); });
  } else if (state_ == State::reading && head_seen_) {
    guard([this] { respond(token_replaced()); });
  }
}

void Connection::become_idle() {
  no_longer_idle();
  idle_ = hub_.idle.insert(hub_.idle.end(), this);
}

void Connection::no_longer_idle() {
  if (idle_) hub_.idle.erase(*std::exchange(idle_, std::nullopt));
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
  no_longer_idle();
  hold_answer(0);
  if (--peer_->connections == 0) hub_.peers.erase(std::string(peer_->name));
  peer_ = nullptr;
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
  if (in_body || (state_ == State::reading && parser_ && parser_->started())) acknowledge();
  read_outstanding_ = true;
  socket_.async_read_some(asio::buffer(chunk_.data(), chunk_.size()),
                          [self = shared_from_this()](const error_code& error, std::size_t size) {
                            self->guard([&] { self->on_read(error, size); });
                          });
}

// A client that sends a request in pieces, with Nagle's algorithm on, waits for this before its
// next piece, and the kernel would keep it back for 40 ms. It forgets that it was told.
void Connection::acknowledge() {
  const int now = 1;
  // A unix socket has no such thing.
  static_cast<void>(
      ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_QUICKACK, &now, sizeof now));
}

void Connection::on_read(const error_code& error, std::size_t size) {
  read_outstanding_ = false;
  if (state_ == State::closed) return;
  if (error) {
    if (state_ != State::asking) return on_end();
    hub_.turns.run(socket_.get_executor(),
                   [self = shared_from_this()] { self->guard([&self] { self->on_end(); }); });
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
  const std::size_t passed_over = pass_over_empty_lines(bytes);
  return passed_over + parse(bytes.substr(passed_over));
}

// Some clients end a body with a line's end that its length does not count (RFC 9112, 2.2).
std::size_t Connection::pass_over_empty_lines(std::string_view bytes) {
  if (parser_ && parser_->started()) return 0;
  constexpr std::string_view kLine = "\r\n";
  std::size_t passed_over = 0;
  while (passed_over < bytes.size() && passed_over_ < kMaxPassedOver &&
         bytes[passed_over] == kLine[passed_over_ % kLine.size()]) {
    ++passed_over;
    ++passed_over_;
  }
  return passed_over;
}

std::size_t Connection::parse(std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (passed_over_ % 2 != 0) {
    on_fault(net::HttpFault::malformed, "a line before it does not end");
    return 0;
  }
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
  if (head_seen_) hold_request(memory_of(parser_->message().body));
  if (parser_->done()) {
    dispatch();
    return used;
  }
  if (auto busy = head_seen_ ? refuse_body() : std::nullopt) {
    busy->close = true;
    respond(*std::move(busy));
  } else if (bytes.size() - used > hub_.options.max_head_bytes) {
    on_fault(net::HttpFault::malformed, "a line of the body's framing is too long");
  }
  return used;
}

// Looked at with what is still to come, so that a body is refused before it is sent. Of one that
// comes in chunks nobody knows.
std::optional<Response> Connection::refuse_body() {
  auto refused = too_many_requests_held();
  if (!refused) return std::nullopt;
  const std::uint64_t body = parser_->content_length().value_or(parser_->message().body.size());
  if (body <= kSmallBody) return std::nullopt;
  if (settling_ && hub_.settling_bytes - settling_bytes_ + body <= kSettleReserve) {
    return std::nullopt;
  }
  return refused;
}

void Connection::on_head() {
  head_seen_ = true;
  began_ = Clock::now();
  const net::HttpMessage& message = parser_->message();
  const auto id = request_id_of(message);
  request_id_ = id ? std::string(*id) : hub_.make_request_id();
  keep_alive_ = parser_->keep_alive() && !on_reserve_;
  no_longer_idle();
  if (auto refused = check_head()) {
    refused->close = true;
    respond(std::move(*refused));
    return;
  }
  if (parser_->done()) return;
  set_deadline(hub_.options.body_deadline);
  // HTTP/1.0 knows no answer before the answer (RFC 9110, 10.1.1).
  if (message.find("Expect") == nullptr || message.version < 11 || refuse_body()) return;
  // Should the socket not take it now, the client sends its body without, after a second or so.
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  error_code ignored;
  socket_.write_some(asio::buffer(kContinue), ignored);
}

// Why nothing more of the request is read.
std::optional<Response> Connection::check_head() {
  const net::HttpMessage& message = parser_->message();
  if (auto refused = check_sender(message, hub_.options.hosts)) return refused;
  if (auto refused = check_token(message, hub_.options.token)) return refused;
  let_in_ = true;
  const std::string* expect = message.find("Expect");
  if (expect != nullptr && !base::equals_ignoring_case(*expect, "100-continue")) {
    return problem(417, ErrorCode::invalid_argument,
                   "the field Expect " + base::quoted(*expect) +
                       " is not 100-continue, which is all that may be expected");
  }
  settling_ = settles(message);
  if (!on_reserve_ || settling_ || is_probe(message)) return std::nullopt;
  return problem(503, ErrorCode::unavailable,
                 "there are " + std::to_string(hub_.options.max_connections) +
                     " connections already, which is the limit; try again");
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
                         over_limit("request's head", hub_.options.max_head_bytes));
      break;
    case net::HttpFault::body_too_large: {
      // Of one that comes in chunks nobody knows.
      const std::string* length = parser_->message().find("Content-Length");
      const std::string body = length != nullptr ? "body of " + *length + " bytes" : "body";
      response = problem(413, ErrorCode::too_large, over_limit(body, hub_.options.max_body_bytes));
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
  hub_.meter.held(hub_.held_requests, hub_.held_answers);
  Routed routed = route(hub_.service, parser_->message(), route_, address_);
  if (auto* response = std::get_if<Response>(&routed)) {
    respond(std::move(*response));
  } else {
    admit(std::get<Submission>(std::move(routed)));
  }
}

void Connection::note(const Response& response) {
  if (!hub_.options.on_request) return;
  RequestNote note;
  note.reason = response.reason;
  // Whoever is not let in can have nothing written as often as he likes; nor is each failure of a
  // store that fails at everything worth a line.
  if (!let_in_ || !response.reason.empty()) {
    const auto left_out = hub_.notes[{let_in_, response.status}].turn(Clock::now());
    if (!left_out && !let_in_) return;
    if (!left_out) note.reason = {};
    note.left_out = left_out.value_or(0);
  }
  note.id = request_id_;
  if (parser_) note.method = parser_->message().method;
  note.route = route_;
  note.status = response.status;
  if (head_seen_) {
    note.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began_);
  }
  hub_.options.on_request(note);
}

void Connection::respond(Response response) {
  state_ = State::writing;
  no_longer_idle();
  note(response);
  hub_.meter.answered(std::exchange(route_, kNoRoute), response.status);
  keep_alive_ = keep_alive_ && !response.close && !hub_.draining;
  head_ = head_of(response, request_id_, keep_alive_);
  // What follows the head of an answer to HEAD would be taken for the next answer.
  const bool head_only = parser_ && parser_->message().method == "HEAD";
  body_ = head_only ? std::string() : std::move(response.body);
  written_ = 0;
  settling_ = false;
  hold_answer(body_.size());
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
  passed_over_ = 0;
  head_seen_ = false;
  let_in_ = false;
  hold_answer(0);
  if (!keep_alive_) {
    linger();
    return;
  }
  state_ = State::reading;
  set_deadline(between_requests());
  become_idle();
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
  become_idle();
  held_ = {};
  count_held();
  error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  lingers_until_ = Clock::now() + hub_.options.body_deadline;
  set_deadline(kLinger, lingers_until_);
  read();
}

void Connection::hold_request(std::uint64_t bytes) {
  request_bytes_ = bytes;
  answer_bytes_ = 0;
  count_held();
}

void Connection::hold_answer(std::uint64_t bytes) {
  request_bytes_ = 0;
  answer_bytes_ = bytes;
  count_held();
}

// With what the client has sent ahead, and the room for what comes next.
void Connection::count_held() {
  if (peer_ == nullptr) return;  // it has been closed
  session::Held now;
  if (state_ != State::closed) {
    const std::size_t chunk = chunk_.capacity() > kSmallChunk ? chunk_.capacity() : 0;
    now = {request_bytes_ + memory_of(held_) + chunk, answer_bytes_};
  }
  hub_.held_requests += now.requests - counted_.requests;
  hub_.held_answers += now.answers - counted_.answers;
  peer_->held.requests += now.requests - counted_.requests;
  peer_->held.answers += now.answers - counted_.answers;
  counted_ = now;
  const std::uint64_t settling = settling_ ? now.requests : 0;
  hub_.settling_bytes += settling;
  hub_.settling_bytes -= std::exchange(settling_bytes_, settling);
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
