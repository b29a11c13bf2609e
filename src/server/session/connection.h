// Connection: one client's connection, the part that is the same in every protocol. It reads and
// writes bytes, sends requests to the engine through its session (session.h), makes room for
// others, drains, and handles hang-ups. Each front derives its own class, which interprets the
// bytes.
//
//     reading -> asking -> writing -> reading ...     ask, send, next_request
//        \-------------------/   \--> lingering       linger
//
// Hang-ups are handled here and in the session. A front never sees one. It is noticed
//  - by the read that is outstanding: a waiting claim is withdrawn; with no request in progress the
//    connection closes;
//  - not at all while the front is full, because nothing is read then. So a claim does not wait:
//    the session withdraws it at once, and checks the socket before it hands over the answer;
//  - by a write that fails or makes no progress for `write_deadline`: the connection closes.
// All of them end in `close`, which releases claimed messages that the client was not handed.
//
// Thread safety: the server's thread only. Its front makes it with std::make_shared.
//
// Invariants
//  1. At most one request is in progress. While there is one, a read is outstanding, unless the
//     front is full or the client has ended.
//  2. No exception leaves it (mostly from a lack of memory): each event runs under `guard`. If the
//     engine has not got the request yet, it is refused then. Any other connection is closed, as if
//     its client had gone.
//  3. However it ends, it goes through `close`, and through its session's.
//  4. An idle connection keeps no more than kSmallRead bytes of room.
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
#include "server/listening/socket.h"
#include "server/session/check.h"
#include "server/session/deadline.h"
#include "server/session/held_reply.h"
#include "server/session/outgoing.h"
#include "server/session/refusal.h"
#include "server/session/request_log.h"
#include "server/session/session.h"

namespace tarry::session {

class Front;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// How it is let in. If there are too many already, it is on the reserve: it answers one request,
  /// if that settles, extends, cancels or is a probe, and refuses any other.
  enum class Place : std::uint8_t { regular, reserve };

  Connection(Front& front, listening::Socket socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  void start(Place place);
  /// Closes if no byte of a next request has come, or if its answer is to be the last. False:
  /// something has.
  [[nodiscard]] bool give_way();
  /// The token has changed: a claim that waits, or a request that is coming in, ends refused.
  void revoke();
  /// Finishes the request in progress, or one that arrives within a moment, and closes.
  void drain();
  void close();
  [[nodiscard]] Front& front() const noexcept { return front_; }

  // Called by its session and its deadline, never when it is closed.

  /// The engine's answer. Claimed messages belong to the client once `send` has written an answer
  /// in full.
  virtual void on_reply(HeldReply& reply) = 0;
  /// The request is not carried out, or its answer is not given: the front tells the client so.
  /// While it `is_reading`, bytes of the request are missing, or the bytes after it are lost.
  virtual void on_refused(const Refusal& refusal) = 0;
  /// Nothing that the client sent is of use any more: receipts want the memory.
  virtual void free_memory() noexcept = 0;
  void on_deadline();

  /// Runs an event's step, and the cleanup if it throws.
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

  /// More bytes, after those that were handed over before. The front keeps the bytes beyond the
  /// request that they complete; it is called without bytes when the next request's turn has come.
  virtual void on_bytes(std::string_view bytes) = 0;
  [[nodiscard]] virtual Incoming incoming() const noexcept = 0;
  /// It keeps so much that nothing more may be read until the next request's turn.
  [[nodiscard]] virtual bool is_full() const noexcept = 0;
  /// Memory of the bytes that it keeps beyond the request.
  [[nodiscard]] virtual std::uint64_t kept() const noexcept = 0;
  /// The answer has been written in full: `next_request` or `linger` follows.
  virtual void on_sent() = 0;
  /// How long a new connection may stay silent.
  [[nodiscard]] virtual Millis first_deadline() const { return between_requests(); }

  // Services for a front.

  [[nodiscard]] Session& session() noexcept { return session_; }
  [[nodiscard]] ServerContext& context() const noexcept;
  [[nodiscard]] bool is_reading() const noexcept { return state_ == State::reading; }
  [[nodiscard]] Millis between_requests() const;
  /// `on_refused` with `late` is called then, unless another deadline is set before.
  void set_deadline(Millis from_now) { deadline_.set(from_now); }
  /// The arriving request takes this much memory now.
  void hold_request(std::uint64_t bytes) { session_.held().hold_request(bytes, input()); }

  /// Asks the engine: `on_reply` or `on_refused` follows, or the connection closes.
  void ask(core::Request request, Check check = Check::none);
  /// The same, once more for a request that the engine has answered in part.
  void ask_more(core::Request request, Check check = Check::none);
  /// The request has its answer, which `send` follows. From now on it cannot be refused.
  void begin_answer(const RequestNote& note);
  /// Writes the answer; `on_sent` follows, or the connection closes.
  void send(std::string head, std::string body);
  /// Writes as much as the socket takes at once; correctness does not depend on it.
  void try_send(std::string_view text);
  void next_request();
  /// Closes once the client has closed. Further bytes are thrown away, for `most`: closing with
  /// unread bytes would reset the connection, and the client might never see its answer.
  void linger(Millis most);

 private:
  using Clock = Deadline::Clock;
  enum class State : std::uint8_t { reading, asking, writing, lingering, closed };

  void read();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void on_client_ended();
  void throw_away(std::size_t size);
  void write();
  void on_write(const boost::system::error_code& error, std::size_t size);
  void on_written();
  void on_exception(const std::exception& error);
  /// Memory of bytes that are no request yet, and of the read buffer.
  [[nodiscard]] std::uint64_t input() const noexcept;

  Front& front_;
  listening::Socket socket_;
  Session session_;
  Deadline deadline_;
  State state_ = State::reading;
  bool read_outstanding_ = false;
  std::vector<char> chunk_;  // where reads go
  Outgoing outgoing_;
  std::uint64_t lingered_ = 0;  // bytes
  Clock::time_point lingers_until_;
};

}  // namespace tarry::session
