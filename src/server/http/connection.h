// One client's connection over HTTP: reads a request, has it routed, has its session ask the
// engine, writes the answer, and so on until either side closes.
//
// Thread safety: lives on the server's thread.
//
// Invariants, besides those of session::Connection
//  1. At most one request is in progress. What a client sends beyond it is kept, and read when its
//     turn comes (request_reader.h).
//  2. While a claim waits at the engine a read is outstanding, so that a hang-up is seen. Where
//  more
//     is pipelined than is kept nothing is read, and the claim's wait is ended.
//  3. A request of which the engine has not heard is answered with 503 where there is no memory for
//     it; any other connection is closed then, as if its client had gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_parser.h"
#include "server/http/front.h"
#include "server/http/outgoing.h"
#include "server/http/request_reader.h"
#include "server/http/response.h"
#include "server/http/routes.h"
#include "server/session/connection.h"
#include "server/session/deadline.h"
#include "server/session/session.h"

namespace tarry::http {

class Connection final : public session::Connection {
 public:
  Connection(Front& front, listening::Socket socket);

  void start(Place place) override;
  [[nodiscard]] bool give_way() override;
  void revoke() override;
  void drain() override;
  void close() override;

  void on_reply(session::HeldReply& reply) override;
  void on_refused(const session::Refusal& refusal) override;
  void free_memory() noexcept override;
  void on_deadline() override;

 protected:
  void on_exception(const std::exception& error) override;

 private:
  using Clock = session::Deadline::Clock;
  static constexpr Millis kLinger{1'000};  // without anything more to throw away
  enum class State : std::uint8_t { reading, asking, writing, lingering, closed };

  /// The request that is being answered.
  struct InProgress {
    std::string id;
    Clock::time_point began;            // when its head had been read
    std::string_view route = kNoRoute;  // that took it
    bool let_in = false;                // it has the token
    MakeResponse answer;
    decltype(Submission::then) then;
    Check check = Check::none;
  };

  void read();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void on_end();
  /// Parses, and answers how many bytes belong to the request.
  std::size_t consume(std::string_view bytes);
  void consume_ahead();
  void on_head();
  void on_fault(net::HttpFault fault, std::string_view text);
  [[nodiscard]] std::optional<Response> check_head();
  /// 429 where its body may not come in.
  [[nodiscard]] std::optional<Response> refuse_body();
  void dispatch();
  void submit(Submission submission);

  void respond(Response response);
  void respond_and_close(Response response);
  void note(const Response& response);
  void write();
  void on_write(const boost::system::error_code& error, std::size_t size);
  void on_written();
  void linger();

  void hold_answer(std::uint64_t bytes);
  [[nodiscard]] Millis between_requests() const;
  [[nodiscard]] session::ServerContext& context() const noexcept { return front_.context(); }

  Front& front_;
  listening::Socket socket_;
  session::Session session_;
  session::Deadline deadline_;

  State state_ = State::reading;
  bool on_reserve_ = false;
  bool read_outstanding_ = false;
  bool keep_alive_ = false;

  RequestReader reader_;
  InProgress request_;
  Outgoing outgoing_;
  std::uint64_t lingered_ = 0;  // bytes
  Clock::time_point lingers_until_;
};

}  // namespace tarry::http
