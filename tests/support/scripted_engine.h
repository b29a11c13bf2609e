// ScriptedEngine: an engine that only records its requests. The test takes the requests in turn and
// decides the answers, which come from the engine's own thread.
//
// Thread safe. Waiting for a request is limited in time, so that a test whose request never comes
// fails instead of hanging; the limit says nothing about speed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/unique_function.h"
#include "core/engine.h"

namespace tarry::test {

inline constexpr std::chrono::seconds kPatience{30};

class ScriptedEngine final : public core::Engine {
 public:
  template <typename R>
  struct Asked {
    core::Ticket ticket = 0;
    R request;
  };
  using Responder = std::function<std::optional<Result<core::Reply>>(const core::Request&)>;

  ScriptedEngine() : thread_([this] { run(); }) {}
  ~ScriptedEngine() override { ScriptedEngine::close(); }

  core::Ticket submit(core::Request request, core::Completion completion) override {
    std::unique_lock lock(mutex_);
    if (closed_) {
      lock.unlock();
      completion(Error{ErrorCode::closed, "the store is closed"});
      return 0;
    }
    const core::Ticket ticket = next_ticket_++;
    completions_.emplace(ticket, std::move(completion));
    if (responder_) {
      if (auto reply = responder_(request)) {
        answer_locked(ticket, *std::move(reply));
        return ticket;
      }
    }
    if (const auto refused = refuses_ ? refuses_(request) : std::nullopt) {
      answer_locked(ticket, *refused);
      return ticket;
    }
    asked_.emplace_back(ticket, std::move(request));
    changed_.notify_all();
    return ticket;
  }

  void withdraw(core::Ticket ticket) override {
    const std::lock_guard lock(mutex_);
    withdrawn_.push_back(ticket);
    changed_.notify_all();
    if (!answers_withdrawals_) return;
    std::erase_if(asked_, [&](const auto& asked) { return asked.first == ticket; });
    answer_locked(ticket, core::Reply(core::ClaimReply{}));
  }

  [[nodiscard]] core::Capabilities capabilities() const override {
    core::Capabilities capabilities;
    capabilities.engine = "scripted";
    return capabilities;
  }

  void close() override {
    {
      const std::lock_guard lock(mutex_);
      if (!closed_) {
        closed_ = true;
        while (!completions_.empty()) {
          answer_locked(completions_.begin()->first,
                        Error{ErrorCode::closed, "the store is closed"});
        }
      }
      ended_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  // -- for the test

  /// The next request of that kind, in the order in which they were made. Throws if none comes.
  template <typename R>
  [[nodiscard]] Asked<R> next() {
    std::unique_lock lock(mutex_);
    std::optional<Asked<R>> found;
    wait(lock, "no such request came", [&] {
      for (auto asked = asked_.begin(); asked != asked_.end(); ++asked) {
        if (!std::holds_alternative<R>(asked->second)) continue;
        found = Asked<R>{asked->first, std::get<R>(std::move(asked->second))};
        asked_.erase(asked);
        return true;
      }
      return false;
    });
    return *std::move(found);
  }

  /// Completes a request. Ignored if the request was completed already, or was never made.
  void answer(core::Ticket ticket, Result<core::Reply> reply) {
    const std::lock_guard lock(mutex_);
    answer_locked(ticket, std::move(reply));
  }

  /// The responder is asked first. Requests that it does not answer wait for `next`.
  void respond(Responder responder) {
    const std::lock_guard lock(mutex_);
    responder_ = std::move(responder);
  }

  /// Refuses requests of that kind which the test has not taken, now and in the future.
  template <typename R>
  void refuse_untaken(const Error& error) {
    const std::lock_guard lock(mutex_);
    refuses_ = [error](const core::Request& request) {
      return std::holds_alternative<R>(request) ? std::optional<Error>(error) : std::nullopt;
    };
    std::erase_if(asked_, [&](const auto& asked) {
      const auto refused = refuses_(asked.second);
      if (refused) answer_locked(asked.first, *refused);
      return refused.has_value();
    });
  }

  /// Off: the test answers a withdrawn claim itself, as if messages were on their way to it.
  void answer_withdrawals(bool on) {
    const std::lock_guard lock(mutex_);
    answers_withdrawals_ = on;
  }

  /// The tickets that were withdrawn so far. Waits until there are at least `at_least`.
  [[nodiscard]] std::vector<core::Ticket> withdrawn(std::size_t at_least = 0) {
    std::unique_lock lock(mutex_);
    wait(lock, "nothing was withdrawn", [&] { return withdrawn_.size() >= at_least; });
    return withdrawn_;
  }

  [[nodiscard]] bool closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  [[nodiscard]] std::thread::id thread() const { return thread_.get_id(); }
  /// The number of requests that `next` has not taken and that are not answered.
  [[nodiscard]] std::size_t untaken() {
    const std::lock_guard lock(mutex_);
    return asked_.size();
  }

 private:
  template <typename Predicate>
  void wait(std::unique_lock<std::mutex>& lock, const char* what, Predicate&& holds) {
    if (!changed_.wait_for(lock, kPatience, std::forward<Predicate>(holds))) {
      throw std::runtime_error(what);
    }
  }

  void answer_locked(core::Ticket ticket, Result<core::Reply> reply) {
    const auto found = completions_.find(ticket);
    if (found == completions_.end()) return;
    work_.emplace_back([completion = std::move(found->second), reply = std::move(reply)]() mutable {
      completion(std::move(reply));
    });
    completions_.erase(found);
    changed_.notify_all();
  }

  void run() {
    const core::EngineThreadScope scope;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ended_ || !work_.empty(); });
      if (work_.empty()) return;
      base::UniqueFunction<void()> task = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  core::Ticket next_ticket_ = 1;
  std::deque<std::pair<core::Ticket, core::Request>> asked_;
  std::map<core::Ticket, core::Completion> completions_;
  std::vector<core::Ticket> withdrawn_;
  std::deque<base::UniqueFunction<void()>> work_;
  Responder responder_;
  std::function<std::optional<Error>(const core::Request&)> refuses_;
  bool answers_withdrawals_ = true;
  bool closed_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tarry::test
