// Exchange: one protocol on one client's connection over HTTP. It recognises the client, carries
// its requests out and words the answers, one request at a time; the connection reads requests and
// writes answers. A connection has an exchange for each protocol that its front speaks.
//
// Thread safety: the server's thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/request.h"
#include "net/http/http_parser.h"
#include "server/http_session/connection.h"
#include "server/http_session/response.h"
#include "server/session/session.h"
#include "server/session_parts/held_reply.h"
#include "server/session_parts/refusal.h"

namespace tarry::http_session {

class Front;

class Exchange {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both must outlive the exchange.
  Exchange(Front& front, Connection& connection) noexcept
      : http_front_(front), connection_(connection) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// The front whose protocol this is.
  [[nodiscard]] Front& http_front() const noexcept { return http_front_; }

  // Implemented by a front for its protocol.

  /// The engine's answer has come.
  virtual void on_reply(session::HeldReply& reply) = 0;
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

 protected:
  // Services for a front: those of the connection.

  [[nodiscard]] session::Session& session() noexcept { return connection_.session(); }
  [[nodiscard]] session::ServerContext& context() const noexcept { return connection_.context(); }
  [[nodiscard]] listening::Executor executor() { return connection_.executor(); }
  [[nodiscard]] net::HttpMessage& message() { return connection_.message(); }
  [[nodiscard]] bool has_head() const noexcept { return connection_.has_head(); }
  [[nodiscard]] std::string_view request_id() const noexcept { return connection_.request_id(); }
  /// The name under which the request is counted; it lives as long as the program. Empty: none has
  /// been set.
  void set_route(std::string_view route) noexcept { connection_.set_route(route); }
  void respond(Response response) { connection_.respond(std::move(response)); }
  void ask(core::Request request, session::Check check = session::Check::none) {
    connection_.ask(std::move(request), check);
  }
  void ask_more(core::Request request, session::Check check = session::Check::none) {
    connection_.ask_more(std::move(request), check);
  }
  void wait_to_send() { connection_.wait_to_send(); }
  [[nodiscard]] bool is_streaming() const noexcept { return connection_.is_streaming(); }
  void send_more(std::string text) { connection_.send_more(std::move(text)); }
  void close() { connection_.close(); }
  template <typename Step>
  void guard(Step step) {
    connection_.guard(std::move(step));
  }

 private:
  Front& http_front_;
  Connection& connection_;
};

}  // namespace tarry::http_session
