#include "server/beanstalk/connection.h"

#include <exception>
#include <utility>
#include <variant>

#include "core/engine_parts/away.h"
#include "server/session/front.h"
#include "server/session/server_context.h"
#include "server/session_parts/holders.h"
#include "server/session_parts/store_error.h"

namespace tarry::beanstalk {
namespace {

constexpr std::size_t kMostAhead = 256 * 1024;     // bytes of later commands while one is answered
constexpr std::size_t kMostReplies = 1024 * 1024;  // then they are sent before the next command
constexpr std::uint64_t kSmallBody = 4 * 1024;     // always comes in
constexpr Millis kLinger{1'000};
constexpr Millis kForEver = std::chrono::hours(24 * 365);

session::Urgency urgency_of(Verb verb) noexcept {
  switch (verb) {
    case Verb::erase:
    case Verb::release:
    case Verb::bury:
    case Verb::touch:
    case Verb::cancel_key:
    case Verb::ignore:
    case Verb::quit: return session::Urgency::settles;
    default: return session::Urgency::ordinary;
  }
}

std::string_view fault_word(Fault fault) noexcept {
  switch (fault) {
    case Fault::bad_format: return "BAD_FORMAT\r\n";
    case Fault::unknown_command: return "UNKNOWN_COMMAND\r\n";
    case Fault::too_big: return "JOB_TOO_BIG\r\n";
    case Fault::expected_crlf: return "EXPECTED_CRLF\r\n";
    case Fault::out_of_memory: return kOutOfMemory;
    case Fault::none: break;
  }
  return kInternalError;
}

unsigned status_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::too_big: return 413;
    case Fault::out_of_memory: return 429;
    default: return 400;
  }
}

}  // namespace

Connection::Connection(Front& front, listening::Stream stream)
    : session::Connection(front, std::move(stream)),
      front_(front),
      reader_(front.options().max_job),
      client_(front.shared()),
      commands_(front.options().clocks, front.options().max_job, front.shared(), client_, *this) {}

Connection::Incoming Connection::incoming() const noexcept {
  if (reader_.is_empty()) return Incoming::nothing;
  return reader_.awaited() > 0 ? Incoming::body : Incoming::head;
}

bool Connection::is_full() const noexcept { return !is_reading() && reader_.size() > kMostAhead; }

Millis Connection::first_deadline() const {
  return context().options.tokens.required() ? front_.options().command_deadline : kForEver;
}

Millis Connection::idle_deadline() const { return kForEver; }

void Connection::free_memory() noexcept {
  then_ = nullptr;
  reader_.forget();
  replies_ = {};
}

std::vector<core::SettleRequest> Connection::on_close() noexcept {
  try {
    return client_.leave();
  } catch (const std::exception& error) {
    context().warn_of(error);  // the leases run out
    return {};
  }
}

void Connection::on_bytes(std::string_view bytes) {
  reader_.append(bytes);
  arrived_ += bytes.size();
  if (is_reading()) work();
}

// A refusal, or a reply without the engine, may come while a step is being taken: the loop goes on
// then, so that the stack does not grow with the client's commands.
void Connection::work() {
  if (working_) return;
  working_ = true;
  struct Done {
    bool& working;
    ~Done() { working = false; }
  } const done{working_};
  while (step()) {
  }
}

// Returns false if the connection has to wait: for the engine, for bytes, or until replies are
// sent.
bool Connection::step() {
  if (asking_) return false;
  if (commands_.has_more()) {
    if (!replies_.empty()) {
      flush();
      return false;
    }
    follow(commands_.run_more());
    return true;
  }
  if (!closing_ && replies_.size() < kMostReplies) {
    if (const auto command = reader_.next()) {
      begin(*command);
      return true;
    }
    if (reader_.is_lost()) closing_ = true;
  }
  if (replies_.empty() && !closing_) {
    wait_for_more();
  } else {
    flush();
  }
  return false;
}

void Connection::begin(const Command& command) {
  verb_ = command.verb;
  in_batch_ = 1;
  has_part_ = false;
  began_ = Clock::now();
  count(command);
  if (command.fault == Fault::none && command.verb == Verb::quit) {
    closing_ = true;
    return;
  }
  if (command.fault == Fault::none && command.verb == Verb::auth) return authenticate(command);
  if (!let_in(command)) return;
  if (command.fault != Fault::none) {
    return reply(say(std::string(fault_word(command.fault)), status_of(command.fault)));
  }
  follow(commands_.run(command));
}

// Counts only what beanstalkd counts: commands that it could read.
void Connection::count(const Command& command) noexcept {
  if (command.fault == Fault::bad_format || command.fault == Fault::unknown_command) return;
  ++front_.shared().counts.commands[static_cast<std::size_t>(command.verb)];
}

bool Connection::let_in(const Command& command) {
  const identity::Tokens& tokens = context().options.tokens;
  const bool known = token_ != nullptr && tokens.still_know(*token_) &&
                     !token_->has_ended(context().options.token_clock());
  if (tokens.required() && !known) {
    session().set_identity(nullptr);
    reply(say(std::string(kUnauthorized), 401));
    return false;
  }
  session().set_identity(tokens.required() ? token_ : identity::anyone());
  if (const auto refused = session().begin(urgency_of(command.verb))) {
    on_refused(*refused);
    return false;
  }
  return true;
}

void Connection::authenticate(const Command& command) {
  const identity::Tokens& tokens = context().options.tokens;
  token_ = tokens.find(command.name);
  const bool good = token_ != nullptr && !token_->has_ended(context().options.token_clock());
  if (good || !tokens.required()) {
    session().set_identity(good ? token_ : identity::anyone());
    return reply(say("AUTHORIZED\r\n"));
  }
  token_ = nullptr;
  session().set_identity(nullptr);
  const bool slow_down = context().token_failures.too_many(session().peer(), Clock::now());
  closing_ = true;
  reply(say(std::string(slow_down ? kOutOfMemory : kUnauthorized), slow_down ? 429 : 401));
}

std::optional<Command> Connection::another(const std::function<bool(const Command&)>& fits) {
  auto command = reader_.next();
  if (!command) return std::nullopt;
  // With a limit of requests each command asks for leave, and so begins a batch of its own.
  const bool is_limited = context().options.requests_per_second.any() || session().is_on_reserve();
  if (is_limited || command->fault != Fault::none || !fits(*command)) {
    reader_.rewind();
    return std::nullopt;
  }
  count(*command);
  ++in_batch_;
  return command;
}

const identity::Identity& Connection::identity() const noexcept {
  return token_ != nullptr ? *token_ : *identity::anyone();
}

bool Connection::is_draining() const noexcept { return context().draining; }

void Connection::claimed(const core::ClaimReply& reply) {
  context().holders.note(reply, session::holder_name(session().address(), nullptr));
}

void Connection::follow(Next next) {
  if (next.request) {
    then_ = std::move(next.then);
    asking_ = true;
    ask(*std::move(next.request));
  } else if (!next.reply.empty()) {
    reply(std::move(next));
  }
}

void Connection::on_reply(session::HeldReply& held) {
  asking_ = false;
  Result<core::Reply>& result = held.result();
  const bool claims = result && std::holds_alternative<core::ClaimReply>(*result);
  if (result) static_cast<void>(session::hide_paths(*result));
  Then then = std::move(then_);
  Next next = then(result);
  // The client has the messages now: they are released when its connection closes.
  if (claims) session().handed_over();
  follow(std::move(next));
  work();
}

void Connection::on_refused(const session::Refusal& refusal) {
  using Why = session::Refusal::Why;
  if (is_reading() && !working_) return close();  // late, or without memory for what has come
  asking_ = false;
  then_ = nullptr;
  static_cast<void>(commands_.drop_claim());
  Next next;
  switch (refusal.why) {
    case Why::closing:
    case Why::late: closing_ = true; break;
    case Why::token_not_valid:
      closing_ = true;
      next = say(std::string(kUnauthorized), 401);
      break;
    default:
      for (std::size_t i = 0; i < in_batch_; ++i) next.reply += kOutOfMemory;
      next.status = 429;
      break;
  }
  if (next.reply.empty()) {
    report(verb_, 503, {});
  } else {
    reply(std::move(next));
  }
  work();
}

void Connection::reply(Next next) {
  replies_ += next.reply;
  const std::string reason = next.error ? next.error->message : std::string();
  const std::size_t answered = in_batch_ - std::min(in_batch_, commands_.pending());
  for (std::size_t i = 0; i < answered; ++i) report(verb_, next.status, reason);
  in_batch_ -= answered;
}

void Connection::report(Verb verb, unsigned status, std::string_view reason) {
  session::RequestNote note;
  note.method = to_string(verb);
  note.route = to_string(verb);
  note.status = status;
  note.reason = reason;
  note.took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began_);
  session().answered(note);
}

// Some of a command may be here already.
void Connection::wait_for_more() {
  if (reader_.awaited() > kSmallBody && session().held().requests_over()) reader_.refuse_body();
  hold_request(reader_.is_empty() ? 0 : reader_.memory());
  // The deadline is that of the whole command: a client that sends a byte now and then does not
  // move it.
  if (reader_.is_empty() || std::exchange(has_part_, true)) return;
  set_deadline(front_.options().command_deadline);
}

void Connection::flush() {
  if (replies_.empty()) return close();
  begin_answers();
  context().meter.held(context().held.requests(), context().held.answers());
  send({}, std::exchange(replies_, {}));
}

// A drain may begin while replies are being sent. Commands that have arrived by then, in part or
// whole, are still answered; later ones are not, or a client could hold up the drain.
bool Connection::is_drained() noexcept {
  if (!context().draining || commands_.has_more()) return false;
  if (!drained_at_) drained_at_ = arrived_;
  return arrived_ - reader_.size() >= *drained_at_;
}

void Connection::on_sent() {
  if (closing_ || is_drained() || session().is_on_reserve()) {
    linger(kLinger);
  } else {
    next_request();
  }
}

}  // namespace tarry::beanstalk
