// One client's connection: reads a request, has it routed, asks the engine, writes the reply, and
// so on until either side closes.
//
// Thread safety: lives on the server's thread; the engine's completions come there by post.
//
// Invariants
//  1. At most one request is in progress. What a client sends beyond it (pipelining) is held, up to
//     kMaxPipelined bytes, and read when its turn comes.
//  2. While a claim waits at the engine a read is outstanding, so that a hang-up is seen: the claim
//     is then withdrawn. So is one behind which more is pipelined than is held, or whose client
//     sends no more: the end of either would not be seen.
//  3. Receipts are in `unsent_` from the engine's answer until the reply is written in full; when
//     the connection closes before that, they are released.
//  4. `closed` of the hub is called exactly once.
//  5. It is among the hub's idle from the start, or the end of an answer, until the next head or
//     its end.
//  6. No exception leaves it (memory that there is not, mostly): a request of which the engine has
//     not heard is answered with 503, any other connection is closed, as if its client had gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>

#include "core/engine.h"
#include "net/http_parser.h"
#include "server/http/hub.h"
#include "server/http/response.h"
#include "server/http/routes.h"
#include "server/session/held_reply.h"

namespace tarry::http {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Hub& hub, Socket socket);

  void start();
  /// As `start`, where there are too many: only probes and what settles, extends or cancels are
  /// answered, anything else with 503; then it closes.
  void start_on_reserve();
  /// Closes where nothing of a next request has come, or where nothing is to follow its answer.
  /// False: something has.
  [[nodiscard]] bool give_way();
  /// The token has changed: a claim that waits, or a request that is coming in, ends with 401.
  void revoke();
  /// Finishes the request in progress, or one that comes within a moment, and closes; a waiting
  /// claim is withdrawn and answered with what it has.
  void drain();
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor>;
  enum class State : std::uint8_t { reading, asking, writing, lingering, closed };

  /// What an event calls for, and what is left to do where that throws.
  template <typename Step>
  void guard(Step step) {
    try {
      step();
    } catch (const std::exception& error) {
      on_exception(error);
    }
  }
  void on_exception(const std::exception& error);

  void read();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void on_end();
  /// Parses, and answers how many bytes belong to the request.
  std::size_t consume(std::string_view bytes);
  std::size_t parse(std::string_view bytes);
  [[nodiscard]] std::size_t pass_over_empty_lines(std::string_view bytes);
  void consume_held();
  void on_head();
  void on_fault(net::HttpFault fault, std::string_view text);
  void dispatch();
  [[nodiscard]] std::optional<Response> check_head();
  [[nodiscard]] std::optional<Response> too_many_requests_held() const;
  /// `more`: of our own that is not counted with us yet.
  [[nodiscard]] std::optional<Response> too_many_answers_held(std::uint64_t more = 0) const;
  /// 429 where it may not.
  [[nodiscard]] std::optional<Response> refuse_body();
  void admit(Submission submission);
  void submit(Submission submission);
  void withdraw_claim();
  void on_reply();
  void answer(session::HeldReply reply);
  [[nodiscard]] bool take_receipts(const core::ClaimReply& reply);
  void collect_receipts(const core::ClaimReply& reply);
  void release_unsent();
  [[nodiscard]] bool has_hung_up();
  void acknowledge();
  void become_idle();
  void no_longer_idle();

  void respond(Response response);
  void note(const Response& response);
  void write();
  void on_write(const boost::system::error_code& error, std::size_t size);
  void on_written();
  void linger();

  /// Of the request, or of its answer, in place of what was said before.
  void hold_request(std::uint64_t bytes);
  void hold_answer(std::uint64_t bytes);
  void count_held();
  [[nodiscard]] Millis between_requests() const;
  void set_deadline(Millis from_now, Clock::time_point latest = Clock::time_point::max());
  void clear_deadline() { deadline_ = Clock::time_point::max(); }
  void arm();
  void on_timer();
  void expire();

  Hub& hub_;
  Socket socket_;
  Timer timer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point armed_ = Clock::time_point::max();  // max: no wait is outstanding

  State state_ = State::reading;
  bool read_outstanding_ = false;
  bool peer_ended_ = false;  // it sends no more; perhaps it still reads
  bool head_seen_ = false;
  bool keep_alive_ = false;

  std::vector<char> chunk_;  // where reads go
  std::string held_;         // read, and not parsed yet
  std::optional<net::HttpParser> parser_;
  std::size_t passed_over_ = 0;  // bytes of empty lines before the request
  std::uint64_t request_bytes_ = 0;
  std::uint64_t answer_bytes_ = 0;
  session::Held counted_;  // our part of the hub's
  std::uint64_t settling_bytes_ = 0;
  std::string address_;                                   // of the client, with its port
  session::Peer* peer_ = nullptr;                         // until it is closed
  std::optional<std::list<Connection*>::iterator> idle_;  // its place there
  bool on_reserve_ = false;
  bool let_in_ = false;   // its request has the token
  bool revoked_ = false;  // which is none any more

  std::string request_id_;
  Clock::time_point began_;            // when its head had been read
  std::string_view route_ = kNoRoute;  // of the request that is being answered
  bool settling_ = false;
  bool claiming_ = false;
  core::Ticket ticket_ = 0;
  MakeResponse answer_;
  decltype(Submission::then) then_;
  std::optional<session::HeldReply> reply_;  // put there by the engine's thread, before its post
  bool reading_ = false;                     // the answer is as much as the store has
  Check check_ = Check::none;
  core::SettleRequest unsent_;

  std::string head_;
  std::string body_;
  std::size_t written_ = 0;
  std::uint64_t lingered_ = 0;  // bytes
  Clock::time_point lingers_until_;
};

}  // namespace tarry::http
