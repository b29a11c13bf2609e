// A connection's requests to the engine, and its answers.
#include <string>
#include <utility>
#include <variant>

#include "core/away.h"
#include "server/http/acts.h"
#include "server/http/connection.h"
#include "server/http/sender_check.h"
#include "server/session/store_error.h"

namespace tarry::http {

void Connection::dispatch() {
  context().meter.held(context().held.requests(), context().held.answers());
  Routed routed = route(front_.service(), reader_.parser().message(), request_.route,
                        {session().identity(), session().address()});
  if (auto* response = std::get_if<Response>(&routed)) {
    if (session().is_audited()) {
      session().audit(refused_act(reader_.parser().message()));
    }
    respond(std::move(*response));
    return;
  }
  auto& submission = std::get<Submission>(routed);
  if (session().is_audited()) session().audit(act_of(submission));
  core::Request request = begin(std::move(submission));
  ask(std::move(request), request_.check);
}

core::Request Connection::begin(Submission submission) {
  request_.answer = std::move(submission.answer);
  request_.then = std::move(submission.then);
  request_.check = submission.check;
  return std::move(submission.request);
}

void Connection::on_reply(session::HeldReply& reply) {
  Result<core::Reply>& result = reply.result();
  MakeResponse make = std::move(request_.answer);
  if (auto then = std::move(request_.then); result && then) {
    if (auto next = then(*result)) {
      core::Request request = begin(std::move(*next));
      ask_more(std::move(request), request_.check);
      return;
    }
  }
  if (result) {
    const std::string trouble = session::hide_paths(*result);
    Response response = make(*result);
    if (response.reason.empty()) response.reason = trouble;
    respond(std::move(response));
  } else if (request_.check == Check::health && core::is_away(result.error().code)) {
    core::Reply nothing;
    respond(make(nothing));
  } else if (request_.check != Check::none) {
    respond(unwell(result.error()));
  } else {
    respond(problem(result.error()));
  }
}

void Connection::on_refused(const session::Refusal& refusal) {
  request_.answer = nullptr;
  request_.then = nullptr;
  Response response = response_of(refusal);
  if (is_reading()) {
    if (refusal.why == session::Refusal::Why::no_memory) reader_.forget_bytes();
    if (!reader_.has_head()) request_.id = context().make_request_id();
    response.close = true;
  }
  respond(std::move(response));
}

Response Connection::response_of(const session::Refusal& refusal) {
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
                     reader_.has_head() ? "the body did not arrive in time"
                                        : "the request's head did not arrive in time");
    case Why::closing: return closing();
    case Why::no_memory: break;
  }
  return no_memory();
}

void Connection::begin_answer_of(const Response& response) {
  session::RequestNote note;
  note.id = request_.id;
  if (reader_.has_begun()) note.method = reader_.parser().message().method;
  note.route = std::exchange(request_.route, kNoRoute);
  note.status = response.status;
  note.reason = response.reason;
  note.code = response.code;
  note.detail = response.detail;
  if (reader_.has_head()) {
    // A request that was refused before it was routed is an act too.
    if (note.route == kNoRoute && session().is_audited()) {
      session().audit(refused_act(reader_.parser().message()));
    }
    note.took =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - request_.began);
  }
  begin_answer(note);
}

void Connection::respond_and_close(Response response) {
  response.close = true;
  respond(std::move(response));
}

void Connection::respond(Response response) {
  begin_answer_of(response);
  keep_alive_ = keep_alive_ && !response.close && !context().draining;
  std::string head = head_of(response, request_.id, keep_alive_);
  // A body after the head of an answer to HEAD would be taken for the next answer.
  const bool head_only = reader_.has_begun() && reader_.parser().message().method == "HEAD";
  send(std::move(head), head_only ? std::string() : std::move(response.body));
}

void Connection::on_sent() {
  reader_.next();
  session().set_identity(nullptr);
  if (keep_alive_) {
    next_request();
    return;
  }
  reader_.forget_ahead();
  linger(front_.options().body_deadline);
}

}  // namespace tarry::http
