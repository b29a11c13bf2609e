// One client's connection to tarry's /v1: recognises the client, routes its requests, asks the
// engine, and words the answers.
//
// Thread safety and invariants: those of http_session::Connection, which reads and writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/http_parser.h"
#include "server/http/front.h"
#include "server/http/response.h"
#include "server/http/routes.h"
#include "server/http_session/connection.h"

namespace tarry::http {

class Connection final : public http_session::Connection {
 public:
  Connection(Front& front, listening::Stream stream)
      : http_session::Connection(front, std::move(stream), front.options()), front_(front) {}

  void on_reply(session::HeldReply& reply) override;

 protected:
  [[nodiscard]] std::optional<Response> check_head(const net::HttpMessage& message) override;
  [[nodiscard]] session::Urgency urgency_of(const net::HttpMessage& message) const override;
  void dispatch() override;
  void forget_request() noexcept override;
  [[nodiscard]] Response response_of(const session::Refusal& refusal) override;
  [[nodiscard]] Response response_of(net::HttpFault fault, std::string_view text) override;
  [[nodiscard]] std::string head_of(const Response& response, bool keep_alive) override;
  void audit_refused() override;

 private:
  [[nodiscard]] core::Request begin(Submission submission);

  Front& front_;
  // The request at the engine:
  MakeResponse answer_;
  decltype(Submission::then) then_;
  Check check_ = Check::none;
};

}  // namespace tarry::http
