// Connection: one client's connection, as far as it is the same in every protocol. It reads and
// writes bytes, sends requests to the engine through its session (session.h), makes room for other
// connections, drains, and handles hang-ups. Each front derives a class that interprets the bytes.
//
//     greeting -> reading -> asking -> writing -> reading ...     ask, send, next_request
//                    \-------------------/   \--> lingering       linger
//                                         \<-> streaming           wait_to_send, send_more
//
// Hang-ups are handled here and in the session; a front never sees one. A hang-up is noticed
//  - by the outstanding read: a waiting claim is withdrawn; if no request is in progress, the
//    connection closes;
//  - not by a read while the front is full, because then nothing is read. So a claim must not wait
//    then: the session withdraws it at once, and checks the socket before it hands over the answer;
//  - by a write that fails or makes no progress for `write_deadline`: the connection closes.
// All of these end in `close`, which releases claimed messages that the client has not got.
//
// Thread safety: the server's thread only. A front must make its connections with std::make_shared.
//
// Invariants
//  1. At most one request is in progress. During a request a read is outstanding, unless the front
//     is full or the client has ended its side.
//  2. No exception (mostly for lack of memory) leaves the connection: each event runs under
//     `guard`. If the exception comes before the engine has the request, the request is refused.
//     Otherwise the connection is closed, as if its client had gone.
//  3. However a connection ends, its `close` and that of its session are called.
//  4. An idle connection's read buffer has at most kSmallRead bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/error_code.hpp>

#include <tarry/time.h>

#include "core/request.h"
#include "server/listening/stream.h"
#include "server/session/deadline.h"
#include "server/session/session.h"
#include "server/session_parts/check.h"
#include "server/session_parts/held_reply.h"
#include "server/session_parts/outgoing.h"
#include "server/session_parts/refusal.h"
#include "server/session_parts/request_log.h"

namespace tarry::session {

class Front;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// How the connection was let in. If there were too many already, it is on the reserve: it
  /// answers one request, and only a request that settles, extends, cancels or probes; it refuses
  /// any other.
  enum class Place : std::uint8_t { regular, reserve };

  Connection(Front& front, listening::Stream stream);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  /// Counts the connection for its peer. False: the peer has so many already that this one must be
  /// dropped without an answer.
  [[nodiscard]] bool enter() { return session_.enter(); }
  void start(Place place);
  /// Closes the connection to make room, if no byte of a next request has come or if the current
  /// answer is its last. False: a request has begun to arrive, or the client has claims that would
  /// end with its connection.
  [[nodiscard]] bool give_way();
  /// Call it when the server's tokens have changed. If the client's token is no longer valid, its
  /// waiting claim, or its request that is still arriving, is refused.
  void check_token();
  /// Finishes the request in progress, or one that arrives within a moment, and then closes.
  void drain();
  void close();
  [[nodiscard]] Front& front() const noexcept { return front_; }
  [[nodiscard]] const Session& session() const noexcept { return session_; }
  /// The front under whose name the request in progress is counted and logged.
  [[nodiscard]] virtual Front& answering() const noexcept { return front_; }

  // Called by the session and the deadline, but never after `close`.

  /// The engine's answer has come. Claimed messages belong to the client once `send` has written
  /// the answer in full.
  virtual void on_reply(HeldReply& reply) = 0;
  /// The request is not carried out, or its answer is not given; the front must tell the client. If
  /// `is_reading` is true, a part of the request has not arrived, or the bytes after it are lost.
  virtual void on_refused(const Refusal& refusal) = 0;
  /// The id of the request in progress, for the audit log.
  [[nodiscard]] virtual std::string_view request_id() const noexcept { return {}; }
  /// The front must free what the client has sent, because the memory is needed for receipts.
  virtual void free_memory() noexcept = 0;
  void on_deadline();

  /// Runs an event's step, and cleans up if the step throws.
  template <typename Step>
  void guard(Step step) {
    try {
      step();
    } catch (const std::exception& error) {
      on_exception(error);
    }
  }

 protected:
  /// How much of the unanswered request has arrived.
  enum class Incoming : std::uint8_t { nothing, head, body };

  // Implemented by a front for its protocol.

  /// Takes the next bytes of the stream. If they complete a request, the front keeps the bytes
  /// after it. When the next request may begin, it is called again, without new bytes.
  virtual void on_bytes(std::string_view bytes) = 0;
  [[nodiscard]] virtual Incoming incoming() const noexcept = 0;
  /// Whether the front keeps so many bytes that nothing more may be read until the next request
  /// begins.
  [[nodiscard]] virtual bool is_full() const noexcept = 0;
  /// The memory of the bytes that the front keeps after the request.
  [[nodiscard]] virtual std::uint64_t kept() const noexcept = 0;
  /// The answer has been written in full. The front calls `next_request` or `linger`.
  virtual void on_sent() = 0;
  /// How long a new connection may stay silent.
  [[nodiscard]] virtual Millis first_deadline() const { return between_requests(); }
  /// How long a connection may stay silent between two requests.
  [[nodiscard]] virtual Millis idle_deadline() const;
  /// Whether the client has claims that end with its connection.
  [[nodiscard]] virtual bool has_claims() const noexcept { return false; }
  /// The connection is closed, and calls the front no more. A front whose protocol ends claims with
  /// their connection returns the requests that release these messages.
  [[nodiscard]] virtual std::vector<core::SettleRequest> on_close() noexcept { return {}; }

  // Services for a front.

  [[nodiscard]] Session& session() noexcept { return session_; }
  [[nodiscard]] ServerContext& context() const noexcept;
  [[nodiscard]] listening::Executor executor() { return stream_.get_executor(); }
  [[nodiscard]] bool is_reading() const noexcept { return state_ == State::reading; }
  [[nodiscard]] Millis between_requests() const;
  /// After this time `on_refused` is called with `late`, unless another deadline is set before.
  void set_deadline(Millis from_now) { deadline_.set(from_now); }
  /// Call it when the arriving request has grown: `bytes` is the memory that it takes now.
  void hold_request(std::uint64_t bytes) { session_.held().hold_request(bytes, input()); }

  /// Asks the engine: `on_reply` or `on_refused` follows, or the connection closes.
  void ask(core::Request request, Check check = Check::none);
  /// Asks the engine again, for a request that the engine has answered in part.
  void ask_more(core::Request request, Check check = Check::none);
  /// The front has the answer to the request, and will call `send`. From now on the request cannot
  /// be refused.
  void begin_answer(const RequestNote& note);
  /// The same for answers to several requests, each of which was reported by `Session::answered`.
  void begin_answers();
  /// Writes the answer; `on_sent` follows, or the connection closes.
  void send(std::string head, std::string body);
  /// Writes as much as the socket takes at once, and drops the rest; nothing may depend on it.
  void try_send(std::string_view text);
  void next_request();
  /// The answer goes on: the front will send more of it. Until then only a hang-up, a token that is
  /// no longer valid, and the drain end the connection.
  void wait_to_send();
  /// More of the answer, if the connection `is_streaming`; `on_sent` follows.
  void send_more(std::string text);
  [[nodiscard]] bool is_streaming() const noexcept { return state_ == State::streaming; }
  /// Closes once the client has closed, after `most` at the latest. Bytes that arrive until then
  /// are thrown away: closing with unread bytes would reset the connection, and the client might
  /// never see its answer.
  void linger(Millis most);

 private:
  using Clock = Deadline::Clock;
  // greeting: the stream's handshake is not done. The client has not been heard yet.
  enum class State : std::uint8_t {
    greeting,
    reading,
    asking,
    writing,
    streaming,
    lingering,
    closed
  };

  void shake_hands();
  void on_handshake(listening::Stream::Progress progress);
  void begin();
  void read();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void on_client_ended();
  void throw_away(std::size_t size);
  void write();
  void on_write(const boost::system::error_code& error, std::size_t size);
  void on_written();
  void on_exception(const std::exception& error);
  /// The memory of the read buffer, and of bytes that are not part of a request yet.
  [[nodiscard]] std::uint64_t input() const noexcept;

  Front& front_;
  listening::Stream stream_;
  Session session_;
  Deadline deadline_;
  State state_ = State::greeting;
  bool read_outstanding_ = false;
  std::vector<char> chunk_;  // the buffer for reads
  Outgoing outgoing_;
  std::uint64_t lingered_ = 0;  // bytes thrown away while lingering
  Clock::time_point lingers_until_;
};

}  // namespace tarry::session
