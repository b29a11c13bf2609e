// TestServer: a tarry server in this process, on a free port, before an engine.
#pragma once

#include <cstdint>
#include <memory>

#include "core/engine.h"

namespace tarry::contract {

class TestServer {
 public:
  /// Listens on 127.0.0.1, or throws. The engine must outlive it.
  [[nodiscard]] static std::unique_ptr<TestServer> start(core::Engine& engine);

  virtual ~TestServer() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

}  // namespace tarry::contract
