#include "server/session_parts/held_bytes.h"

#include <utility>

namespace tarry::session {

std::size_t memory_of(const std::string& text) noexcept {
  static const std::size_t within = std::string().capacity();
  return text.capacity() > within ? text.capacity() : 0;
}

void HeldBytes::Part::set_token(limits::Account& token) noexcept {
  if (peer_ == nullptr) return;
  if (token_ != nullptr) {
    token_->held_requests -= counted_.requests;
    token_->held_answers -= counted_.answers;
  }
  token_ = &token;
  token_->held_requests += counted_.requests;
  token_->held_answers += counted_.answers;
}

void HeldBytes::Part::hold_request(std::uint64_t bytes, std::uint64_t input) {
  request_ = bytes;
  answer_ = 0;
  hold_input(input);
}

void HeldBytes::Part::hold_answer(std::uint64_t bytes, std::uint64_t input) {
  request_ = 0;
  answer_ = bytes;
  hold_input(input);
}

void HeldBytes::Part::hold_input(std::uint64_t input) {
  input_ = input;
  count();
}

void HeldBytes::Part::hold_waiting(std::uint64_t more) {
  answer_ = std::exchange(request_, 0) + more;
  count();
}

void HeldBytes::Part::count() {
  if (peer_ == nullptr) return;
  const Held now{request_ + input_, answer_};
  const Held more{now.requests - counted_.requests, now.answers - counted_.answers};
  all_.requests_ += more.requests;
  if (more.answers != 0) all_.answers_ += more.answers;
  for (limits::Account* const account : {peer_, token_}) {
    if (account == nullptr) continue;
    account->held_requests += more.requests;
    account->held_answers += more.answers;
  }
  counted_ = now;
  const std::uint64_t settling = settles_ ? now.requests : 0;
  all_.settling_ += settling;
  all_.settling_ -= std::exchange(settling_, settling);
}

std::optional<OverLimit> HeldBytes::Part::requests_over() const {
  const std::uint64_t own = counted_.requests;
  if (token_ != nullptr && all_.limit_of_token() != 0 &&
      token_->held_requests - own > all_.limit_of_token()) {
    return all_.over("requests of token ", limits::Scope::token, token_->name);
  }
  if (all_.requests_ - own > all_.limit()) return OverLimit{"requests", all_.limit()};
  if (peer_->held_requests - own <= all_.limit_of_peer()) return std::nullopt;
  return all_.over("requests of ", limits::Scope::peer, peer_->name);
}

std::optional<OverLimit> HeldBytes::Part::answers_over(std::uint64_t more) const {
  const std::uint64_t own = counted_.answers;
  if (token_ != nullptr && all_.limit_of_token() != 0 &&
      token_->held_answers - own > all_.limit_of_token()) {
    return all_.over("answers to token ", limits::Scope::token, token_->name);
  }
  if (all_.answers_ - own - more > all_.limit()) return OverLimit{"answers", all_.limit()};
  if (peer_->held_answers - own <= all_.limit_of_peer()) return std::nullopt;
  return all_.over("answers to ", limits::Scope::peer, peer_->name);
}

OverLimit HeldBytes::over(std::string_view what, limits::Scope scope, std::string_view name) const {
  const bool is_token = scope == limits::Scope::token;
  OverLimit over{std::string(what).append(name), is_token ? limit_of_token() : limit_of_peer(),
                 scope};
  if (is_token) {
    over.of = "half of limits.held_per_token";
  } else {
    over.of = options_.held_per_peer == 0 ? "a quarter of server.max_held"
                                          : "half of limits.held_per_peer";
  }
  return over;
}

bool HeldBytes::Part::may_settle(std::uint64_t body) const noexcept {
  return settles_ && all_.settling_ - settling_ + body <= kSettleReserve;
}

void HeldBytes::Part::leave() {
  if (peer_ == nullptr) return;
  request_ = answer_ = input_ = 0;
  count();
  peer_ = nullptr;
}

}  // namespace tarry::session
