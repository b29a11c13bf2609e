#include "server/http/acts.h"

#include <array>
#include <optional>
#include <utility>

namespace tarry::http {
namespace {

using audit::Act;

struct RouteAct {
  std::string_view method;
  std::string_view pattern;
  Act act;
};

constexpr std::array kRouteActs = {
    RouteAct{"POST", "/v1/queues/*/cancel", Act::cancel},
    RouteAct{"POST", "/v1/queues/*/reschedule", Act::reschedule},
    RouteAct{"POST", "/v1/queues/*/bulk", Act::bulk},
    RouteAct{"POST", "/v1/queues/*/import", Act::import_messages},
    RouteAct{"POST", "/v1/queues/*/move-away", Act::move_away},
    RouteAct{"PUT", "/v1/queues/*", Act::configure},
    RouteAct{"DELETE", "/v1/queues/*", Act::remove},
    RouteAct{"POST", "/v1/queues/*/pause", Act::pause},
    RouteAct{"POST", "/v1/queues/*/resume", Act::resume},
    RouteAct{"POST", "/v1/queues/*/purge", Act::purge},
    RouteAct{"POST", "/v1/queues/*/revive", Act::revive},
    RouteAct{"POST", "/v1/queues/*/reshard", Act::reshard},
};

// A refused settle was not read, so only its text can tell whether it buries.
bool buries(const net::HttpMessage& message) {
  return settles(message) && message.body.find("\"bury\"") != std::string::npos;
}

}  // namespace

std::unique_ptr<audit::Entry> act_of(Submission& submission) {
  auto entry = std::move(submission.act);
  if (entry == nullptr) entry = audit::entry_of(submission.request);
  if (entry != nullptr) entry->unreadable = submission.unreadable;
  return entry;
}

std::unique_ptr<audit::Entry> refused_act(const net::HttpMessage& message) {
  for (const RouteAct& known : kRouteActs) {
    if (known.method != message.method) continue;
    std::string queue = queue_in(message, known.pattern);
    if (!queue.empty()) return std::make_unique<audit::Entry>(known.act, std::move(queue));
  }
  return buries(message) ? std::make_unique<audit::Entry>(Act::bury) : nullptr;
}

}  // namespace tarry::http
