// EngineTurns: brings the requests of all connections to the engine, and its answers back.
//
// All requests that arrive between two looks at the sockets go to the engine together, and the
// server's thread does the engine's work for them itself (core::Engine::lend). So they wake no
// other thread, unless they have to wait for a disk or for time to pass. Answers that other threads
// give meanwhile come back together too.
//
// Invariants
//  1. After each `submit` the server's thread lends itself to the engine before it sleeps.
//  2. Each answer reaches its session once, on the server's thread, and never within `submit`.
//  3. The server's loop goes on until each submitted request is answered.
//
// Thread safety: the server's thread only, except for `answered`.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "core/engine.h"
#include "server/listening/socket.h"
#include "server/session_parts/engine_work.h"

namespace tarry::session {

class Connection;
class ServerContext;
class Session;

/// A session's place in the list of answers. The session owns it.
struct Answer {
  Session* session = nullptr;
  std::shared_ptr<Connection> owner = {};  // keeps the session until the answer has reached it
  Answer* next = nullptr;
};

class EngineTurns {
 public:
  /// The context must outlive it.
  explicit EngineTurns(ServerContext& context) noexcept : context_(context) {}
  EngineTurns(const EngineTurns&) = delete;
  EngineTurns& operator=(const EngineTurns&) = delete;

  /// Call it before each `submit`; a failure then has no effect. Throws std::bad_alloc.
  void prepare(const listening::Executor& executor);
  /// The completion must call `answered`.
  core::Ticket submit(core::Request request, core::Completion completion);
  /// Call it from the completion, on any thread, when the session has its reply.
  void answered(Answer& answer, EngineWork work) noexcept;

 private:
  void lend() noexcept;
  void take_answers() noexcept;

  ServerContext& context_;
  core::Lent lent_;
  bool prepared_ = false;
  std::atomic<std::thread::id> lender_{};  // the server's thread, while it does the engine's work

  std::mutex mutex_;
  Answer* first_ = nullptr;
  Answer* last_ = nullptr;
};

}  // namespace tarry::session
