#include "core/figures/why.h"

#include <optional>
#include <utility>

#include "base/text/text.h"
#include "core/settings/queue_limits.h"

namespace tarry::core {
namespace {

std::string text_of(Time time) { return base::format_time_ms(time.time_since_epoch().count()); }

std::string text_of(Millis duration) { return base::format_duration_ms(duration.count()); }

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string pause_text(const QueueStats& queue) {
  const std::string until = queue.paused_until ? text_of(*queue.paused_until)
                                               : "`tarry queue resume " + queue.queue + "`";
  return "the queue is paused until " + until;
}

std::string attempts_text(const MessageInfo& message, const QueueStats& queue) {
  const std::uint32_t most =
      message.max_attempts > 0 ? message.max_attempts : queue.settings.max_attempts;
  return std::to_string(message.attempt) +
         (most > 0 ? " of " + counted(most, "attempt", "attempts") + " made" : " attempts made");
}

Why of_ended(const MessageInfo& message) {
  if (!message.settlement) return {Cause::ended, "It has ended.", {}, {}};
  return {Cause::ended,
          "It was " + std::string(to_string(message.settlement->how)) + " at " +
              text_of(message.settlement->when) + ".",
          {},
          {}};
}

Why of_dead(const MessageInfo& message, const QueueStats& queue) {
  std::string text = "It is dead, " + attempts_text(message, queue) + ": " +
                     (message.reason.empty() ? "no reason was given" : message.reason) + ".";
  if (message.kept_until) text += " It is kept until " + text_of(*message.kept_until) + ".";
  text += " To make it due again: `tarry dead revive " + queue.queue + " " +
          base::quoted(message.key) + "`.";
  return {Cause::dead, std::move(text), {}, {}};
}

void tell_expiry(Why& why, const MessageInfo& message) {
  if (message.expire_at) why.text += " It expires at " + text_of(*message.expire_at) + ".";
}

Why of_scheduled(const MessageInfo& message, const QueueStats& queue) {
  const bool again = message.attempt > 0;
  std::string text =
      again ? attempts_text(message, queue) + "; the next one is due at " : "It is not due before ";
  text += text_of(message.due) + ".";
  if (queue.paused) {
    std::string pause = pause_text(queue);
    pause.front() = 'T';
    text += " " + pause + ".";
  }
  return {again ? Cause::retry_not_due : Cause::not_due, std::move(text), {}, {}};
}

Why of_leased(const MessageInfo& message, const QueueStats& queue) {
  std::string text = (message.holder.empty() ? "A consumer" : message.holder) + " has it, " +
                     attempts_text(message, queue);
  if (message.lease_left) {
    text += "; unless the lease is extended, it ends in " + text_of(*message.lease_left);
  }
  text += ".";
  if (!message.stopping) return {Cause::leased, std::move(text), {}, {}};
  text += " It was cancelled meanwhile: this delivery may finish, and no other begins.";
  return {Cause::stopping, std::move(text), {}, {}};
}

Why of_ready(const MessageInfo& message, const QueueStats& queue,
             const std::vector<IdleRelay>& relays) {
  const std::string since = "It has been due since " + text_of(message.due) + ", ";
  const auto say = [&](Cause cause, std::string text) {
    return Why{cause, since + std::move(text) + ".", {}, {}};
  };
  if (queue.paused) return say(Cause::paused, "but " + pause_text(queue));
  if (is_limited(message, queue)) {
    return say(Cause::limited, "but it is " + limit_held(message, queue));
  }
  if (queue.waiting_claims > 0) {
    return say(Cause::offered, "and " +
                                   counted(queue.waiting_claims, "claim waits", "claims wait") +
                                   ": the store hands it out now");
  }
  if (!relays.empty()) {
    const IdleRelay& relay = relays.front();
    return say(Cause::relay_down,
               "but the relay " + base::quoted(relay.name) +
                   (relay.ended ? " has ended with an error; the server's log has it"
                                : " has opened its breaker, because its sink does not answer"));
  }
  if (queue.leased == 0) {
    return say(Cause::no_consumer,
               "but no claim waits, and no message of the queue is leased: "
               "no consumer is at work");
  }
  std::string text = "but no claim waits: consumers have " +
                     counted(queue.leased, "other message", "other messages") +
                     " of the queue, and " + counted(queue.ready, "message is", "messages are") +
                     " ready";
  if (queue.oldest_ready) text += ", the oldest since " + text_of(*queue.oldest_ready);
  return say(Cause::consumers_busy, std::move(text));
}

Why cause_of(const MessageInfo& message, const QueueStats& queue,
             const std::vector<IdleRelay>& relays) {
  switch (message.state) {
    case State::remembered: return of_ended(message);
    case State::dead: return of_dead(message, queue);
    case State::scheduled: return of_scheduled(message, queue);
    case State::leased: return of_leased(message, queue);
    case State::ready: break;
  }
  return of_ready(message, queue, relays);
}

}  // namespace

Why why(MessageInfo message, QueueStats queue, const std::vector<IdleRelay>& relays) {
  Why why = cause_of(message, queue, relays);
  if (message.state != State::dead) tell_expiry(why, message);
  message.payload.clear();
  why.message = std::move(message);
  why.queue = std::move(queue);
  return why;
}

std::string why_unknown(std::string_view key, const QueueStats& queue) {
  const Millis remember = queue.settings.remember;
  return "the queue " + base::quoted(queue.queue) + " knows no message " + base::quoted(key) +
         ": none was pushed, or it has ended, and the queue " +
         (remember > Millis(0) ? "remembers ended messages for " + text_of(remember) + " only"
                               : "remembers no ended messages (remember = 0)");
}

}  // namespace tarry::core
