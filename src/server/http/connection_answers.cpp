// What a connection asks of the engine through its session, and how it writes the answer.
#include <string>
#include <utility>
#include <variant>

#include "server/http/admission.h"
#include "server/http/connection.h"
#include "server/session/store_error.h"

namespace tarry::http {

using boost::system::error_code;

void Connection::dispatch() {
  context().meter.held(context().held.requests(), context().held.answers());
  Routed routed =
      route(front_.service(), reader_.parser().message(), request_.route, session_.address());
  if (auto* response = std::get_if<Response>(&routed)) {
    respond(std::move(*response));
    return;
  }
  auto& submission = std::get<Submission>(routed);
  if (const auto over = session_.admit(submission.request, submission.check)) {
    respond(too_much_held(*over));
    return;
  }
  submit(std::move(submission));
}

void Connection::submit(Submission submission) {
  state_ = State::asking;
  deadline_.clear();
  request_.answer = std::move(submission.answer);
  request_.then = std::move(submission.then);
  request_.check = submission.check;
  if (!session_.submit(std::move(submission.request), submission.check)) respond(no_memory());
}

void Connection::on_reply(session::HeldReply& reply) {
  Result<core::Reply>& result = reply.result();
  MakeResponse make = std::move(request_.answer);
  if (auto then = std::move(request_.then); result && then) {
    if (auto next = then(*result)) {
      submit(std::move(*next));
      return;
    }
  }
  if (result) {
    const std::string trouble = session::hide_paths(*result);
    Response response = make(*result);
    if (response.reason.empty()) response.reason = trouble;
    respond(std::move(response));
  } else if (request_.check == Check::health && session::is_away(result.error())) {
    core::Reply nothing;
    respond(make(nothing));
  } else if (request_.check != Check::none) {
    respond(unwell(result.error()));
  } else {
    respond(problem(result.error()));
  }
}

void Connection::on_refused(const session::Refusal& refusal) {
  using Why = session::Refusal::Why;
  request_.answer = nullptr;
  request_.then = nullptr;
  switch (refusal.why) {
    case Why::token_replaced: respond(token_replaced()); break;
    case Why::too_much_held: respond(too_much_held(refusal.over)); break;
    case Why::closing: respond(closing()); break;
  }
}

void Connection::note(const Response& response) {
  if (!context().requests.is_read()) return;
  session::RequestNote note;
  note.id = request_.id;
  if (reader_.has_begun()) note.method = reader_.parser().message().method;
  note.route = request_.route;
  note.status = response.status;
  note.reason = response.reason;
  if (reader_.has_head()) {
    note.took =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - request_.began);
  }
  context().requests.note(note, request_.let_in);
}

void Connection::respond_and_close(Response response) {
  response.close = true;
  respond(std::move(response));
}

void Connection::respond(Response response) {
  state_ = State::writing;
  session_.become_busy();
  note(response);
  context().meter.answered(std::exchange(request_.route, kNoRoute), response.status);
  keep_alive_ = keep_alive_ && !response.close && !context().draining;
  std::string head = head_of(response, request_.id, keep_alive_);
  // What follows the head of an answer to HEAD would be taken for the next answer.
  const bool head_only = reader_.has_begun() && reader_.parser().message().method == "HEAD";
  outgoing_.begin(std::move(head), head_only ? std::string() : std::move(response.body));
  session_.held().set_settling(false);
  hold_answer(outgoing_.body_size());
  deadline_.set(front_.options().write_deadline);
  write();
}

void Connection::write() {
  socket_.async_write_some(outgoing_.rest(), [this, self = shared_from_this()](
                                                 const error_code& error, std::size_t size) {
    guard([&] { on_write(error, size); });
  });
}

void Connection::on_write(const error_code& error, std::size_t size) {
  if (state_ == State::closed) return;
  if (error) {
    close();
    return;
  }
  if (outgoing_.advance(size)) {
    on_written();
  } else {
    deadline_.set(front_.options().write_deadline);
    write();
  }
}

void Connection::on_written() {
  session_.handed_over();
  outgoing_.end();
  reader_.next();
  request_.let_in = false;
  hold_answer(0);
  if (!keep_alive_) {
    linger();
    return;
  }
  state_ = State::reading;
  deadline_.set(between_requests());
  session_.become_idle();
  consume_ahead();
  if (state_ == State::reading && session_.has_client_ended()) {
    close();
    return;
  }
  read();
}

// Closing with bytes unread would reset the connection, and the client might never see the reply:
// many look for it only once they have sent all of their body. So that is thrown away, for as long
// as a body may take.
void Connection::linger() {
  if (session_.has_client_ended()) {
    close();
    return;
  }
  state_ = State::lingering;
  session_.become_idle();
  reader_.forget_ahead();
  session_.held().hold_input(reader_.memory());
  error_code ignored;
  socket_.shutdown(boost::asio::socket_base::shutdown_send, ignored);
  lingers_until_ = Clock::now() + front_.options().body_deadline;
  deadline_.set(kLinger, lingers_until_);
  read();
}

void Connection::hold_answer(std::uint64_t bytes) {
  session_.held().hold_answer(bytes, reader_.memory());
}

}  // namespace tarry::http
