// Connection: one client's connection as what all fronts share sees it. A front's own class reads
// and writes its protocol; the session that it owns (session.h) asks the engine for it.
//
// Thread safety: lives on the server's thread. Made by its front with std::make_shared.
//
// Invariants
//  1. No exception leaves it (memory that there is not, mostly): each event runs under `guard`.
//  2. Whatever ends it goes through its `close`, and that through its session's.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

#include "server/session/held_bytes.h"
#include "server/session/held_reply.h"

namespace tarry::session {

/// Why a request that the engine has answered is refused all the same.
struct Refusal {
  enum class Why : std::uint8_t {
    token_replaced,  // while it waited
    too_much_held,   // `over` says of what
    closing,         // the server, and the claim has got nothing
  };
  Why why;
  OverLimit over = {};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// How it is let in. Where there are too many already, on the reserve: only what settles, extends
  /// or cancels and probes are answered, one request; anything else is told of the limit.
  enum class Place : std::uint8_t { regular, reserve };

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  virtual void start(Place place) = 0;
  /// Closes where nothing of a next request has come, or where nothing is to follow its answer.
  /// False: something has.
  [[nodiscard]] virtual bool give_way() = 0;
  /// The token has changed: a claim that waits, or a request that is coming in, ends refused.
  virtual void revoke() = 0;
  /// Finishes the request in progress, or one that comes within a moment, and closes.
  virtual void drain() = 0;
  virtual void close() = 0;

  // Called by its session and its deadline, never when it is closed.

  /// The engine's answer. What it claimed is the client's once the session is told so.
  virtual void on_reply(HeldReply& reply) = 0;
  virtual void on_refused(const Refusal& refusal) = 0;
  /// Nothing that the client sent is of use any more: receipts want the memory.
  virtual void free_memory() noexcept = 0;
  virtual void on_deadline() = 0;

  /// What an event calls for, and what is left to do where that throws.
  template <typename Step>
  void guard(Step step) {
    try {
      step();
    } catch (const std::exception& error) {
      on_exception(error);
    }
  }

 protected:
  virtual void on_exception(const std::exception& error) = 0;
};

}  // namespace tarry::session
