// Gate: an engine in front of another one. A function of the test decides about each request.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "core/engine.h"

namespace tarry::testing {

// The function may let a request pass, refuse it, or lose its answer, or answer that it is too
// large.
class Gate final : public core::Engine {
 public:
  enum class Says : std::uint8_t { pass, refuse, lose_the_answer, too_large };
  using Ask = std::function<Says(const core::Request&)>;

  Gate(core::Engine& inner, Ask ask) : inner_(inner), ask_(std::move(ask)) {}

  core::Ticket submit(core::Request request, core::Completion done) override {
    const Says says = ask_(request);
    if (says == Says::refuse) {
      done(Error{ErrorCode::unavailable, "refused"});
      return 0;
    }
    if (says == Says::too_large) {
      done(Error{ErrorCode::too_large, "too large a body"});
      return 0;
    }
    if (says == Says::pass) return inner_.submit(std::move(request), std::move(done));
    return inner_.submit(std::move(request),
                         [done = std::move(done)](const Result<core::Reply>&) mutable {
                           done(Error{ErrorCode::unknown_outcome, "lost"});
                         });
  }
  void withdraw(core::Ticket ticket) override { inner_.withdraw(ticket); }
  [[nodiscard]] core::Capabilities capabilities() const override {
    return can_ ? *can_ : inner_.capabilities();
  }
  [[nodiscard]] core::ClaimWatches& claim_watches() noexcept override {
    return inner_.claim_watches();
  }
  void close() override {}

  void set_capabilities(core::Capabilities can) { can_ = std::move(can); }

 private:
  core::Engine& inner_;
  Ask ask_;
  std::optional<core::Capabilities> can_;
};

}  // namespace tarry::testing
