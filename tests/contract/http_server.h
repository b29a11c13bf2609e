// TestServer: a tarry server in this process, on a free port, before an engine.
#pragma once

#include <memory>
#include <string>

#include "core/engine.h"

namespace tarry::contract {

class TestServer {
 public:
  /// Listens on 127.0.0.1, or throws. The engine must outlive it. `tls`: clients reach it over TLS
  /// only.
  [[nodiscard]] static std::unique_ptr<TestServer> start(core::Engine& engine, bool tls = false);

  virtual ~TestServer() = default;
  /// The URL for clients.
  [[nodiscard]] virtual std::string url() const = 0;
};

}  // namespace tarry::contract
