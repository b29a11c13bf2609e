// Server: lets the command line look into a program that embeds tarry, over a unix socket:
//
//   tarry::Server server(*store, "/run/shop/tarry.sock");
//   if (auto listening = server.start(); !listening) return fail(listening.error());
//
//   $ tarry --store http+unix:///run/shop/tarry.sock stats
//
// Every verb works there, not only those that look: who may open the socket may push, claim and
// purge. So the file is made for the program's user alone (mode 0600). It needs one thread, and
// costs nothing while nobody asks. In tarry::tarry, not in tarry::embedded.
//
// Thread safe, but for its destructor.
#pragma once

#include <memory>
#include <string>

#include <tarry/result.h>
#include <tarry/store.h>

namespace tarry {

class Server {
 public:
  /// The path, made absolute here, has at most 107 bytes. The store may be closed before the server
  /// stops: what is asked then is answered `closed`.
  Server(const Store& store, std::string path);
  ~Server();  ///< stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens. What a program that died left at the path is replaced. May be called again after
  /// `stop`. Errors: `invalid_argument` for a path that is empty or too long, `conflict` where
  /// somebody listens there, something else stands there, or it runs already, `unavailable` where
  /// the system gives no thread, `permission_denied`, `io_error`.
  Result<void> start();

  /// Takes no more connections, closes those that are open, and takes the file away. Idempotent.
  /// Not from a callback of the store.
  void stop();

  /// What `tarry --store` and `tarry::open` take: `http+unix://` and the absolute path.
  [[nodiscard]] std::string url() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry
