#include "server/session/server_context.h"

#include <chrono>
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

void ServerContext::count_refusal(limits::Limit limit, limits::Scope scope,
                                  std::string_view token) {
  refusals_.add(limit, scope);
  if (token.empty()) return;
  auto known = token_refusals_.find(token);
  if (known == token_refusals_.end()) known = token_refusals_.try_emplace(std::string(token)).first;
  known->second.add(limit, scope);
}

void ServerContext::forget_unknown_tokens() {
  std::erase_if(token_refusals_,
                [this](const auto& one) { return !options.tokens.know_name(one.first); });
}

limits::Figures ServerContext::limit_figures() const {
  using limits::Limit;
  limits::Figures figures;
  const auto set = [&figures](Limit limit, limits::ByScope values, std::uint64_t used) {
    figures.of[index_of(limit)] = {values, used};
  };
  std::uint64_t connections = 0;
  for (const auto& [name, front] : meter.fronts()) connections += front.connections();
  set(Limit::connections,
      {options.max_connections, options.connections_per_peer, options.connections_per_token},
      connections);
  set(Limit::held_bytes,
      {options.max_held_bytes, 2 * held.limit_of_peer(), 2 * held.limit_of_token()},
      held.requests() + held.answers());
  const limits::ByScope& rates = options.requests_per_second;
  const auto now = limits::RateBucket::Clock::now();
  set(Limit::requests, rates, rates.total == 0 ? 0 : all_requests.taken(now, rates.total));
  set(Limit::waiting_claims, options.waiting_claims, waiting_claims);
  figures.refusals = refusals_;
  figures.of_tokens = token_refusals_;
  return figures;
}

void ServerContext::handshake_failed(std::string_view address, std::string_view reason) {
  std::string text = "the TLS handshake with ";
  text.append(address).append(" failed: ").append(reason);
  if (const auto line = handshake_failures_.line(text, LogThrottle::Clock::now())) {
    warn("handshake_failed", *line);
  }
}

void ServerContext::audited(const audit::Trail::Written& written) {
  meter.audited(written.lines, written.lost);
  if (written.lost == 0) return;
  const std::string text = "acts are missing in the audit log: " + written.reason;
  if (const auto line = audit_failures_.line(text, LogThrottle::Clock::now())) {
    warn("audit_log_failed", *line);
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
