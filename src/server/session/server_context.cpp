#include "server/session/server_context.h"

#include <random>
#include <utility>

namespace tarry::session {
namespace {

std::string make_id_prefix() {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::random_device random;
  std::string prefix;
  for (int i = 0; i < 8; ++i) prefix += kHex[random() % kHex.size()];
  return prefix + "-";
}

}  // namespace

ServerContext::ServerContext(core::Engine& asked, Options given)
    : engine(asked), options(std::move(given)), id_prefix_(make_id_prefix()) {}

void ServerContext::handshake_failed(std::string_view address, std::string_view reason) {
  std::string text = "the TLS handshake with ";
  text.append(address).append(" failed: ").append(reason);
  if (const auto line = handshake_failures_.line(text, LogThrottle::Clock::now())) {
    warn("handshake_failed", *line);
  }
}

void ServerContext::warn_of(const std::exception& error) noexcept {
  try {
    const std::string text = "a request could not be handled: " + std::string(error.what());
    if (const auto line = failures_.line(text, LogThrottle::Clock::now())) {
      warn("request_failed", *line);
    }
  } catch (const std::exception&) {
    // Ignored: without memory, nothing can be logged.
  }
}

}  // namespace tarry::session
