// The verbs for programs on Boost.Asio: any completion token (`use_future`, `use_awaitable`,
// `deferred`, a handler) instead of the callback.
//
//   #include <tarry/asio.h>
//
//   auto claimed = tarry::async_claim(queue, {.max = 10, .wait = 1min}, boost::asio::use_future);
//   Result<Answer> acked = co_await tarry::async_ack(queue, receipt, boost::asio::use_awaitable);
//   tarry::async<QueueStats>([queue](auto done) { queue.stats(std::move(done)); }, token);
//
// It needs Boost.Asio (1.81 or newer); no other header of tarry includes it. `use_future`
// gives a std::future of the Result.
//
// The handler runs on its associated executor, never within the call that begins it. Until then the
// operation counts as work of that executor. Data that messages and options refer to (keys,
// payloads) is copied when the operation begins. A token such as `deferred` begins it later: keep
// the data alive until then.
//
// Thread safe, as the verbs are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <tarry/queue.h>
#include <tarry/store.h>

namespace tarry {

/// Any verb: `begin(done)` must call its form with a callback. The handler takes a Result<T>.
template <typename T, typename Begin, typename Token>
auto async(Begin begin, Token&& token) {
  return boost::asio::async_initiate<Token, void(Result<T>)>(
      [](auto handler, Begin asked) {
        auto work = boost::asio::make_work_guard(boost::asio::get_associated_executor(handler));
        asked(Callback<T>([handler = std::move(handler),
                           work = std::move(work)](Result<T> result) mutable {
          boost::asio::post(work.get_executor(),
                            [handler = std::move(handler), result = std::move(result)]() mutable {
                              std::move(handler)(std::move(result));
                            });
          work.reset();
        }));
      },
      token, std::move(begin));
}

template <typename Token>
auto async_push(Queue queue, Push message, Token&& token) {
  return async<Pushed>([queue = std::move(queue), message = std::move(message)](
                           Callback<Pushed> done) { queue.push(message, std::move(done)); },
                       std::forward<Token>(token));
}

template <typename Token>
auto async_push_all(Queue queue, std::vector<Push> messages, Token&& token) {
  using Answers = std::vector<Result<Pushed>>;
  return async<Answers>(
      [queue = std::move(queue), messages = std::move(messages)](Callback<Answers> done) {
        queue.push(std::span<const Push>(messages), std::move(done));
      },
      std::forward<Token>(token));
}

template <typename Token>
auto async_claim(Queue queue, ClaimOptions options, Token&& token) {
  using Deliveries = std::vector<Delivery>;
  return async<Deliveries>(
      [queue = std::move(queue), options = std::move(options)](Callback<Deliveries> done) {
        queue.claim(options, std::move(done));
      },
      std::forward<Token>(token));
}

template <typename Token>
auto async_settle(Queue queue, Settle item, Token&& token) {
  return async<Answer>([queue = std::move(queue),
                        item](Callback<Answer> done) { queue.settle(item, std::move(done)); },
                       std::forward<Token>(token));
}

template <typename Token>
auto async_ack(Queue queue, std::string_view receipt, Token&& token) {
  return async_settle(std::move(queue), Settle{.receipt = receipt}, std::forward<Token>(token));
}

template <typename Token>
auto async_cancel(Queue queue, std::string key, Token&& token) {
  return async<Answer>([queue = std::move(queue), key = std::move(key)](
                           Callback<Answer> done) { queue.cancel(key, std::move(done)); },
                       std::forward<Token>(token));
}

template <typename Token>
auto async_reschedule(Queue queue, std::string key, Due due, Token&& token) {
  return async<Answer>([queue = std::move(queue), key = std::move(key), due](
                           Callback<Answer> done) { queue.reschedule(key, due, std::move(done)); },
                       std::forward<Token>(token));
}

template <typename Token>
auto async_get(Queue queue, std::string key, Token&& token) {
  return async<MessageInfo>([queue = std::move(queue), key = std::move(key)](
                                Callback<MessageInfo> done) { queue.get(key, std::move(done)); },
                            std::forward<Token>(token));
}

template <typename Token>
auto async_extend(Queue queue, std::string receipt, std::optional<Millis> lease, Token&& token) {
  return async<Answer>(
      [queue = std::move(queue), receipt = std::move(receipt), lease](Callback<Answer> done) {
        queue.extend(receipt, lease, std::move(done));
      },
      std::forward<Token>(token));
}

}  // namespace tarry
