// Connection: one client's connection over HTTP. It reads requests from the bytes that arrive, and
// writes the answers. Each request belongs to one of its exchanges (exchange.h), by its head: to
// that of a guest of the front if the guest wants it, otherwise to the front's own.
//
// Thread safety and invariants: those of session::Connection. Bytes that a client sends after the
// request in progress (pipelining) are kept, and parsed when that request is done
// (request_reader.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/time.h>

#include "net/http/http_parser.h"
#include "server/http_session/options.h"
#include "server/http_session/request_reader.h"
#include "server/http_session/response.h"
#include "server/session/connection.h"
#include "server/session_parts/held_bytes.h"

namespace tarry::http_session {

class Exchange;
class Front;

class Connection final : public session::Connection {
 public:
  /// The front must outlive the connection.
  Connection(Front& front, listening::Stream stream);
  ~Connection() override;

  void on_reply(session::HeldReply& reply) override;
  void on_refused(const session::Refusal& refusal) override;
  void free_memory() noexcept override;
  [[nodiscard]] std::string_view request_id() const noexcept override { return id_; }
  [[nodiscard]] session::Front& answering() const noexcept override;

 protected:
  void on_bytes(std::string_view bytes) override;
  [[nodiscard]] Incoming incoming() const noexcept override;
  [[nodiscard]] bool is_full() const noexcept override { return reader_.is_full(); }
  [[nodiscard]] std::uint64_t kept() const noexcept override { return reader_.memory(); }
  void on_sent() override;
  [[nodiscard]] Millis first_deadline() const override { return options_.head_deadline; }

 private:
  using Clock = std::chrono::steady_clock;
  friend class Exchange;  // it gives the services below, and those of session::Connection, to
                          // fronts

  // Services for an exchange.

  [[nodiscard]] net::HttpMessage& message() { return reader_.parser().message(); }
  [[nodiscard]] bool has_head() const noexcept { return reader_.has_head(); }
  void set_route(std::string_view route) noexcept { route_ = route; }
  void respond(Response response);

  /// Finds the exchange that the request belongs to.
  void choose_exchange();
  /// Parses the bytes, and returns how many of them belong to the request.
  std::size_t consume(std::string_view bytes);
  void consume_ahead();
  void on_head();
  void on_fault(net::HttpFault fault, std::string_view text);
  /// Why the request's body must not come in; nothing if it may.
  [[nodiscard]] std::optional<session::OverLimit> body_over();
  void respond_and_close(Response response);
  void begin_answer_of(const Response& response);

  Front& http_front_;
  const Options& options_;
  const std::unique_ptr<Exchange> own_;
  std::vector<std::unique_ptr<Exchange>>
      guests_;          // in the order of the front's; null: not used yet
  Exchange* exchange_;  // that of the request; never null
  RequestReader reader_;
  // The request that is being answered:
  std::string id_;
  Clock::time_point began_;  // when the server had read its head
  std::string_view route_;
  bool keep_alive_ = false;
  bool goes_on_ = false;  // the answer is a stream
};

}  // namespace tarry::http_session
