#include "server/http_session/connection.h"

#include <chrono>
#include <string>
#include <utility>

#include "server/http_session/exchange.h"
#include "server/http_session/front.h"
#include "server/http_session/hosts.h"
#include "server/session/server_context.h"

namespace tarry::http_session {
namespace {

// A smaller body usually arrives with its head, and is in memory anyway.
constexpr std::size_t kSmallBody = 4 * 1024;

}  // namespace

Connection::Connection(Front& front, listening::Stream stream)
    : session::Connection(front, std::move(stream)),
      http_front_(front),
      options_(front.http_options()),
      own_(front.make_exchange(*this)),
      guests_(front.guests().size()),
      exchange_(own_.get()) {}

Connection::~Connection() = default;

session::Front& Connection::answering() const noexcept { return exchange_->http_front(); }

void Connection::choose_exchange() {
  const auto& guests = http_front_.guests();
  for (std::size_t i = 0; i < guests.size(); ++i) {
    if (!guests[i]->wants(message())) continue;
    if (guests_[i] == nullptr) guests_[i] = guests[i]->make_exchange(*this);
    exchange_ = guests_[i].get();
    return;
  }
}

void Connection::on_reply(session::HeldReply& reply) { exchange_->on_reply(reply); }

Connection::Incoming Connection::incoming() const noexcept {
  if (!reader_.has_begun()) return Incoming::nothing;
  return reader_.has_head() ? Incoming::body : Incoming::head;
}

void Connection::free_memory() noexcept {
  exchange_->forget_request();
  reader_.next();
  reader_.forget_ahead();
}

void Connection::on_bytes(std::string_view bytes) {
  if (is_reading() && reader_.ahead().empty()) {
    const std::size_t used = consume(bytes);
    reader_.keep_ahead(bytes.substr(used));
    return;
  }
  reader_.keep_ahead(bytes);
  if (is_reading()) consume_ahead();
}

void Connection::consume_ahead() {
  const std::size_t used = consume(reader_.ahead());
  reader_.drop_ahead(used);
}

std::size_t Connection::consume(std::string_view bytes) {
  const RequestReader::Step step =
      reader_.feed(bytes, {options_.max_head_bytes, context().options.max_body_bytes});
  if (step.fault) {
    on_fault(*step.fault, step.fault_text);
    return step.used;
  }
  if (!reader_.has_begun()) return step.used;
  if (step.head_ended) {
    on_head();
    if (!is_reading()) return step.used;
  } else if (step.began) {
    set_deadline(options_.head_deadline);
  }
  net::HttpParser& parser = reader_.parser();
  if (reader_.has_head()) hold_request(session::memory_of(parser.message().body));
  if (parser.done()) {
    exchange_->dispatch();
    return step.used;
  }
  if (const auto over = reader_.has_head() ? body_over() : std::nullopt) {
    session().note_refusal(*over);
    respond_and_close(exchange_->response_of({session::Refusal::Why::too_much_held, *over}));
  } else if (bytes.size() - step.used > options_.max_head_bytes) {
    on_fault(net::HttpFault::malformed, "a line between the body's chunks is over " +
                                            std::to_string(options_.max_head_bytes) + " bytes");
  }
  return step.used;
}

// Compares the announced length, so that a body is refused before it is sent. For a chunked body,
// whose length is not announced, it compares the bytes that have arrived.
std::optional<session::OverLimit> Connection::body_over() {
  auto over = session().held().requests_over();
  if (!over) return over;
  net::HttpParser& parser = reader_.parser();
  const std::uint64_t body = parser.content_length().value_or(parser.message().body.size());
  if (body <= kSmallBody || session().held().may_settle(body)) return std::nullopt;
  return over;
}

void Connection::on_head() {
  began_ = Clock::now();
  net::HttpParser& parser = reader_.parser();
  const net::HttpMessage& message = parser.message();
  const auto id = request_id_of(message);
  id_ = id ? std::string(*id) : context().make_request_id();
  choose_exchange();
  if (auto refused = exchange_->check_head(message)) {
    respond_and_close(*std::move(refused));
    return;
  }
  const auto refusal = session().begin(exchange_->urgency_of(message));
  keep_alive_ = parser.keep_alive() && !session().is_on_reserve();
  if (refusal) {
    Response response = exchange_->response_of(*refusal);
    response.close = !parser.done();  // the rest of the body would be taken for the next request
    respond(std::move(response));
    return;
  }
  if (parser.done()) return;
  set_deadline(options_.body_deadline);
  // A client of HTTP/1.0 does not understand an interim answer (RFC 9110, 10.1.1).
  if (message.find("Expect") == nullptr || message.version < 11 || body_over()) return;
  // If the socket cannot take the 100 now, it is not sent again: the client sends its body without
  // it, after a second or so.
  try_send("HTTP/1.1 100 Continue\r\n\r\n");
}

void Connection::on_fault(net::HttpFault fault, std::string_view text) {
  if (!reader_.has_head()) id_ = context().make_request_id();
  std::string told(text);
  if (fault == net::HttpFault::malformed) told = "the request is not well-formed HTTP: " + told;
  if (fault == net::HttpFault::head_too_large) {
    told = "the request's head is over the limit of " + std::to_string(options_.max_head_bytes) +
           " bytes";
  }
  if (fault == net::HttpFault::body_too_large) {
    // A chunked body has no Content-Length, so its size is not shown.
    const std::string* length = reader_.parser().message().find("Content-Length");
    told = "the body" + (length != nullptr ? " of " + *length + " bytes" : std::string()) +
           " is over the limit of " + std::to_string(context().options.max_body_bytes) + " bytes";
  }
  respond_and_close(exchange_->response_of(fault, told));
}

void Connection::on_refused(const session::Refusal& refusal) {
  exchange_->forget_request();
  Response response = exchange_->response_of(refusal);
  if (is_reading()) {
    if (refusal.why == session::Refusal::Why::no_memory) reader_.forget_bytes();
    if (!reader_.has_head()) id_ = context().make_request_id();
    response.close = true;
  }
  respond(std::move(response));
}

void Connection::begin_answer_of(const Response& response) {
  session::RequestNote note;
  note.id = id_;
  if (reader_.has_begun()) note.method = reader_.parser().message().method;
  const std::string_view route = std::exchange(route_, {});
  note.route = route.empty() ? kNoRoute : route;
  note.status = response.status;
  note.reason = response.reason;
  note.token_refused = response.token_refused;
  note.code = response.code;
  note.detail = response.detail;
  if (reader_.has_head()) {
    // A request that was refused before it was dispatched may be an act too.
    if (note.route == kNoRoute && session().is_audited()) exchange_->audit_refused();
    note.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began_);
  }
  begin_answer(note);
}

void Connection::respond_and_close(Response response) {
  response.close = true;
  respond(std::move(response));
}

void Connection::respond(Response response) {
  begin_answer_of(response);
  keep_alive_ = keep_alive_ && !response.close && !response.goes_on && !context().draining;
  std::string head = exchange_->head_of(response, keep_alive_);
  // A body after the head of an answer to HEAD would be taken for the next answer.
  const bool head_only = reader_.has_begun() && reader_.parser().message().method == "HEAD";
  goes_on_ = response.goes_on && !head_only;
  send(std::move(head), head_only ? std::string() : std::move(response.body));
}

void Connection::on_sent() {
  if (goes_on_) {
    exchange_->go_on();
    return;
  }
  reader_.next();
  exchange_ = own_.get();
  session().set_identity(nullptr);
  if (keep_alive_) {
    next_request();
    return;
  }
  reader_.forget_ahead();
  linger(options_.body_deadline);
}

}  // namespace tarry::http_session
