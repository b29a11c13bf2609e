// One client's connection over HTTP: reads requests from the bytes that arrive, routes them, asks
// the engine, and writes the answers.
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

#include "net/http/http_parser.h"
#include "server/http/front.h"
#include "server/http/request_reader.h"
#include "server/http/response.h"
#include "server/http/routes.h"
#include "server/session/connection.h"
#include "server/session/held_bytes.h"

namespace tarry::http {

class Connection final : public session::Connection {
 public:
  Connection(Front& front, listening::Stream stream);

  void on_reply(session::HeldReply& reply) override;
  void on_refused(const session::Refusal& refusal) override;
  void free_memory() noexcept override;
  [[nodiscard]] std::string_view request_id() const noexcept override { return request_.id; }

 protected:
  void on_bytes(std::string_view bytes) override;
  [[nodiscard]] Incoming incoming() const noexcept override;
  [[nodiscard]] bool is_full() const noexcept override { return reader_.is_full(); }
  [[nodiscard]] std::uint64_t kept() const noexcept override { return reader_.memory(); }
  void on_sent() override;
  [[nodiscard]] Millis first_deadline() const override { return front_.options().head_deadline; }

 private:
  using Clock = std::chrono::steady_clock;

  /// The request that is being answered.
  struct InProgress {
    std::string id;
    Clock::time_point began;            // when the server had read its head
    std::string_view route = kNoRoute;  // the route that took the request
    MakeResponse answer;
    decltype(Submission::then) then;
    Check check = Check::none;
  };

  /// Parses the bytes, and returns how many of them belong to the request.
  std::size_t consume(std::string_view bytes);
  void consume_ahead();
  void on_head();
  void on_fault(net::HttpFault fault, std::string_view text);
  [[nodiscard]] std::optional<Response> check_head();
  /// Why the request's body must not come in; nothing if it may.
  [[nodiscard]] std::optional<session::OverLimit> body_over();
  void dispatch();
  [[nodiscard]] core::Request begin(Submission submission);

  [[nodiscard]] Response response_of(const session::Refusal& refusal);
  void respond(Response response);
  void respond_and_close(Response response);
  void begin_answer_of(const Response& response);

  Front& front_;
  RequestReader reader_;
  InProgress request_;
  bool keep_alive_ = false;
};

}  // namespace tarry::http
