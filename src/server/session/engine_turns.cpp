#include "server/session/engine_turns.h"

#include <exception>
#include <utility>

#include <boost/asio/post.hpp>

#include "server/session/connection.h"
#include "server/session/server_context.h"
#include "server/session/session.h"

namespace tarry::session {

void EngineTurns::prepare(const listening::Executor& executor) {
  if (prepared_) return;
  boost::asio::post(executor, [this] { lend(); });
  prepared_ = true;
}

core::Ticket EngineTurns::submit(core::Request request, core::Completion completion) {
  return context_.engine.submit_lending(std::move(request), std::move(completion), lent_);
}

void EngineTurns::lend() noexcept {
  prepared_ = false;
  lender_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  context_.engine.lend(lent_);
  lender_.store({}, std::memory_order_relaxed);
  take_answers();
}

void EngineTurns::answered(Answer& answer, EngineWork work) noexcept {
  bool was_empty = false;
  {
    const std::scoped_lock lock(mutex_);
    was_empty = first_ == nullptr;
    (was_empty ? first_ : last_->next) = &answer;
    last_ = &answer;
  }
  const bool here =
      lender_.load(std::memory_order_relaxed) == std::this_thread::get_id();  // `lend` takes it
  if (was_empty && !here) work.post([this] { take_answers(); });
}

void EngineTurns::take_answers() noexcept {
  Answer* answer = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    answer = std::exchange(first_, nullptr);
  }
  while (answer != nullptr) {
    const std::shared_ptr<Connection> owner = std::move(answer->owner);
    Session& session = *answer->session;
    answer = std::exchange(answer->next, nullptr);
    try {
      session.take_answer(owner);
    } catch (const std::exception& error) {
      context_.warn_of(error);
    }
  }
}

}  // namespace tarry::session
