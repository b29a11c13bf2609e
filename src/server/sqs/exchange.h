// SQS on one client's connection: recognises the client, runs the operation step by step, and words
// the answers.
//
// Thread safety and invariants: those of http_session::Exchange.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/http_parser.h"
#include "server/http_session/exchange.h"
#include "server/sqs/front.h"
#include "server/sqs/operations/operations.h"
#include "server/sqs/protocol/protocol.h"
#include "server/sqs/protocol/signature.h"

namespace tarry::sqs {

class Exchange final : public http_session::Exchange {
 public:
  Exchange(Front& front, http_session::Connection& connection) noexcept
      : http_session::Exchange(front, connection), front_(front) {}

  void on_reply(session::HeldReply& reply) override;

  [[nodiscard]] std::optional<http_session::Response> check_head(
      const net::HttpMessage& message) override;
  [[nodiscard]] session::Urgency urgency_of(const net::HttpMessage& message) const override;
  void dispatch() override;
  void forget_request() noexcept override { then_ = nullptr; }
  [[nodiscard]] http_session::Response response_of(const session::Refusal& refusal) override;
  [[nodiscard]] http_session::Response response_of(net::HttpFault fault,
                                                   std::string_view text) override;
  [[nodiscard]] std::string head_of(const http_session::Response& response,
                                    bool keep_alive) override;

 private:
  void go(Step step, bool is_first);
  void refuse(const Fault& fault);
  /// Checks the signature of the whole request, and sets the identity. An answer: it is refused.
  [[nodiscard]] std::optional<http_session::Response> recognise();
  [[nodiscard]] http_session::Response not_recognised(const Fault& fault);
  [[nodiscard]] http_session::Response answer(const Fault& fault);

  Front& front_;
  // The request that is being answered:
  Protocol protocol_ = Protocol::json;
  std::optional<Signature> signature_;
  const Operation* operation_ = nullptr;
  std::string queue_;  // for the audit log
  std::string fault_code_;
  Then then_;
};

}  // namespace tarry::sqs
