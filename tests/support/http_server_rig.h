// The HTTP server over real sockets, in front of an engine that the test controls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "server/http/server.h"
#include "support/fake_engine.h"
#include "support/raw_client.h"

namespace tarry::testing {

class HttpServerRig : public ::testing::Test {
 protected:
  /// Starts on a free port, and returns the port.
  std::uint16_t start(http::ServerOptions options = {}) {
    options.port = 0;
    server_.emplace(engine_, std::move(options));
    const auto port = server_->start();
    EXPECT_TRUE(port) << port.error().message;
    return port ? *port : std::uint16_t{0};
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

  FakeEngine engine_;
  std::optional<http::Server> server_;
};

}  // namespace tarry::testing
