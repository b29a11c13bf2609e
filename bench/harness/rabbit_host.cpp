#include "harness/rabbit_host.h"

#include <exception>

#include "harness/must.h"
#include "harness/server_process.h"
#include "support/rabbit_server.h"

namespace tarry::bench {

bool RabbitHost::is_installed() { return testing::RabbitServer::is_installed(); }

RabbitHost::RabbitHost() {
  try {
    server_ = std::make_unique<testing::RabbitServer>();
  } catch (const std::exception& error) {
    give_up("rabbitmq-server", error.what());
  }
}

RabbitHost::~RabbitHost() = default;

std::uint16_t RabbitHost::port() const noexcept { return server_->port(); }

double RabbitHost::bytes() const {
  double bytes = 0;
  for (const pid_t process : server_->processes()) bytes += anonymous_bytes_of(process);
  return bytes;
}

}  // namespace tarry::bench
