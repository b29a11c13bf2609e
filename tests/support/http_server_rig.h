// The HTTP server over real sockets, in front of an engine that the test controls. If
// TARRY_TEST_TLS is set, it speaks TLS (raw_client.h).
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "server/http/server.h"
#include "server/listening/tls_context.h"
#include "support/certificates.h"
#include "support/fake_engine.h"
#include "support/raw_client.h"

namespace tarry::testing {

class HttpServerRig : public ::testing::Test {
 protected:
  /// Starts on a free port, and returns the port.
  std::uint16_t start(http::ServerOptions options = {}) {
    server_.emplace(engine_, at_a_free_port(std::move(options)));
    const auto port = server_->start();
    EXPECT_TRUE(port) << port.error().message;
    return port ? *port : std::uint16_t{0};
  }
  static http::ServerOptions at_a_free_port(http::ServerOptions options = {}) {
    options.port = 0;
    if (tests_tls()) options.tls = tls();
    return options;
  }
  std::uint16_t start_with_limit(std::size_t max_held_bytes) {
    http::ServerOptions options;
    options.max_held_bytes = max_held_bytes;
    return start(std::move(options));
  }

  /// Expects a refusal, because `held` ("all requests") are over that limit.
  template <typename Response>
  static void expect_busy(const Response& response, const std::string& held, std::size_t limit) {
    EXPECT_EQ(response.status, 429u);
    EXPECT_NE(response.body.find("the sum of " + held + " that are held is over the limit of " +
                                 std::to_string(limit) + " bytes"),
              std::string::npos)
        << response.body;
  }

  static listening::TlsContext tls() {
    static const Certificates kFiles;
    const std::string chain = kFiles.certificate("chain");
    std::ofstream whole(chain);
    for (const char* name : {"server", "ca"}) {
      whole << std::ifstream(kFiles.certificate(name)).rdbuf();
    }
    whole.close();
    const auto loaded = listening::load_tls({chain, kFiles.key("server")});
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? loaded->context : nullptr;
  }

  FakeEngine engine_;
  std::optional<http::Server> server_;
};

}  // namespace tarry::testing
