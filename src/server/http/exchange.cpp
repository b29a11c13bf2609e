#include "server/http/exchange.h"

#include <string>
#include <utility>
#include <variant>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "core/engine_parts/away.h"
#include "server/http/handlers/acts.h"
#include "server/http/sender_check.h"
#include "server/session_parts/store_error.h"

namespace tarry::http {

session::Urgency Exchange::urgency_of(const net::HttpMessage& message) const {
  using session::Urgency;
  if (leaves_less_work(message)) return Urgency::settles;
  return is_probe(message) ? Urgency::probe : Urgency::ordinary;
}

std::optional<Response> Exchange::check_head(const net::HttpMessage& message) {
  if (auto refused = check_sender(
          message, {front_.options().hosts, session().local_host(), session().is_encrypted()})) {
    return refused;
  }
  auto who = recognise(message, context().options.tokens, context().options.token_clock(),
                       &front_.sessions());
  if (auto* refused = std::get_if<Response>(&who)) return slowed_down(std::move(*refused));
  session().set_identity(std::get<identity::IdentityPtr>(std::move(who)));
  const std::string* expect = message.find("Expect");
  if (expect != nullptr && !base::equals_ignoring_case(*expect, "100-continue")) {
    return problem(417, ErrorCode::invalid_argument,
                   "the field Expect " + base::quoted(*expect) +
                       " is not 100-continue, which is all that may be expected");
  }
  return std::nullopt;
}

Response Exchange::slowed_down(Response refused) {
  if (refused.status != 401) return refused;
  const bool slow_down = context().token_failures.too_many(session().peer(), Clock::now());
  return slow_down ? too_many_failures() : std::move(refused);
}

void Exchange::dispatch() {
  context().meter.held(context().held.requests(), context().held.answers());
  std::string_view pattern;
  Routed routed =
      http::route(front_.service(), message(), pattern,
                  {session().identity(), session().address(), session().is_encrypted()});
  set_route(pattern);
  if (auto* response = std::get_if<Response>(&routed)) {
    if (session().is_audited()) {
      auto entry = refused_act(message());
      if (entry != nullptr) entry->session_of = response->session_of;
      session().audit(std::move(entry));
    }
    respond(slowed_down(std::move(*response)));
    return;
  }
  auto& submission = std::get<Submission>(routed);
  if (session().is_audited()) session().audit(act_of(submission));
  core::Request request = begin(std::move(submission));
  ask(std::move(request), check_);
}

core::Request Exchange::begin(Submission submission) {
  answer_ = std::move(submission.answer);
  then_ = std::move(submission.then);
  check_ = submission.check;
  return std::move(submission.request);
}

void Exchange::on_reply(session::HeldReply& reply) {
  Result<core::Reply>& result = reply.result();
  MakeResponse make = std::move(answer_);
  if (auto then = std::move(then_)) {
    if (auto next = then(result)) {
      if (auto* response = std::get_if<Response>(&*next)) return respond(std::move(*response));
      core::Request request = begin(std::move(std::get<Submission>(*next)));
      ask_more(std::move(request), check_);
      return;
    }
  }
  if (result) {
    const std::string trouble = session::hide_paths(*result);
    Response response = make(*result);
    if (response.reason.empty()) response.reason = trouble;
    respond(std::move(response));
  } else if (check_ == Check::health && core::is_away(result.error().code)) {
    core::Reply nothing;
    respond(make(nothing));
  } else if (check_ != Check::none) {
    respond(unwell(result.error()));
  } else {
    respond(problem(result.error()));
  }
}

void Exchange::forget_request() noexcept {
  answer_ = nullptr;
  then_ = nullptr;
}

Response Exchange::response_of(const session::Refusal& refusal) {
  using Why = session::Refusal::Why;
  switch (refusal.why) {
    case Why::too_many_connections:
      return problem(503, ErrorCode::unavailable,
                     "there are " + std::to_string(context().options.max_connections) +
                         " connections already, which is the limit; try again");
    case Why::token_not_valid: return token_not_valid();
    case Why::over_limit: return limit_reached(refusal.reached);
    case Why::too_much_held: return too_much_held(refusal.over);
    case Why::late:
      return problem(408, ErrorCode::unavailable,
                     has_head() ? "the body did not arrive in time"
                                : "the request's head did not arrive in time");
    case Why::closing: return closing();
    case Why::no_memory: break;
  }
  return no_memory();
}

Response Exchange::response_of(net::HttpFault fault, std::string_view text) {
  switch (fault) {
    case net::HttpFault::head_too_large: return problem(431, ErrorCode::too_large, text);
    case net::HttpFault::body_too_large: return problem(413, ErrorCode::too_large, text);
    case net::HttpFault::unsupported_coding: return problem(501, ErrorCode::unsupported, text);
    case net::HttpFault::malformed: break;
  }
  return problem(400, ErrorCode::invalid_argument, text);
}

std::string Exchange::head_of(const Response& response, bool keep_alive) {
  return http::head_of(response, request_id(), keep_alive);
}

void Exchange::audit_refused() { session().audit(refused_act(message())); }

}  // namespace tarry::http
