// Connection: one client's connection over HTTP, as far as it is the same in every protocol that
// uses HTTP. It reads requests from the bytes that arrive, and writes the answers. A front derives
// a class that recognises the client, carries requests out and words the answers.
//
// Thread safety and invariants: those of session::Connection. Bytes that a client sends after the
// request in progress (pipelining) are kept, and parsed when that request is done
// (request_reader.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tarry/time.h>

#include "net/http/http_parser.h"
#include "server/http_session/options.h"
#include "server/http_session/request_reader.h"
#include "server/http_session/response.h"
#include "server/session/connection.h"
#include "server/session/held_bytes.h"

namespace tarry::http_session {

class Connection : public session::Connection {
 public:
  /// The options must outlive the connection.
  Connection(session::Front& front, listening::Stream stream, const Options& options)
      : session::Connection(front, std::move(stream)), options_(options) {}

  void on_refused(const session::Refusal& refusal) final;
  void free_memory() noexcept final;
  [[nodiscard]] std::string_view request_id() const noexcept final { return id_; }

 protected:
  using Clock = std::chrono::steady_clock;

  // Implemented by a front for its protocol.

  /// The head has arrived. The front sets the session's identity. If it returns an answer, the rest
  /// of the request is not read.
  [[nodiscard]] virtual std::optional<Response> check_head(const net::HttpMessage& message) = 0;
  [[nodiscard]] virtual session::Urgency urgency_of(const net::HttpMessage& message) const = 0;
  /// The request has arrived in full. The front calls `ask` or `respond`.
  virtual void dispatch() = 0;
  /// The request will not be carried out further: its callbacks can be freed.
  virtual void forget_request() noexcept = 0;
  [[nodiscard]] virtual Response response_of(const session::Refusal& refusal) = 0;
  /// `text`: one line about the fault, for the client.
  [[nodiscard]] virtual Response response_of(net::HttpFault fault, std::string_view text) = 0;
  /// The head of the answer: status line, fields and the empty line.
  [[nodiscard]] virtual std::string head_of(const Response& response, bool keep_alive) = 0;
  /// Called before the answer to a request that `dispatch` has not seen, if there is an audit log.
  virtual void audit_refused() {}
  /// The head of an answer that goes on, or more of it, has been sent. The front calls
  /// `wait_to_send`, or closes.
  virtual void go_on() { close(); }

  // Services for a front.

  [[nodiscard]] net::HttpMessage& message() { return reader_.parser().message(); }
  [[nodiscard]] bool has_head() const noexcept { return reader_.has_head(); }
  /// The name under which the request is counted; it lives as long as the program. Empty: none has
  /// been set.
  void set_route(std::string_view route) noexcept { route_ = route; }
  [[nodiscard]] std::string_view route() const noexcept { return route_; }
  void respond(Response response);

  void on_bytes(std::string_view bytes) final;
  [[nodiscard]] Incoming incoming() const noexcept final;
  [[nodiscard]] bool is_full() const noexcept final { return reader_.is_full(); }
  [[nodiscard]] std::uint64_t kept() const noexcept final { return reader_.memory(); }
  void on_sent() final;
  [[nodiscard]] Millis first_deadline() const final { return options_.head_deadline; }

 private:
  /// Parses the bytes, and returns how many of them belong to the request.
  std::size_t consume(std::string_view bytes);
  void consume_ahead();
  void on_head();
  void on_fault(net::HttpFault fault, std::string_view text);
  /// Why the request's body must not come in; nothing if it may.
  [[nodiscard]] std::optional<session::OverLimit> body_over();
  void respond_and_close(Response response);
  void begin_answer_of(const Response& response);

  const Options& options_;
  RequestReader reader_;
  // The request that is being answered:
  std::string id_;
  Clock::time_point began_;  // when the server had read its head
  std::string_view route_;
  bool keep_alive_ = false;
  bool goes_on_ = false;  // the answer is a stream
};

}  // namespace tarry::http_session
