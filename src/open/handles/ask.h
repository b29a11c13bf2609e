// How verbs call the engine. A Question holds the request and the function that reads its reply;
// `ask` sends it, either blocking or with a callback.
//
// Thread safety: a Question belongs to one thread; `ask` may be called from any.
#pragma once

#include <memory>
#include <new>
#include <stop_token>
#include <utility>
#include <vector>

#include <tarry/queue.h>
#include <tarry/result.h>

#include "base/unique_function.h"
#include "core/engine.h"
#include "open/handles/store_state.h"

namespace tarry::detail {

template <typename T>
struct Question {
  core::Request request;
  base::UniqueFunction<Result<T>(core::Reply)> read;
};

/// Submits the request and waits. Error: `misuse` on a thread of an engine, because that thread
/// would wait for itself.
[[nodiscard]] Result<core::Reply> wait_for(core::Engine& engine, core::Request request);
/// The same. Error: `misuse` in a forked child too, because a child has none of the engine's
/// threads.
[[nodiscard]] Result<core::Reply> wait_for(const StoreState& state, core::Request request);
/// Whether the request is a claim with settlements. They are carried out even if its stop was
/// requested before.
[[nodiscard]] bool settles(const core::Request& request) noexcept;
/// The same for a claim. The claim is withdrawn when `stop` is requested.
[[nodiscard]] Result<core::Reply> wait_for(const StoreState& state, core::Request request,
                                           std::stop_token stop);

/// Answers `completion` with the `misuse` of a forked child. It does so on a new thread, because
/// the child has none of the engine's threads.
void complete_in_child(const StoreState& state, core::Completion completion);

/// Runs `task` on the executor; if there is none, on the calling thread.
void run_callback(const std::shared_ptr<const Executor>& executor,
                  base::UniqueFunction<void()> task) noexcept;

/// Reads the reply to a question.
template <typename T>
[[nodiscard]] Result<T> told(Question<T>& question, Result<core::Reply> reply) {
  if (!reply) return std::move(reply).error();
  try {
    return question.read(*std::move(reply));
  } catch (const std::bad_alloc&) {
    // The verb was carried out; only its answer is lost. (A text this short needs no memory.)
    return Unexpected(ErrorCode::unknown_outcome, "out of memory");
  }
}

template <typename T>
[[nodiscard]] Result<T> ask(const StoreState& state, Question<T> question) {
  Result<core::Reply> reply = wait_for(state, std::move(question.request));
  return told(question, std::move(reply));
}

/// Passes the reply on to `done`, on the executor.
template <typename T>
[[nodiscard]] core::Completion completion_for(const StoreState& state, Question<T>& question,
                                              Callback<T> done) {
  return [executor = state.executor(), read = std::move(question.read),
          done = std::move(done)](Result<core::Reply> reply) mutable {
    if (!done) return;
    run_callback(executor, [read = std::move(read), done = std::move(done),
                            reply = std::move(reply)]() mutable {
      if (reply) {
        done(read(*std::move(reply)));
      } else {
        done(std::move(reply).error());
      }
    });
  };
}

template <typename T>
void ask(const StoreState& state, Question<T> question, Callback<T> done) {
  core::Completion completion = completion_for(state, question, std::move(done));
  if (state.is_in_child()) return complete_in_child(state, std::move(completion));
  state.engine().submit(std::move(question.request), std::move(completion));
}

/// Makes a question for one item from a batch of one. An error of the item becomes the error of the
/// question.
template <typename T>
[[nodiscard]] Question<T> single(Question<std::vector<Result<T>>> batch) {
  return {std::move(batch.request), [read = std::move(batch.read)](core::Reply reply) mutable {
            Result<std::vector<Result<T>>> items = read(std::move(reply));
            if (!items) return Result<T>(std::move(items).error());
            return std::move(items->front());
          }};
}

}  // namespace tarry::detail
