#include "http_server.h"

#include <stdexcept>

#include "server/http/server.h"

namespace tarry::contract {
namespace {

class RealServer final : public TestServer {
 public:
  explicit RealServer(core::Engine& engine) : server_(engine, options()) {
    const Result<std::uint16_t> port = server_.start();
    if (!port) throw std::runtime_error("server: " + port.error().message);
    port_ = *port;
  }
  ~RealServer() override { server_.stop(); }

  [[nodiscard]] std::uint16_t port() const override { return port_; }

 private:
  static http::ServerOptions options() {
    http::ServerOptions options;
    options.port = 0;
    return options;
  }

  http::Server server_;
  std::uint16_t port_ = 0;
};

}  // namespace

std::unique_ptr<TestServer> TestServer::start(core::Engine& engine) {
  return std::make_unique<RealServer>(engine);
}

}  // namespace tarry::contract
