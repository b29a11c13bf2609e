#include "server/http/handlers/rights.h"

#include <algorithm>
#include <string>

#include "base/text/text.h"
#include "core/rules/queue_pattern.h"

namespace tarry::http {
namespace {

using identity::Identity;
using identity::Scope;

std::string text_of_lack(const Identity& identity, Scope scope, const std::string& where) {
  return "the token " + base::quoted(identity.name) + " lacks the scope " +
         std::string(identity::to_string(scope)) + where;
}

std::string on_queue(std::string_view queue) {
  return " on queue " + base::quoted(queue, core::kMaxQueueName);
}

Response lacks(const Identity& identity, Scope scope, const std::string& where) {
  return problem(403, ErrorCode::permission_denied, text_of_lack(identity, scope, where));
}

// Whether the client may read every queue that the pattern matches.
bool sees_all_of(const Identity& identity, const std::string& pattern) {
  return identity.scopes.has(Scope::read) &&
         std::ranges::any_of(identity.queues,
                             [&](const std::string& own) { return core::covers(own, pattern); });
}

}  // namespace

std::string_view to_string(Reach reach) noexcept {
  switch (reach) {
    case Reach::open: return "open";
    case Reach::known: return "known";
    case Reach::path: return "path";
    case Reach::body: return "body";
    case Reach::receipts: return "receipts";
    case Reach::answer: return "answer";
    case Reach::schedule: return "schedule";
    case Reach::store: return "store";
  }
  return "unknown";
}

std::optional<Response> check_queue(const Identity& identity, Scope scope, std::string_view queue) {
  if (identity.may(scope, queue)) return std::nullopt;
  return lacks(identity, scope, on_queue(queue));
}

Error lacking(const Identity& identity, Scope scope, std::string_view queue) {
  return {ErrorCode::permission_denied, text_of_lack(identity, scope, on_queue(queue))};
}

std::optional<Response> check_rights(const Identity& identity, Need need, std::string_view queue) {
  switch (need.reach) {
    case Reach::open:
    case Reach::known: return std::nullopt;
    case Reach::path: return check_queue(identity, need.scope, queue);
    case Reach::store:
      if (identity.may_everywhere(need.scope)) return std::nullopt;
      return lacks(identity, need.scope, " on all queues (*)");
    case Reach::body:
    case Reach::receipts:
    case Reach::schedule:
    case Reach::answer: break;
  }
  if (identity.scopes.has(need.scope)) return std::nullopt;
  return lacks(identity, need.scope, " on any queue");
}

core::OnlyQueues confined_to(const identity::IdentityPtr& identity) {
  if (identity->may_everywhere(Scope::consume)) return nullptr;
  return {identity, &identity->queues};
}

void leave_out_unseen(StoreStats& stats, const Identity& identity) {
  if (identity.may_everywhere(Scope::read)) return;
  const auto unseen = [&](const auto& queue) { return !identity.may(Scope::read, queue.queue); };
  std::erase_if(stats.queues, unseen);
  std::erase_if(stats.unreadable, unseen);
  stats.lateness = {};
  stats.disk_bytes = 0;
  stats.live_bytes = 0;
  stats.syncs = 0;
  stats.round_trips = 0;
  stats.connections = 0;
}

void leave_out_unseen(std::vector<metrics::RelayFigures>& relays, const Identity& identity) {
  std::erase_if(relays, [&](const metrics::RelayFigures& relay) {
    return !std::ranges::all_of(
        relay.patterns, [&](const std::string& pattern) { return sees_all_of(identity, pattern); });
  });
}

}  // namespace tarry::http
