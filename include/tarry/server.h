// Server: lets the command line look into a program that embeds tarry, over a unix socket:
//
//   tarry::Server server(*store, "/run/shop/tarry.sock");
//   if (auto listening = server.start(); !listening) return fail(listening.error());
//
//   $ tarry --store http+unix:///run/shop/tarry.sock stats
//
// Every verb works there, also those that change data: whoever may open the socket may push, claim
// and purge. Therefore only the program's user may open the file (mode 0600). The server needs one
// thread, and costs nothing while no request comes. Server is part of tarry::tarry, not of
// tarry::embedded.
//
// Thread safe, except its destructor.
#pragma once

#include <memory>
#include <string>

#include <tarry/result.h>
#include <tarry/store.h>

namespace tarry {

class Server {
 public:
  /// The path is made absolute here; the absolute path may have at most 107 bytes. If the store is
  /// closed before the server stops, requests answer `closed`.
  Server(const Store& store, std::string path);
  ~Server();  ///< stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Begins to listen. A socket that a dead program has left at the path is replaced. May be called
  /// again after `stop`. Errors: `invalid_argument` for a path that is empty or too long;
  /// `conflict` if another program listens there, another file is there, or this server runs
  /// already; `unavailable` if the system gives no thread; `permission_denied`; `io_error`.
  Result<void> start();

  /// Accepts no more connections, closes the open ones, and removes the file. Idempotent. Must not
  /// be called from a callback of the store.
  void stop();

  /// The URL for `tarry --store` and `tarry::open`: `http+unix://` and the absolute path.
  [[nodiscard]] std::string url() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry
