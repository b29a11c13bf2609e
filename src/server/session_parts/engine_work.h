// EngineWork: keeps the server's thread running until the engine has given all outstanding answers.
// It does not wait for the engine to destroy the completions.
//
// Thread safety: one thread makes it, and one thread (perhaps another) uses it.
#pragma once

#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>

#include <tarry/time.h>

#include "server/listening/socket.h"

namespace tarry::session {

class EngineWork {
 public:
  explicit EngineWork(const listening::Executor& executor)
      : executor_(
            boost::asio::require(executor, boost::asio::execution::outstanding_work.tracked)) {}

  /// Runs a small copyable task on the server's thread. If there is no memory for it, the engine's
  /// thread waits until there is, because its answer must not be lost.
  template <typename Task>
  void post(Task task) noexcept {
    constexpr Millis kMemoryPause{10};
    const auto executor = std::move(*executor_);
    executor_.reset();
    for (;;) {
      try {
        boost::asio::post(executor, task);
        return;
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(kMemoryPause);
      }
    }
  }

 private:
  using Tracked = decltype(boost::asio::require(std::declval<listening::Executor>(),
                                                boost::asio::execution::outstanding_work.tracked));
  std::optional<Tracked> executor_;
};

}  // namespace tarry::session
