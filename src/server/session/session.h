// Session: what one connection does at the store: its client's identity, the bytes that it holds,
// and its one request at the engine. The connection moves its bytes (connection.h).
//
// Thread safety: the server's thread only; the engine's completions come there by post.
//
// Invariants
//  1. At most one request is at the engine. Its answer reaches the connection once, as a reply or a
//     refusal, or the connection is closed.
//  2. A claim does not wait if its client has hung up, its token was replaced, or the server
//     drains: it is withdrawn, also if it is submitted after that.
//  3. Claimed messages are unsent from the engine's answer until `handed_over`. If the connection
//     is closed or refuses the answer before that, they are released.
//  4. The server is told once that the connection is closed.
//  5. It is among the idle between `become_idle` and `become_busy` or `close`.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "core/engine.h"
#include "server/listening/socket.h"
#include "server/session/check.h"
#include "server/session/held_bytes.h"
#include "server/session/held_reply.h"
#include "server/session/refusal.h"
#include "server/session/request_log.h"
#include "server/session/server_context.h"
#include "server/session/unsent_claims.h"

namespace tarry::session {

class Connection;

/// How a server that is short of something treats a request.
enum class Urgency : std::uint8_t {
  ordinary,
  settles,  // or extends or cancels: less work is left after it
  probe,    // of health; small
};

class Session {
 public:
  /// The connection owns both the session and the socket.
  Session(ServerContext& context, Connection& connection, listening::Socket& socket);

  /// The client's address, with its port.
  [[nodiscard]] const std::string& address() const noexcept { return remote_.address; }
  [[nodiscard]] HeldBytes::Part& held() noexcept { return held_; }
  [[nodiscard]] const HeldBytes::Part& held() const noexcept { return held_; }

  void become_idle();
  void become_busy();  // `begin` does, too

  /// There are too many connections: it may do little (`Connection::Place`).
  void use_reserve() noexcept { on_reserve_ = true; }
  [[nodiscard]] bool is_on_reserve() const noexcept { return on_reserve_; }

  /// Whether the client has shown the server's token (base::is_same_secret) or needs none. It holds
  /// until it is set again.
  void set_let_in(bool let_in) noexcept { let_in_ = let_in; }
  /// A request begins, as far as is known of it before its body. Refused: on the reserve.
  [[nodiscard]] std::optional<Refusal> begin(Urgency urgency);
  /// A request has been answered: for the log and the metrics.
  void answered(const RequestNote& note);

  /// Whether a request may go to the engine now. Waiting requests, and answers that clients do not
  /// take, count too, because further requests would add to them. Requests that settle or cancel
  /// reduce the load, and are let through. Probes are small.
  [[nodiscard]] std::optional<OverLimit> admit(const core::Request& request, Check check);
  /// Asks the engine. False: it has not begun, for lack of memory.
  [[nodiscard]] bool submit(core::Request request, Check check);
  /// The engine's answer has been written to the client in full.
  void handed_over();

  /// Ends a claim's wait: it is answered with the messages that it has. Without a waiting claim it
  /// does nothing.
  void end_wait();
  /// The client sends no more; perhaps it still reads. A client that only stopped sending cannot be
  /// told from one that is gone. So a claim's messages are not given to either; any other request
  /// is carried out.
  void client_ended();
  [[nodiscard]] bool has_client_ended() const noexcept { return client_ended_; }
  /// The token was replaced. False: no claim waits.
  [[nodiscard]] bool revoke();
  /// The connection is closed. Once.
  void close();

 private:
  void on_reply();
  void hand_over(HeldReply reply);
  [[nodiscard]] bool note_unsent(const core::ClaimReply& reply);
  [[nodiscard]] std::optional<Refusal> refusal_of(HeldReply& reply);
  [[nodiscard]] bool claim_waits() const noexcept { return claiming_ && ticket_ != 0 && !closed_; }
  void release_unsent() { unsent_.release(context_, socket_.get_executor()); }

  ServerContext& context_;
  Connection& connection_;
  listening::Socket& socket_;
  const listening::RemoteEnd remote_;
  HeldBytes::Part held_;
  std::optional<std::list<Connection*>::iterator> idle_;  // its place there
  bool on_reserve_ = false;
  bool let_in_ = false;
  bool client_ended_ = false;
  bool revoked_ = false;
  bool closed_ = false;

  // Of the request at the engine.
  core::Ticket ticket_ = 0;
  Check check_ = Check::none;
  bool claiming_ = false;
  bool reading_ = false;            // the answer is as much as the store has
  std::optional<HeldReply> reply_;  // put there by the engine's thread, before its post
  UnsentClaims unsent_;
};

}  // namespace tarry::session
