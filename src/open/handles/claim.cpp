#include "open/handles/claim.h"

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <variant>

#include "open/handles/ask.h"
#include "open/handles/questions.h"

namespace tarry::detail {
namespace {

using Deliveries = std::vector<Delivery>;

struct Withdraw {
  core::Engine& engine;
  core::Ticket ticket;
  void operator()() const { engine.withdraw(ticket); }
};

// Withdraws a submitted claim when a stop is requested, until the claim is answered. `end` may be
// called before `begin`. The engine exists as long as the claim is not answered.
//
// `withdraw` runs no completion before it returns, so it may be called under the mutex.
class StopWatch {
 public:
  explicit StopWatch(core::Engine& engine) : engine_(engine) {}

  void begin(std::stop_token stop, core::Ticket ticket) {
    const std::lock_guard lock(mutex_);
    if (answered_) return;
    on_stop_.emplace(std::move(stop), Withdraw{engine_, ticket});
  }
  void end() {
    const std::lock_guard lock(mutex_);
    answered_ = true;
    on_stop_.reset();
  }

 private:
  core::Engine& engine_;
  std::mutex mutex_;
  bool answered_ = false;
  std::optional<std::stop_callback<Withdraw>> on_stop_;
};

bool may_be_withdrawn(const core::Request& request, const ClaimOptions& options) {
  return options.stop.stop_possible() && std::holds_alternative<core::ClaimRequest>(request);
}

template <typename T>
Result<T> ask_until_stop(const StoreState& state, Question<T> question,
                         const ClaimOptions& options) {
  if (!may_be_withdrawn(question.request, options)) return ask(state, std::move(question));
  Result<core::Reply> reply = wait_for(state, std::move(question.request), options.stop);
  return told(question, std::move(reply));
}

template <typename T>
void ask_until_stop(const StoreState& state, Question<T> question, const ClaimOptions& options,
                    Callback<T> done) {
  if (!may_be_withdrawn(question.request, options)) {
    return ask(state, std::move(question), std::move(done));
  }
  core::Completion completion = completion_for(state, question, std::move(done));
  if (state.is_in_child()) return complete_in_child(state, std::move(completion));
  if (options.stop.stop_requested() && !settles(question.request)) {
    return state.answer([completion = std::move(completion)]() mutable {
      completion(core::Reply(core::ClaimReply()));
    });
  }
  const auto watch = std::make_shared<StopWatch>(state.engine());
  const core::Ticket ticket = state.engine().submit(
      std::move(question.request),
      [watch, completion = std::move(completion)](Result<core::Reply> reply) mutable {
        watch->end();
        completion(std::move(reply));
      });
  watch->begin(options.stop, ticket);
}

}  // namespace

Result<Deliveries> claim(const StoreState& state, std::vector<std::string> queues,
                         const ClaimOptions& options) {
  return ask_until_stop(state, ask_claim(std::move(queues), options), options);
}

void claim(const StoreState& state, std::vector<std::string> queues, const ClaimOptions& options,
           Callback<Deliveries> done) {
  ask_until_stop(state, ask_claim(std::move(queues), options), options, std::move(done));
}

Result<SettledAndClaimed> settle_and_claim(const StoreState& state, std::vector<std::string> queues,
                                           std::span<const Settle> items,
                                           const ClaimOptions& options) {
  return ask_until_stop(state, ask_settle_and_claim(std::move(queues), items, options), options);
}

void settle_and_claim(const StoreState& state, std::vector<std::string> queues,
                      std::span<const Settle> items, const ClaimOptions& options,
                      Callback<SettledAndClaimed> done) {
  ask_until_stop(state, ask_settle_and_claim(std::move(queues), items, options), options,
                 std::move(done));
}

}  // namespace tarry::detail
