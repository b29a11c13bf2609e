// The part of a connection that reads. The part that answers is in connection_answers.cpp.
#include "server/http/connection.h"

#include <string>
#include <utility>
#include <variant>

#include "base/ascii.h"
#include "base/text.h"
#include "server/http/sender_check.h"

namespace tarry::http {
namespace {

// A smaller body usually arrives with its head, and is in memory anyway.
constexpr std::size_t kSmallBody = 4 * 1024;

session::Urgency urgency_of(const net::HttpMessage& message) {
  using session::Urgency;
  if (leaves_less_work(message)) return Urgency::settles;
  return is_probe(message) ? Urgency::probe : Urgency::ordinary;
}

}  // namespace

Connection::Connection(Front& front, listening::Stream stream)
    : session::Connection(front, std::move(stream)), front_(front) {}

Connection::Incoming Connection::incoming() const noexcept {
  if (!reader_.has_begun()) return Incoming::nothing;
  return reader_.has_head() ? Incoming::body : Incoming::head;
}

void Connection::free_memory() noexcept {
  request_.answer = nullptr;
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
    if (!is_reading()) return step.used;
  } else if (step.began) {
    set_deadline(options.head_deadline);
  }
  net::HttpParser& parser = reader_.parser();
  if (reader_.has_head()) hold_request(session::memory_of(parser.message().body));
  if (parser.done()) {
    dispatch();
    return step.used;
  }
  if (const auto over = reader_.has_head() ? body_over() : std::nullopt) {
    session().note_refusal(*over);
    respond_and_close(too_much_held(*over));
  } else if (bytes.size() - step.used > options.max_head_bytes) {
    on_fault(net::HttpFault::malformed, "a line between the body's chunks is over " +
                                            std::to_string(options.max_head_bytes) + " bytes");
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
  request_.began = Clock::now();
  net::HttpParser& parser = reader_.parser();
  const net::HttpMessage& message = parser.message();
  const auto id = request_id_of(message);
  request_.id = id ? std::string(*id) : context().make_request_id();
  if (auto refused = check_head()) {
    respond_and_close(*std::move(refused));
    return;
  }
  const auto refusal = session().begin(urgency_of(message));
  keep_alive_ = parser.keep_alive() && !session().is_on_reserve();
  if (refusal) {
    Response response = response_of(*refusal);
    response.close = !parser.done();  // the rest of the body would be taken for the next request
    respond(std::move(response));
    return;
  }
  if (parser.done()) return;
  set_deadline(front_.options().body_deadline);
  // A client of HTTP/1.0 does not understand an interim answer (RFC 9110, 10.1.1).
  if (message.find("Expect") == nullptr || message.version < 11 || body_over()) return;
  // If the socket cannot take the 100 now, it is not sent again: the client sends its body without
  // it, after a second or so.
  try_send("HTTP/1.1 100 Continue\r\n\r\n");
}

// Returns the answer if the rest of the request is not read.
std::optional<Response> Connection::check_head() {
  const net::HttpMessage& message = reader_.parser().message();
  if (auto refused = check_sender(
          message, {front_.options().hosts, session().local_host(), session().is_encrypted()})) {
    return refused;
  }
  auto who = recognise(message, context().options.tokens, context().options.token_clock());
  if (auto* refused = std::get_if<Response>(&who)) {
    const bool slow_down = context().token_failures.too_many(session().peer(), Clock::now());
    return slow_down ? too_many_failures() : std::move(*refused);
  }
  session().set_identity(std::get<identity::IdentityPtr>(std::move(who)));
  const std::string* expect = message.find("Expect");
  if (expect != nullptr && !base::equals_ignoring_case(*expect, "100-continue")) {
    return problem(417, ErrorCode::invalid_argument,
                   "the field Expect " + base::quoted(*expect) +
                       " is not 100-continue, which is all that may be expected");
  }
  return std::nullopt;
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
      // A chunked body has no Content-Length, so its size is not shown.
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

}  // namespace tarry::http
