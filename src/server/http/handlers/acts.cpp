#include "server/http/handlers/acts.h"

#include <array>
#include <optional>
#include <utility>

namespace tarry::http {
namespace {

using audit::Act;

// A refused settle was not read, so only its text can tell whether it buries. A claim may settle.
bool buries(const net::HttpMessage& message) {
  const bool claims = message.method == "POST" && message.target == "/v1/claim";
  return (claims || leaves_less_work(message)) &&
         message.body.find("\"bury\"") != std::string::npos;
}

}  // namespace

std::unique_ptr<audit::Entry> act_of(Submission& submission) {
  auto entry = std::move(submission.act);
  if (entry == nullptr) entry = audit::entry_of(submission.request);
  if (entry != nullptr) entry->unreadable = submission.unreadable;
  return entry;
}

std::unique_ptr<audit::Entry> refused_act(const net::HttpMessage& message) {
  if (auto known = act_of_route(message)) {
    auto entry = std::make_unique<audit::Entry>(known->act, std::move(known->queue));
    entry->schedule = std::move(known->schedule);
    entry->session = std::move(known->session);
    return entry;
  }
  return buries(message) ? std::make_unique<audit::Entry>(Act::bury) : nullptr;
}

}  // namespace tarry::http
