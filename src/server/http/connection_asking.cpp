// What a connection asks of the engine, and what becomes of the answer.
#include <poll.h>

#include <limits>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>

#include "server/http/admission.h"
#include "server/http/connection.h"
#include "server/session/store_error.h"
#include "wire/problem.h"

namespace tarry::http {
namespace {

namespace asio = boost::asio;

constexpr Millis kMemoryPause{10};

// What the engine owes keeps the server's thread from ending; until it is paid, and not for as long
// as the engine happens to keep the completion.
class Work {
 public:
  explicit Work(const Executor& executor)
      : executor_(asio::require(executor, asio::execution::outstanding_work.tracked)) {}

  /// A small task that can be copied. The engine's thread waits where there is not even the memory
  /// for that: what it answers must not be lost.
  template <typename Task>
  void post(Task task) noexcept {
    const auto executor = std::move(*executor_);
    executor_.reset();
    for (;;) {
      try {
        asio::post(executor, task);
        return;
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(kMemoryPause);
      }
    }
  }

 private:
  using Tracked =
      decltype(asio::require(std::declval<Executor>(), asio::execution::outstanding_work.tracked));
  std::optional<Tracked> executor_;
};

// Of a batch with some items of which the store itself was at fault (no space, mostly): why. The
// answer as a whole is 200 all the same, and nothing else would tell who runs the server.
// Empty: of none.
std::string tell_no_paths(core::Reply& reply) {
  std::string trouble;
  const auto in = [&](auto& items) {
    for (auto& item : items) {
      if (!item.error || !session::may_name_files(item.error->code)) continue;
      std::string told = session::without_paths(item.error->message);
      if (trouble.empty() && wire::status_of(item.error->code) >= 500) {
        trouble = std::exchange(item.error->message, std::move(told));
      } else {
        item.error->message = std::move(told);
      }
    }
  };
  if (auto* pushed = std::get_if<core::PushReply>(&reply)) in(pushed->items);
  if (auto* items = std::get_if<core::ItemsReply>(&reply)) in(items->items);
  return trouble;
}

// Whatever is answered with what is stored: as much as the store has, while a change is answered
// with a few words for each item.
bool reads(const core::Request& request) noexcept {
  return std::visit(
      [](const auto& asked) {
        using Asked = std::decay_t<decltype(asked)>;
        return std::is_same_v<Asked, core::ClaimRequest> ||
               std::is_same_v<Asked, core::GetRequest> ||
               std::is_same_v<Asked, core::ListRequest> ||
               std::is_same_v<Asked, core::StatsRequest> ||
               std::is_same_v<Asked, core::ForecastRequest>;
      },
      request);
}

// What a claim takes besides its body for as long as it waits.
std::uint64_t size_of(const core::ClaimRequest& claim) noexcept {
  return (claim.queues.size() + claim.keys.size()) * sizeof(std::string);
}

}  // namespace

// What waits, and answers that nobody takes, count too: who reads on meanwhile makes more of them.
// What settles or cancels makes less, and is let through. Probes are small.
void Connection::admit(Submission submission) {
  if (const auto* claim = std::get_if<core::ClaimRequest>(&submission.request)) {
    hold_answer(request_bytes_ + size_of(*claim));
  }
  reading_ = submission.check == Check::none && reads(submission.request);
  if (auto busy = reading_ ? too_many_answers_held() : std::nullopt) {
    respond(*std::move(busy));
    return;
  }
  submit(std::move(submission));
}

namespace {

Response too_much(std::string_view what, std::uint64_t limit) {
  return problem(429, ErrorCode::unavailable,
                 over_limit("sum of all " + std::string(what) + " that are held", limit));
}

}  // namespace

std::optional<Response> Connection::too_many_requests_held() const {
  const std::uint64_t limit = hub_.options.max_held_bytes / session::kHeldShare;
  if (hub_.held_requests - counted_.requests > limit) return too_much("requests", limit);
  if (peer_->held.requests - counted_.requests <= limit / session::kPeerShare) return std::nullopt;
  return too_much("requests of " + peer_->name, limit / session::kPeerShare);
}

std::optional<Response> Connection::too_many_answers_held(std::uint64_t more) const {
  const std::uint64_t limit = hub_.options.max_held_bytes / session::kHeldShare;
  if (hub_.held_answers - counted_.answers - more > limit) return too_much("answers", limit);
  if (peer_->held.answers - counted_.answers <= limit / session::kPeerShare) return std::nullopt;
  return too_much("answers to " + peer_->name, limit / session::kPeerShare);
}

void Connection::submit(Submission submission) {
  state_ = State::asking;
  clear_deadline();
  answer_ = std::move(submission.answer);
  then_ = std::move(submission.then);
  check_ = submission.check;
  claiming_ = std::holds_alternative<core::ClaimRequest>(submission.request);
  // How much is read nobody knows before: most claims ask for more than there is.
  const std::uint64_t limit =
      reading_ ? hub_.options.max_held_bytes / session::kHeldShare + counted_.answers
               : std::numeric_limits<std::uint64_t>::max();
  auto completion = [self = shared_from_this(), limit,
                     work = Work(socket_.get_executor())](Result<core::Reply> result) mutable {
    self->reply_.emplace(std::move(result), self->hub_.held_answers, limit);
    work.post([self = std::move(self)] {
      if (!self->claiming_) return self->on_reply();
      self->hub_.turns.run(self->socket_.get_executor(), [self] { self->on_reply(); });
    });
  };
  const auto holders = weak_from_this().use_count();
  try {
    ticket_ = hub_.engine.submit(std::move(submission.request), std::move(completion));
  } catch (const std::bad_alloc& error) {
    hub_.warn_of(error);
    // What the engine has kept the completion of it may carry out all the same.
    if (weak_from_this().use_count() < holders) {
      respond(no_memory());
    } else {
      close();
    }
    return;
  }
  if (hub_.draining || peer_ended_) withdraw_claim();
}

void Connection::withdraw_claim() {
  if (claiming_ && ticket_ != 0) hub_.engine.withdraw(ticket_);
}

void Connection::on_reply() {
  session::HeldReply reply = *std::exchange(reply_, std::nullopt);
  const Result<core::Reply>& result = reply.result();
  ticket_ = 0;
  const auto* claimed = result ? std::get_if<core::ClaimReply>(&*result) : nullptr;
  if (claimed != nullptr && claiming_ && !take_receipts(*claimed)) {
    close();
    release_unsent();  // where it was closed already
    return;
  }
  guard([&] { answer(std::move(reply)); });
}

void Connection::answer(session::HeldReply reply) {
  Result<core::Reply>& result = reply.result();
  MakeResponse make = std::move(answer_);
  auto then = std::move(then_);
  if (!result) {
    if (!session::is_away(result.error())) hub_.service.engine_suspect = true;
  } else if (check_ == Check::health) {
    hub_.service.engine_suspect = false;
  }
  if (state_ == State::closed) {
    release_unsent();
    return;
  }
  if (claiming_ && (peer_ended_ || has_hung_up())) {
    close();
    return;
  }
  if (std::exchange(revoked_, false)) {
    release_unsent();
    respond(token_replaced());
    return;
  }
  // In JSON it may be several times as large, and others' may have become that meanwhile.
  auto busy = reading_ ? too_many_answers_held(reply.bytes()) : std::nullopt;
  if (reply.refused() && !busy) {
    busy = too_much("answers", hub_.options.max_held_bytes / session::kHeldShare);
  }
  if (busy) {
    release_unsent();
    respond(*std::move(busy));
    return;
  }
  // An empty answer would say that nothing was due, and be asked for again at once.
  const auto* claimed = result ? std::get_if<core::ClaimReply>(&*result) : nullptr;
  if (claiming_ && hub_.draining && claimed != nullptr && claimed->items.empty()) {
    respond(closing());
    return;
  }
  if (result && then) {
    if (const auto next = then(*result)) {
      reading_ = reads(next->request);
      submit(std::move(*next));
      return;
    }
  }
  if (result) {
    const std::string trouble = tell_no_paths(*result);
    Response response = make(*result);
    if (response.reason.empty()) response.reason = trouble;
    respond(std::move(response));
  } else if (check_ == Check::health && session::is_away(result.error())) {
    core::Reply nothing;
    respond(make(nothing));
  } else if (check_ != Check::none) {
    respond(unwell(result.error()));
  } else {
    Error error = std::move(result).error();
    // Where nothing was to change, nothing is in doubt.
    if (reading_ && !claiming_ && session::is_away(error)) error.code = ErrorCode::unavailable;
    respond(problem(error));
  }
}

// Without receipts nothing can be given back, so all else makes room for them.
bool Connection::take_receipts(const core::ClaimReply& reply) {
  try {
    collect_receipts(reply);
    return true;
  } catch (const std::bad_alloc&) {
    unsent_ = {};
    answer_ = nullptr;
    parser_.reset();
    held_ = {};
  }
  try {
    collect_receipts(reply);
  } catch (const std::bad_alloc& error) {
    unsent_ = {};
    hub_.warn_of(error);
  }
  return false;
}

void Connection::collect_receipts(const core::ClaimReply& reply) {
  std::size_t bytes = 0;
  for (const core::ClaimedItem& item : reply.items) bytes += item.receipt.size;
  unsent_.items.reserve(reply.items.size());
  unsent_.bytes.reserve(bytes);
  for (const core::ClaimedItem& item : reply.items) {
    core::SettleItem release;
    release.receipt = core::append(unsent_.bytes, core::view(reply.bytes, item.receipt));
    release.action = core::SettleAction::release;
    unsent_.items.push_back(release);
  }
}

void Connection::release_unsent() {
  if (unsent_.items.empty()) return;
  const std::size_t count = unsent_.items.size();
  auto completion = [&hub = hub_, work = Work(socket_.get_executor()),
                     count](Result<core::Reply> result) mutable {
    if (result) return work.post([] {});
    work.post([&hub, count, error = std::move(result).error()] {
      if (!session::is_away(error)) hub.service.engine_suspect = true;
      hub.warn("not_released",
               std::to_string(count) +
                   " claimed messages could not be released, and wait for their leases: " +
                   error.message);
    });
  };
  try {
    hub_.engine.submit(std::exchange(unsent_, {}), std::move(completion));
  } catch (const std::exception& error) {
    hub_.warn_of(error);  // they wait for their leases
  }
}

// The read that is outstanding may not have been told yet what the kernel knows; nor would it find
// the end behind bytes that are unread.
bool Connection::has_hung_up() {
  pollfd socket{socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) > 0;
}

}  // namespace tarry::http
