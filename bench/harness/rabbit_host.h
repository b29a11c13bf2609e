// RabbitHost: the run's own rabbitmq-server, in its own directory.
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <cstdint>
#include <memory>

namespace tarry::testing {
class RabbitServer;
}

namespace tarry::bench {

class RabbitHost {
 public:
  [[nodiscard]] static bool is_installed();

  RabbitHost();
  ~RabbitHost();
  RabbitHost(const RabbitHost&) = delete;
  RabbitHost& operator=(const RabbitHost&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Bytes of the broker's processes that are in RAM and belong to no file.
  [[nodiscard]] double bytes() const;

 private:
  std::unique_ptr<testing::RabbitServer> server_;
};

}  // namespace tarry::bench
