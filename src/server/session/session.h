// Session: one client's dealings with the store: its identity, the bytes that it holds, and its one
// request at the engine. The connection (connection.h) reads and writes the bytes.
//
// Thread safety: the server's thread only; the engine's completions are posted to it.
//
// Invariants
//  1. At most one request is at the engine. Its answer reaches the connection once, as a reply or a
//     refusal, or the connection is closed.
//  2. A claim does not wait if its client has hung up, its token is no longer valid, or the server
//     drains. Such a claim is withdrawn, even if it is submitted only later.
//  3. Claimed messages count as unsent from the engine's answer until `handed_over`. If the
//     connection closes, or refuses the answer, before that, they are released.
//  4. The server learns exactly once that the connection is closed.
//  5. An act that the engine has carried out is in the audit log once, even if the client is gone.
//  6. The connection is in the list of idle ones from `become_idle` until `become_busy` or `close`.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine.h"
#include "server/audit/entry.h"
#include "server/audit/lines.h"
#include "server/identity/identity.h"
#include "server/limits/accounts.h"
#include "server/limits/limit.h"
#include "server/listening/socket.h"
#include "server/listening/stream.h"
#include "server/session/engine_turns.h"
#include "server/session/server_context.h"
#include "server/session/unsent_claims.h"
#include "server/session_parts/check.h"
#include "server/session_parts/held_bytes.h"
#include "server/session_parts/held_reply.h"
#include "server/session_parts/refusal.h"
#include "server/session_parts/request_log.h"

namespace tarry::session {

class Connection;

/// How urgent a request is, for a server that is short of connections or memory.
enum class Urgency : std::uint8_t {
  ordinary,
  settles,  // settles, extends or cancels, so that less work is left after it
  probe,    // a health probe, which is small
};

class Session {
 public:
  /// The connection owns both the session and the stream.
  Session(ServerContext& context, Connection& connection, listening::Stream& stream);

  /// The client's address, with its port.
  [[nodiscard]] const std::string& address() const noexcept { return remote_.address; }
  /// Whom the limits of a peer cover (listening/ip_address.h); for a unix socket, the user.
  [[nodiscard]] const std::string& peer() const noexcept { return remote_.peer; }
  /// The server's address that the client has connected to, as it stands in a URL; empty for a unix
  /// socket.
  [[nodiscard]] const std::string& local_host() const noexcept { return local_host_; }
  /// The name of the token for which the connection counts; empty if none has been shown.
  [[nodiscard]] std::string_view counted_token() const noexcept {
    return token_ ? token_->name : std::string_view();
  }
  [[nodiscard]] bool counts_as_waiting() const noexcept { return waiting_; }
  /// Whether nobody between the client and the server can read the bytes.
  [[nodiscard]] bool is_encrypted() const noexcept { return stream_.is_encrypted(); }
  [[nodiscard]] HeldBytes::Part& held() noexcept { return held_; }
  [[nodiscard]] const HeldBytes::Part& held() const noexcept { return held_; }

  /// Counts the connection for its peer; `close` ends that. If the peer has too many, the
  /// connection is on the reserve. False: even that is full.
  [[nodiscard]] bool enter();

  void become_idle();
  void become_busy();  // `begin` calls it too

  /// Call `use_reserve` if the connection was let in on the reserve, and may do little
  /// (`Connection::Place`).
  void use_reserve() noexcept { on_reserve_ = true; }
  [[nodiscard]] bool is_on_reserve() const noexcept { return on_reserve_; }

  /// The client has shown who it is, or the request needs no token (identity::nobody). Null: the
  /// client is not let in. It holds until the next call; the front calls it for each request.
  void set_identity(identity::IdentityPtr identity) noexcept { identity_ = std::move(identity); }
  [[nodiscard]] const identity::IdentityPtr& identity() const noexcept { return identity_; }
  /// Call `begin` when a request begins; its body may not have arrived yet. The request is refused
  /// if it is not urgent, and the connection is on the reserve or its client sends too many
  /// requests a second.
  [[nodiscard]] std::optional<Refusal> begin(Urgency urgency);
  /// The client of a request that has begun has shown only now who it is, by a signature of the
  /// whole request: from now on the request counts for its token.
  [[nodiscard]] std::optional<Refusal> recognise(identity::IdentityPtr identity, Urgency urgency);
  /// Reports an answered request to the log, the metrics and, if it is an act, the audit log.
  void answered(const RequestNote& note);

  /// Counts a refusal because of bytes that are held.
  void note_refusal(const OverLimit& over) {
    context_.count_refusal(limits::Limit::held_bytes, over.scope, name());
  }
  /// Whether there is an audit log. Without one, entries need not be made.
  [[nodiscard]] bool is_audited() const noexcept { return context_.trail.is_on(); }
  /// The request in progress is this act. `submit` makes the entry itself if the front gives none.
  void audit(std::unique_ptr<audit::Entry> entry) noexcept { entry_ = std::move(entry); }
  /// The entry of the request in progress; null if it is not an act.
  [[nodiscard]] audit::Entry* audited() noexcept { return entry_.get(); }

  /// Whether a request may go to the engine now. Waiting requests, and answers that clients have
  /// not taken, count as held, because further requests would add to them. Requests that settle or
  /// cancel reduce the load, and probes are small, so both are always let through. A claim that may
  /// wait is refused if too many wait.
  [[nodiscard]] std::optional<Refusal> admit(const core::Request& request, Check check);
  /// Asks the engine. Returns false if memory was too short; then the request was not begun.
  [[nodiscard]] bool submit(core::Request request, Check check);
  /// The engine has answered; for EngineTurns. `owner`: the connection.
  void take_answer(const std::shared_ptr<Connection>& owner);
  /// Call `handed_over` when the engine's answer has been written to the client in full.
  void handed_over();

  /// Ends the wait of a claim, which is then answered with the messages that it has. Does nothing
  /// if no claim waits.
  void end_wait();
  /// Call `client_ended` when the client has ended its side. The client may be gone, or it may
  /// still read the answer; the two look the same. So a claim's messages are not given to it. Any
  /// other request is carried out.
  void client_ended();
  [[nodiscard]] bool has_client_ended() const noexcept { return client_ended_; }
  /// Whether the client's token is still valid, with the same rights.
  [[nodiscard]] bool is_still_let_in() const noexcept;
  /// Call `revoke` when the token is no longer valid: a waiting claim is refused. Returns false if
  /// no claim waits.
  [[nodiscard]] bool revoke();
  /// Call `close` once, when the connection is closed. `releases`: of messages that the client has
  /// got, and that are to be released because its claims end with its connection.
  void close(std::vector<core::SettleRequest> releases);

 private:
  void note_act(const core::Request& request);
  void record_act(std::string_view request_id, const audit::Answer& answer);
  [[nodiscard]] audit::Client client_of(std::string_view request_id) const;
  void on_reply();
  void hand_over(HeldReply reply);
  [[nodiscard]] bool note_unsent(const core::ClaimReply& reply);
  [[nodiscard]] std::optional<Refusal> refusal_of(HeldReply& reply);
  [[nodiscard]] bool claim_waits() const noexcept { return claiming_ && ticket_ != 0 && !closed_; }
  /// The name of the client's token; empty if it has shown none.
  [[nodiscard]] std::string_view name() const noexcept {
    return identity_ == nullptr ? std::string_view() : identity_->name;
  }
  void count_for_token();
  [[nodiscard]] Refusal refuse_held(OverLimit over);
  [[nodiscard]] limits::Account* token() const noexcept {
    return identity_ == counted_for_ ? token_.get() : nullptr;
  }
  [[nodiscard]] std::optional<Refusal> count_request(Urgency urgency);
  [[nodiscard]] std::optional<Refusal> count_for_rate_of_token(Urgency urgency);
  [[nodiscard]] std::optional<Refusal> waiting_over();
  [[nodiscard]] Refusal refuse(limits::Reached reached);
  void begin_waiting() noexcept;
  void end_waiting() noexcept;
  void release_unsent() { unsent_.release(context_, stream_.get_executor()); }

  ServerContext& context_;
  Connection& connection_;
  listening::Stream& stream_;
  const listening::RemoteEnd remote_;
  const std::string local_host_;
  limits::Accounts::User peer_;
  limits::CountedConnection in_peer_;
  limits::Accounts::User token_;  // that of the latest request which carried one
  limits::CountedConnection in_token_;
  identity::IdentityPtr counted_for_;  // whose account `token_` is
  HeldBytes::Part held_;
  std::optional<std::list<Connection*>::iterator> idle_;  // this connection's place in the list of
                                                          // idle connections
  bool on_reserve_ = false;
  std::optional<limits::Reached> over_;  // the limit of connections for which it is on the reserve;
                                         // empty: that of all clients
  identity::IdentityPtr identity_;
  bool client_ended_ = false;
  std::unique_ptr<audit::Entry> entry_;  // of the request in progress
  bool revoked_ = false;
  bool closed_ = false;

  // The request at the engine:
  core::Ticket ticket_ = 0;
  Check check_ = Check::none;
  bool claiming_ = false;
  bool waiting_ = false;            // whether it counts as a waiting claim, also once it has ended
  bool reading_ = false;            // whether the answer contains stored data
  std::optional<HeldReply> reply_;  // set by the engine's thread, before `answer_` is in the list
  Answer answer_;
  UnsentClaims unsent_;
};

}  // namespace tarry::session
