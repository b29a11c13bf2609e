// Step: the next step of a verb on schedules: a request to the engine and its continuation, or the
// verb's end. So the same verb can wait for the engine on its own thread (`run`), or go on in a
// server's callbacks.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <utility>

#include <tarry/result.h>
#include <tarry/store.h>

#include "base/unique_function.h"
#include "core/reply.h"
#include "core/request.h"
#include "open/handles/ask.h"

namespace tarry::schedule {

template <typename T>
struct Step {
  std::optional<Result<T>> end = {};  // if set, there is no request
  core::Request request = {};
  base::UniqueFunction<Step(Result<core::Reply>)> then = {};
};

template <typename T>
[[nodiscard]] Step<T> ended(Result<T> result) {
  Step<T> step;
  step.end.emplace(std::move(result));
  return step;
}

/// Asks the question, and goes on with `next`, which gets a Result<A> and returns the next Step<T>.
template <typename T, typename A, typename Next>
[[nodiscard]] Step<T> asks(detail::Question<A> question, Next next) {
  Step<T> step;
  step.request = std::move(question.request);
  step.then = [read = std::move(question.read),
               next = std::move(next)](Result<core::Reply> reply) mutable -> Step<T> {
    if (!reply) return next(Result<A>(std::move(reply).error()));
    return next(read(*std::move(reply)));
  };
  return step;
}

/// Goes on with `next` when `step` has ended without an error. `next` gets an A, and returns the
/// next Step<T>.
template <typename T, typename A, typename Next>
[[nodiscard]] Step<T> after(Step<A> step, Next next) {
  if (step.end) {
    if (!*step.end) return ended<T>(std::move(*step.end).error());
    return next(**std::move(step.end));
  }
  Step<T> more;
  more.request = std::move(step.request);
  more.then = [then = std::move(step.then),
               next = std::move(next)](Result<core::Reply> reply) mutable -> Step<T> {
    return after<T>(then(std::move(reply)), std::move(next));
  };
  return more;
}

/// Carries the verb out and waits for its end.
template <typename T>
[[nodiscard]] Result<T> run(const Store& store, Step<T> step) {
  while (!step.end) {
    step = step.then(detail::wait_for(store.engine(), std::move(step.request)));
  }
  return *std::move(step.end);
}

}  // namespace tarry::schedule
