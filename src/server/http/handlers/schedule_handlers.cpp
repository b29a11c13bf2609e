// Schedules. A schedule belongs to the queue that gets its messages: whoever may not read that
// queue does not see the schedule. A schedule outlives the token with which it was made, so a
// change takes the scope admin; a message now takes push.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text/text.h"
#include "schedule/occurrences.h"
#include "schedule/steps.h"
#include "server/audit/entry.h"
#include "server/http/handlers/handlers.h"
#include "wire/json/json_writer.h"
#include "wire/queue.h"

namespace tarry::http {
namespace {

using audit::Act;
using identity::IdentityPtr;
using identity::Scope;
using schedule::Definition;

constexpr std::uint32_t kDefaultPage = 100;
constexpr std::uint32_t kMostOfPage = 1'000;

/// Goes on with the verb until its end. `make` gets what it answers, and makes the response.
template <typename T, typename Make>
Routed go_on_with(schedule::Step<T> step, Make make) {
  if (step.end) {
    if (!*step.end) return problem(step.end->error());
    return make(**std::move(step.end));
  }
  Submission submission;
  submission.request = std::move(step.request);
  submission.then = [then = std::move(step.then), make = std::move(make)](
                        Result<core::Reply>& reply) mutable -> std::optional<Routed> {
    return go_on_with(then(std::move(reply)), std::move(make));
  };
  return submission;
}

/// The same, if the store can keep schedules. `act`: for the audit log.
template <typename T, typename Make>
Routed answer_step(const Asked& asked, schedule::Step<T> step, Make make,
                   std::unique_ptr<audit::Entry> act = {}) {
  if (auto good = schedule::check_can(asked.service.capabilities); !good) {
    return problem(good.error());
  }
  Routed routed = go_on_with(std::move(step), std::move(make));
  if (auto* submission = std::get_if<Submission>(&routed)) submission->act = std::move(act);
  return routed;
}

std::unique_ptr<audit::Entry> entry_of(Act act, const std::string& name, std::string queue = {}) {
  auto entry = std::make_unique<audit::Entry>(act, std::move(queue));
  entry->schedule = name;
  return entry;
}

Error unseen(std::string_view name) {
  return {ErrorCode::not_found, "there is no schedule " + base::quoted(name)};
}

/// Whether the client may see the schedule, and has that scope on its queue.
schedule::May needs(const IdentityPtr& identity, Scope scope) {
  return [identity, scope](const Definition& stored) -> Result<void> {
    if (identity->may(scope, stored.queue)) return {};
    if (!identity->may(Scope::read, stored.queue)) return unseen(stored.name);
    return lacking(*identity, scope, stored.queue);
  };
}

Time now_of(const Service& service) {
  if (service.now) return service.now();
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}

Response shown(const Definition& definition, Time now) {
  Response response;
  wire::JsonWriter json(response.body);
  schedule::write_schedule(json, definition, now);
  return response;
}

Response told(std::string_view name, std::string_view outcome) {
  Response response;
  wire::JsonWriter json(response.body);
  json.begin_object().text_field("name", name).field("outcome", outcome).end_object();
  return response;
}

Routed set_paused(Asked& asked, bool paused) {
  if (auto error = wire::decode_nothing(asked.body)) return problem(*error);
  return answer_step(
      asked, schedule::pause_step(asked.name, paused, needs(asked.identity, Scope::admin)),
      [paused](const Definition& now) { return told(now.name, paused ? "paused" : "resumed"); },
      entry_of(paused ? Act::pause_schedule : Act::resume_schedule, asked.name));
}

}  // namespace

Routed list_schedules(Asked& asked) {
  const std::string prefix = asked.query.text("prefix").value_or("");
  std::string after = asked.query.text("after").value_or("");
  const auto limit = asked.query.number("limit", 1, kMostOfPage).value_or(kDefaultPage);
  if (auto error = asked.query.finish()) return problem(*error);
  return answer_step(
      asked, schedule::page_step(prefix, std::move(after), static_cast<std::uint32_t>(limit)),
      [identity = asked.identity, now = now_of(asked.service)](schedule::DefinitionPage page) {
        Response response;
        wire::JsonWriter json(response.body);
        json.begin_object().name("schedules").begin_array();
        for (const Definition& each : page.definitions) {
          if (identity->may(Scope::read, each.queue)) schedule::write_schedule(json, each, now);
        }
        json.end_array().text_field("next", page.next).end_object();
        return response;
      });
}

Routed get_schedule(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  return answer_step(
      asked, schedule::get_step(asked.name, needs(asked.identity, Scope::read)),
      [now = now_of(asked.service)](const Definition& found) { return shown(found, now); });
}

Routed put_schedule(Asked& asked) {
  auto wanted = schedule::decode(asked.name, asked.body, wire::Unknown::refused);
  if (!wanted) return problem(wanted.error());
  if (auto refused = check_queue(*asked.identity, Scope::admin, wanted->queue)) {
    return *std::move(refused);
  }
  auto may_replace = [identity = asked.identity](const Definition& stored) -> Result<void> {
    if (identity->may(Scope::admin, stored.queue)) return {};
    if (identity->may(Scope::read, stored.queue)) {
      return lacking(*identity, Scope::admin, stored.queue);
    }
    return Error{ErrorCode::permission_denied,
                 "schedule " + base::quoted(stored.name) + ": the name is taken"};
  };
  auto act = entry_of(Act::put_schedule, asked.name, wanted->queue);
  return answer_step(
      asked, schedule::put_step(*std::move(wanted), std::move(may_replace)),
      [name = asked.name](bool is_new) { return told(name, is_new ? "added" : "replaced"); },
      std::move(act));
}

Routed remove_schedule(Asked& asked) {
  if (auto error = asked.query.finish()) return problem(*error);
  if (auto error = wire::decode_nothing(asked.body)) return problem(*error);
  return answer_step(
      asked, schedule::remove_step(asked.name, needs(asked.identity, Scope::admin)),
      [](const Definition& removed) { return told(removed.name, "removed"); },
      entry_of(Act::remove_schedule, asked.name));
}

Routed pause_schedule(Asked& asked) { return set_paused(asked, true); }

Routed resume_schedule(Asked& asked) { return set_paused(asked, false); }

Routed run_schedule(Asked& asked) {
  if (auto error = wire::decode_nothing(asked.body)) return problem(*error);
  return answer_step(
      asked, schedule::run_now_step(asked.name, needs(asked.identity, Scope::push)),
      [name = asked.name](const std::string& key) {
        Response response;
        wire::JsonWriter json(response.body);
        json.begin_object().text_field("name", name).field("outcome", "pushed");
        json.text_field("key", key).end_object();
        return response;
      },
      entry_of(Act::run_schedule, asked.name));
}

Routed list_occurrences(Asked& asked) {
  const auto query = schedule::decode_occurrences_query(asked.body);
  if (!query) return problem(query.error());
  const auto recurrence = schedule::Recurrence::make(query->recurrence);
  if (!recurrence) return problem(recurrence.error());
  const Time from = query->from.value_or(now_of(asked.service));
  Response response;
  wire::JsonWriter json(response.body);
  schedule::write_occurrences(json, *recurrence,
                              schedule::occurrences(*recurrence, query->name, from, query->count));
  return response;
}

}  // namespace tarry::http
