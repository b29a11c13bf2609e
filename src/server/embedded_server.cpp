// tarry::Server: the HTTP server of `tarry serve`, on a unix socket.
#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <tarry/server.h>

#include "base/text/text.h"
#include "core/engine.h"
#include "server/http/server.h"

namespace tarry {
namespace {

/// Makes the path absolute, because the program may change its directory while the server runs.
std::string absolute(std::string path) {
  std::error_code error;
  const auto found = std::filesystem::absolute(path, error);
  return error ? std::move(path) : found.string();
}

}  // namespace

class Server::Impl {
 public:
  Impl(const Store& store, std::string path)
      : state_(store.state()),
        engine_(store.engine()),
        clock_(store.manual_clock()),
        path_(absolute(std::move(path))) {}

  Result<void> start() {
    if (path_.empty()) {
      return Unexpected(ErrorCode::invalid_argument, "the server's path is empty");
    }
    const std::lock_guard lock(mutex_);
    if (server_) {
      return Unexpected(ErrorCode::conflict, "the server runs already; once is the limit");
    }
    http::ServerOptions options;
    options.unix_path = path_;
    if (clock_) options.now = [clock = *clock_] { return clock.now(); };
    Result<std::uint16_t> listening = 0;
    try {
      server_ = std::make_unique<http::Server>(engine_, std::move(options));
      listening = server_->start();
    } catch (const std::runtime_error& refused) {
      listening = Unexpected(
          ErrorCode::unavailable,
          std::string("the system gives the server no thread or descriptor: ") + refused.what());
    }
    if (listening) return {};
    server_.reset();
    return listening.error();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    server_.reset();
  }

  [[nodiscard]] std::string url() const { return "http+unix://" + base::path_in_url(path_); }

 private:
  const std::shared_ptr<detail::StoreState> state_;  // keeps the engine
  core::Engine& engine_;
  const std::optional<ManualClock> clock_;
  const std::string path_;
  std::mutex mutex_;
  std::unique_ptr<http::Server> server_;
};

Server::Server(const Store& store, std::string path)
    : impl_(std::make_unique<Impl>(store, std::move(path))) {}
Server::~Server() = default;

Result<void> Server::start() { return impl_->start(); }
void Server::stop() { impl_->stop(); }
std::string Server::url() const { return impl_->url(); }

}  // namespace tarry
