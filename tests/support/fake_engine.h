// An engine that a test controls by hand: it holds every request until the test answers it, and it
// records which requests were withdrawn. With a rule, it answers some requests by itself.
//
// Thread safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/engine.h"

namespace tarry::testing {

class FakeEngine : public core::Engine {
 public:
  using Rule = std::function<std::optional<Result<core::Reply>>(const core::Request&)>;

  struct Held {
    core::Ticket ticket = 0;
    core::Request request;
    core::Completion completion;

    void answer(Result<core::Reply> result) { completion(std::move(result)); }
  };

  ~FakeEngine() override { close(); }

  /// The rule sees each request first. If it gives an answer, the request is answered at once.
  void set_rule(Rule rule) {
    const std::lock_guard lock(mutex_);
    rule_ = std::move(rule);
  }

  core::Ticket submit(core::Request request, core::Completion completion) override {
    std::unique_lock lock(mutex_);
    const core::Ticket ticket = ++last_ticket_;
    auto answer = closed_ ? std::optional<Result<core::Reply>>(Error{ErrorCode::closed, "closed"})
                  : rule_ ? rule_(request)
                          : std::nullopt;
    if (!answer) {
      held_.push_back({ticket, std::move(request), std::move(completion)});
      changed_.notify_all();
      return ticket;
    }
    lock.unlock();
    completion(std::move(*answer));
    return ticket;
  }

  /// Records the withdrawal. If `complete_withdrawn` was called before, this also answers the claim
  /// with an empty reply.
  void withdraw(core::Ticket ticket) override {
    std::unique_lock lock(mutex_);
    withdrawn_.insert(ticket);
    changed_.notify_all();
    if (!complete_withdrawn_) return;
    auto held = take(ticket);
    lock.unlock();
    if (held) held->answer(core::Reply(core::ClaimReply()));
  }
  void complete_withdrawn() {
    const std::lock_guard lock(mutex_);
    complete_withdrawn_ = true;
  }

  [[nodiscard]] core::Capabilities capabilities() const override {
    core::Capabilities can;
    can.engine = "fake";
    return can;
  }

  void close() override {
    std::vector<Held> held;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      held.swap(held_);
    }
    for (Held& one : held) one.answer(Error{ErrorCode::closed, "closed"});
  }

  /// The oldest request that is held. Waits until there is one.
  [[nodiscard]] Held next() {
    std::unique_lock lock(mutex_);
    wait(lock, "a request", [&] { return !held_.empty(); });
    Held held = std::move(held_.front());
    held_.erase(held_.begin());
    return held;
  }

  void wait_for_withdrawal(core::Ticket ticket) {
    std::unique_lock lock(mutex_);
    wait(lock, "a withdrawal", [&] { return withdrawn_.contains(ticket); });
  }

  [[nodiscard]] core::Ticket submitted() {
    const std::lock_guard lock(mutex_);
    return last_ticket_;
  }

 private:
  // A wait of this length has failed: a working test never waits nearly so long.
  template <typename Ready>
  void wait(std::unique_lock<std::mutex>& lock, const char* what, Ready ready) {
    if (changed_.wait_for(lock, std::chrono::seconds(60), ready)) return;
    std::fprintf(stderr, "waited in vain for %s\n", what);
    std::abort();
  }

  std::optional<Held> take(core::Ticket ticket) {
    const auto found = std::find_if(held_.begin(), held_.end(),
                                    [&](const Held& held) { return held.ticket == ticket; });
    if (found == held_.end()) return std::nullopt;
    Held held = std::move(*found);
    held_.erase(found);
    return held;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Rule rule_;
  std::vector<Held> held_;
  std::set<core::Ticket> withdrawn_;
  core::Ticket last_ticket_ = 0;
  bool complete_withdrawn_ = false;
  bool closed_ = false;
};

/// The answer to a claim, with one message.
[[nodiscard]] inline core::Reply one_claimed(const std::string& receipt,
                                             const std::string& payload = "hello") {
  core::ClaimReply reply;
  core::ClaimedItem item;
  item.queue = core::append(reply.bytes, "q");
  item.key = core::append(reply.bytes, "k");
  item.payload = core::append(reply.bytes, payload);
  item.receipt = core::append(reply.bytes, receipt);
  item.id = 7;
  item.due_ms = 1'600'000'000'000;
  item.claimed_ms = 1'600'000'000'001;
  item.lease_ms = 30'000;
  item.attempt = 1;
  item.priority = kDefaultPriority;
  reply.items.push_back(item);
  return reply;
}

}  // namespace tarry::testing
