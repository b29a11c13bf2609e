// tarry's /v1 on one client's connection: recognises the client, routes its requests, asks the
// engine, and words the answers.
//
// Thread safety and invariants: those of http_session::Exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/http_parser.h"
#include "server/console/stats_feed.h"
#include "server/http/front.h"
#include "server/http/handlers/response.h"
#include "server/http/handlers/routes.h"
#include "server/http_session/exchange.h"

namespace tarry::http {

/// What a client of the console's events looks at.
struct Looking {
  std::unique_ptr<console::StatsFeed::Seat> seat;
  std::string session;     // the id from its cookie; empty if it has none
  std::uint64_t seen = 0;  // for StatsFeed::changes
  bool has_news = false;   // there are new figures, which are not sent yet
};

class Exchange final : public http_session::Exchange {
 public:
  Exchange(Front& front, http_session::Connection& connection) noexcept
      : http_session::Exchange(front, connection), front_(front) {}

  void on_reply(session::HeldReply& reply) override;

  [[nodiscard]] std::optional<Response> check_head(const net::HttpMessage& message) override;
  [[nodiscard]] session::Urgency urgency_of(const net::HttpMessage& message) const override;
  void dispatch() override;
  void forget_request() noexcept override;
  [[nodiscard]] Response response_of(const session::Refusal& refusal) override;
  [[nodiscard]] Response response_of(net::HttpFault fault, std::string_view text) override;
  [[nodiscard]] std::string head_of(const Response& response, bool keep_alive) override;
  void audit_refused() override;
  void go_on() override;

 private:
  [[nodiscard]] core::Request begin(Submission submission);
  /// The refusal; or a 429, if it is a 401 and the client's peer had too many of them.
  [[nodiscard]] Response slowed_down(Response refused);

  // The console's events, which go on until the connection ends.
  void send_figures();
  [[nodiscard]] std::string event();

  Front& front_;
  // The request at the engine:
  MakeResponse answer_;
  decltype(Submission::then) then_;
  Check check_ = Check::none;

  std::optional<Looking> looking_;
};

}  // namespace tarry::http
