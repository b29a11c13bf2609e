#include "server/limits/limit.h"

namespace tarry::limits {
namespace {

// The limited quantity, and the setting that limits it.
struct Words {
  std::string_view what;
  std::string_view setting;
};

Words words_of(Limit limit) noexcept {
  switch (limit) {
    case Limit::connections: return {"connections", "limits.connections"};
    case Limit::held_bytes: return {"bytes held", "limits.held"};
    case Limit::requests: return {"requests a second", "limits.requests"};
    case Limit::waiting_claims: return {"waiting claims", "limits.waiting_claims"};
  }
  return {};
}

}  // namespace

std::string_view to_string(Limit limit) noexcept {
  switch (limit) {
    case Limit::connections: return "connections";
    case Limit::held_bytes: return "held_bytes";
    case Limit::requests: return "requests";
    case Limit::waiting_claims: return "waiting_claims";
  }
  return "unknown";
}

std::string_view to_string(Scope scope) noexcept {
  switch (scope) {
    case Scope::total: return "total";
    case Scope::peer: return "peer";
    case Scope::token: return "token";
  }
  return "unknown";
}

std::string text_of(const Reached& reached) {
  const Words words = words_of(reached.limit);
  std::string text = "the limit of " + std::to_string(reached.value) + " ";
  text += words.what;
  text += " for ";
  if (reached.scope == Scope::total) text += "all clients";
  if (reached.scope == Scope::token) text += "token ";
  text += reached.who;
  text += " is reached (";
  text += words.setting;
  if (reached.scope != Scope::total) text.append("_per_").append(to_string(reached.scope));
  text += ")";
  return text;
}

}  // namespace tarry::limits
