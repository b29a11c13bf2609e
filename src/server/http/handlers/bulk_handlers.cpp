#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "server/audit/entry.h"
#include "server/http/handlers/handlers.h"
#include "wire/bulk.h"

namespace tarry::http {
namespace {

wire::BulkPage told_of(const core::ListReply& listed, std::size_t matched) {
  return {listed.messages.size(), matched, listed.next};
}

// A dry run changes nothing, so it is not an act.
std::unique_ptr<audit::Entry> act_of(const wire::BulkRequest& request) {
  const audit::Act act = [&] {
    switch (request.action) {
      case wire::BulkAction::cancel: return audit::Act::cancel;
      case wire::BulkAction::reschedule: return audit::Act::reschedule;
      case wire::BulkAction::revive: return audit::Act::revive;
      case wire::BulkAction::remove: return audit::Act::remove_dead;
    }
    return audit::Act::bulk;
  }();
  auto entry = std::make_unique<audit::Entry>(act, request.page.queue);
  entry->page =
      audit::Page{request.filter, request.page.state, request.page.after, request.due, request.by};
  return entry;
}

}  // namespace

// Handles one page per request, so that a request's cost is bounded, however large the queue is.
Routed bulk(Asked& asked) {
  auto decoded = wire::decode_bulk(std::move(asked.name), asked.body);
  if (!decoded) return problem(decoded.error());
  const auto request = std::make_shared<const wire::BulkRequest>(*std::move(decoded));
  Routed routed = ask<core::ListReply>(request->page, [request](const core::ListReply& listed) {
    const auto matched = wire::chosen(*request, listed).size();
    return ok(wire::encode_bulk_reply(told_of(listed, matched), nullptr));
  });
  if (request->dry_run) return routed;
  std::get<Submission>(routed).act = act_of(*request);
  std::get<Submission>(routed).then =
      [request](Result<core::Reply>& reply) -> std::optional<Routed> {
    const auto* listed = reply ? std::get_if<core::ListReply>(&*reply) : nullptr;
    if (listed == nullptr) return std::nullopt;
    const auto messages = wire::chosen(*request, *listed);
    if (messages.empty()) return std::nullopt;
    Submission verb;
    verb.request = wire::verb_of(*request, messages);
    verb.answer = [told = told_of(*listed, messages.size())](core::Reply& done) {
      return ok(wire::encode_bulk_reply(told, &done));
    };
    return verb;
  };
  return routed;
}

}  // namespace tarry::http
