#include "http_server.h"

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "server/http/server.h"
#include "support/certificates.h"
#include "support/tls_front.h"

namespace tarry::contract {
namespace {

// The same certificates for all tests of the process.
const testing::Certificates& certificates() {
  static const testing::Certificates certificates;
  return certificates;
}

class RealServer final : public TestServer {
 public:
  RealServer(core::Engine& engine, bool tls) : server_(engine, options()) {
    const Result<std::uint16_t> port = server_.start();
    if (!port) throw std::runtime_error("server: " + port.error().message);
    port_ = *port;
    if (!tls) return;
    front_.emplace(port_, certificates().certificate("server"), certificates().key("server"));
  }
  ~RealServer() override {
    front_.reset();
    server_.stop();
  }

  [[nodiscard]] std::string url() const override {
    if (!front_) return "http://127.0.0.1:" + std::to_string(port_);
    return "https://127.0.0.1:" + std::to_string(front_->port()) +
           "?ca=" + certificates().certificate("ca");
  }

 private:
  static http::ServerOptions options() {
    http::ServerOptions options;
    options.port = 0;
    return options;
  }

  http::Server server_;
  std::uint16_t port_ = 0;
  std::optional<testing::TlsFront> front_;
};

}  // namespace

std::unique_ptr<TestServer> TestServer::start(core::Engine& engine, bool tls) {
  return std::make_unique<RealServer>(engine, tls);
}

}  // namespace tarry::contract
