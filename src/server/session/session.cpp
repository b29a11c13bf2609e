#include "server/session/session.h"

#include <array>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/engine_parts/away.h"
#include "server/limits/permits.h"
#include "server/session/connection.h"
#include "server/session/front.h"
#include "server/session_parts/engine_work.h"

namespace tarry::session {
namespace {

// Whether the answer contains stored data, which can be as much as the store has. The answer to a
// change has only a few words for each item.
bool reads(const core::Request& request) noexcept {
  return std::visit(
      [](const auto& asked) {
        using Asked = std::decay_t<decltype(asked)>;
        return std::is_same_v<Asked, core::ClaimRequest> ||
               std::is_same_v<Asked, core::GetRequest> ||
               std::is_same_v<Asked, core::ListRequest> ||
               std::is_same_v<Asked, core::StatsRequest> ||
               std::is_same_v<Asked, core::ForecastRequest>;
      },
      request);
}

// The error of a claim whose settlements are answered nevertheless.
Error claim_error_of(const Refusal& refusal) {
  switch (refusal.why) {
    case Refusal::Why::token_not_valid:
      return {ErrorCode::permission_denied, "the token is no longer valid"};
    case Refusal::Why::closing:
      return {ErrorCode::unavailable, "the server is being stopped, and has claimed nothing"};
    default: break;
  }
  return {ErrorCode::unavailable,
          "the server has not the memory for the claimed messages just now; they were released"};
}

// The memory of a waiting claim, without its body.
std::uint64_t size_of(const core::ClaimRequest& claim) noexcept {
  return (claim.queues.size() + claim.keys.size()) * sizeof(std::string);
}

}  // namespace

Session::Session(ServerContext& context, Connection& connection, listening::Stream& stream)
    : context_(context),
      connection_(connection),
      stream_(stream),
      remote_(stream.remote_end()),
      local_host_(stream.local_host()),
      peer_(context.peers.use(remote_.peer, limits::Accounts::Clock::now())),
      held_(context.held, *peer_),
      answer_{this} {}

bool Session::enter() {
  const std::size_t limit = context_.options.connections_per_peer;
  const std::size_t before = peer_->connections;
  if (limit != 0 && before >= limit) {
    if (before >= limit + limits::reserve_beside(limit)) {
      context_.count_refusal(limits::Limit::connections, limits::Scope::peer, {});
      return false;
    }
    over_ = limits::Reached{limits::Limit::connections, limits::Scope::peer, limit,
                            std::string(peer_->name)};
    on_reserve_ = true;
  }
  in_peer_.enter(*peer_);
  return true;
}

void Session::become_idle() {
  become_busy();
  idle_ = context_.idle.insert(context_.idle.end(), &connection_);
}

void Session::become_busy() {
  if (idle_) context_.idle.erase(*std::exchange(idle_, std::nullopt));
}

std::optional<Refusal> Session::begin(Urgency urgency) {
  become_busy();
  held_.set_settling(urgency == Urgency::settles);
  if (identity_ != counted_for_ && !identity_->name.empty()) count_for_token();
  if (on_reserve_ && urgency == Urgency::ordinary) {
    if (over_) return refuse(*over_);
    context_.count_refusal(limits::Limit::connections, limits::Scope::total, name());
    return Refusal{Refusal::Why::too_many_connections};
  }
  if (!context_.options.requests_per_second.any()) return std::nullopt;
  return count_request(urgency);
}

std::optional<Refusal> Session::recognise(identity::IdentityPtr identity, Urgency urgency) {
  identity_ = std::move(identity);
  if (identity_ == counted_for_ || identity_->name.empty()) {
    return count_for_rate_of_token(urgency);
  }
  count_for_token();
  if (on_reserve_ && urgency == Urgency::ordinary && over_) return refuse(*over_);
  return count_for_rate_of_token(urgency);
}

std::optional<Refusal> Session::count_for_rate_of_token(Urgency urgency) {
  limits::Account* const by_token = token();
  if (by_token == nullptr) return std::nullopt;
  const std::array<limits::Counting, 1> counting = {
      {{limits::Scope::token, &by_token->requests, context_.options.requests_per_second.token,
        by_token->name}}};
  auto reached = limits::take_permits(counting, limits::RateBucket::Clock::now(),
                                      urgency == Urgency::ordinary);
  if (!reached) return std::nullopt;
  return refuse(*std::move(reached));
}

void Session::count_for_token() {
  if (!token_ || token_->name != identity_->name) {
    limits::Accounts::User shown =
        context_.tokens.use(identity_->name, limits::Accounts::Clock::now());
    held_.set_token(*shown);
    in_token_.leave();
    token_ = std::move(shown);
    const std::size_t limit = context_.options.connections_per_token;
    if (limit == 0 || token_->connections < limit) {
      in_token_.enter(*token_);
    } else {
      on_reserve_ = true;
      over_ =
          limits::Reached{limits::Limit::connections, limits::Scope::token, limit, identity_->name};
    }
  }
  counted_for_ = identity_;
}

std::optional<Refusal> Session::count_request(Urgency urgency) {
  using limits::Scope;
  const limits::ByScope& rates = context_.options.requests_per_second;
  limits::Account* const by_token = token();
  const std::array<limits::Counting, 3> counting = {{
      {Scope::token, by_token != nullptr ? &by_token->requests : nullptr, rates.token,
       by_token != nullptr ? by_token->name : std::string_view()},
      {Scope::peer, &peer_->requests, rates.peer, peer_->name},
      {Scope::total, &context_.all_requests, rates.total},
  }};
  auto reached = limits::take_permits(counting, limits::RateBucket::Clock::now(),
                                      urgency == Urgency::ordinary);
  if (!reached) return std::nullopt;
  return refuse(*std::move(reached));
}

Refusal Session::refuse(limits::Reached reached) {
  context_.count_refusal(reached.limit, reached.scope, name());
  return {Refusal::Why::over_limit, {}, std::move(reached)};
}

void Session::answered(const RequestNote& note) {
  RequestNote told = note;
  if (identity_ != nullptr) told.identity = identity_->name;
  context_.requests.note(told, identity_ != nullptr);
  connection_.answering().meter().answered(note.route, note.status);
  if (!is_audited()) return;
  const audit::Answer answer{note.status, note.code, note.detail};
  constexpr unsigned kNoToken = 401;
  constexpr unsigned kTooMany = 429;
  const bool is_refused = note.status == kNoToken || note.token_refused;
  if (is_refused || (note.status == kTooMany && identity_ == nullptr)) {
    context_.audited(context_.trail.record_refused_token(client_of(note.id), peer(), answer));
    entry_.reset();
  } else {
    record_act(note.id, answer);
  }
}

audit::Client Session::client_of(std::string_view request_id) const {
  const std::string_view name = identity_ != nullptr ? identity_->name : std::string_view();
  return {name, address(), connection_.answering().name(), request_id};
}

void Session::note_act(const core::Request& request) {
  if (!is_audited()) return;
  if (entry_ == nullptr) {
    entry_ = audit::entry_of(request);
  } else {
    audit::note_request(*entry_, request);
  }
}

void Session::record_act(std::string_view request_id, const audit::Answer& answer) {
  if (const auto entry = std::move(entry_)) {
    context_.audited(context_.trail.record(*entry, client_of(request_id), answer));
  }
}

std::optional<Refusal> Session::admit(const core::Request& request, Check check) {
  if (const auto* claim = std::get_if<core::ClaimRequest>(&request)) {
    held_.hold_waiting(size_of(*claim));
    if (claim->wait > Millis(0)) {
      if (auto refused = waiting_over()) return refused;
    }
  }
  if (check != Check::none || !reads(request)) return std::nullopt;
  auto over = held_.answers_over();
  if (!over) return std::nullopt;
  return refuse_held(*std::move(over));
}

Refusal Session::refuse_held(OverLimit over) {
  note_refusal(over);
  return {Refusal::Why::too_much_held, std::move(over), {}};
}

std::optional<Refusal> Session::waiting_over() {
  using limits::Scope;
  const limits::ByScope& most = context_.options.waiting_claims;
  if (!most.any()) return std::nullopt;
  const auto over = [&](Scope scope, std::uint64_t waiting, std::string_view who) {
    const std::uint64_t limit = most.of(scope);
    std::optional<Refusal> refusal;
    if (limit != 0 && waiting >= limit) {
      refusal = refuse({limits::Limit::waiting_claims, scope, limit, std::string(who)});
    }
    return refusal;
  };
  if (const auto* by_token = token(); by_token != nullptr) {
    if (auto refused = over(Scope::token, by_token->waiting_claims, by_token->name)) return refused;
  }
  if (auto refused = over(Scope::peer, peer_->waiting_claims, peer_->name)) return refused;
  return over(Scope::total, context_.waiting_claims, {});
}

void Session::begin_waiting() noexcept {
  waiting_ = true;
  ++context_.waiting_claims;
  ++peer_->waiting_claims;
  if (token_) ++token_->waiting_claims;
}

void Session::end_waiting() noexcept {
  if (!std::exchange(waiting_, false)) return;
  --context_.waiting_claims;
  --peer_->waiting_claims;
  if (token_) --token_->waiting_claims;
}

bool Session::submit(core::Request request, Check check) {
  note_act(request);
  check_ = check;
  auto* claim = std::get_if<core::ClaimRequest>(&request);
  claiming_ = claim != nullptr;
  if (claiming_ && claim->by.empty()) claim->by = address();
  const bool may_wait = claim != nullptr && claim->wait > Millis(0);
  reading_ = check == Check::none && reads(request);
  // How much will be read is not known in advance: most claims ask for more than there is.
  const std::uint64_t limit = reading_ ? context_.held.limit() + held_.answers()
                                       : std::numeric_limits<std::uint64_t>::max();
  try {
    context_.engine_turns.prepare(stream_.get_executor());
  } catch (const std::bad_alloc& error) {
    context_.warn_of(error);
    return false;
  }
  auto completion = [this, owner = connection_.shared_from_this(), limit,
                     work =
                         EngineWork(stream_.get_executor())](Result<core::Reply> result) mutable {
    reply_.emplace(std::move(result), context_.held.answers_sum(), limit);
    answer_.owner = std::move(owner);
    context_.engine_turns.answered(answer_, std::move(work));
  };
  const auto owners = connection_.weak_from_this().use_count();
  if (may_wait) begin_waiting();
  try {
    ticket_ = context_.engine_turns.submit(std::move(request), std::move(completion));
  } catch (const std::bad_alloc& error) {
    context_.warn_of(error);
    // If the engine has kept the completion, it may still carry the request out.
    if (connection_.weak_from_this().use_count() < owners) {
      end_waiting();
      return false;
    }
    connection_.close();
    return true;
  }
  if (context_.draining || client_ended_) end_wait();
  return true;
}

void Session::take_answer(const std::shared_ptr<Connection>& owner) {
  if (!claiming_) return on_reply();
  context_.turns.run(stream_.get_executor(), [this, owner] { on_reply(); });
}

void Session::handed_over() {
  unsent_.clear();
  claiming_ = false;
}

void Session::end_wait() {
  if (claim_waits()) context_.engine.withdraw(ticket_);
}

void Session::client_ended() {
  client_ended_ = true;
  end_wait();
}

bool Session::is_still_let_in() const noexcept {
  // A request whose signature is checked later is nobody's until then.
  return identity_ == nullptr || identity_ == identity::nobody() ||
         context_.options.tokens.still_know(*identity_);
}

bool Session::revoke() {
  if (!claim_waits()) return false;
  revoked_ = true;
  end_wait();
  return true;
}

void Session::close(std::vector<core::SettleRequest> releases) {
  const bool waits = claim_waits();
  closed_ = true;
  become_busy();
  held_.leave();
  in_peer_.leave();
  in_token_.leave();
  release_unsent();
  for (core::SettleRequest& release : releases) {
    UnsentClaims(std::move(release)).release(context_, stream_.get_executor());
  }
  context_.closed(&connection_);
  if (!waits) return;
  try {
    context_.engine.withdraw(ticket_);
  } catch (const std::exception& error) {
    context_.warn_of(error);  // the claim waits to its end; its messages are then released
  }
}

void Session::on_reply() {
  HeldReply reply = *std::exchange(reply_, std::nullopt);
  ticket_ = 0;
  end_waiting();
  const auto* claimed = reply.result() ? std::get_if<core::ClaimReply>(&*reply.result()) : nullptr;
  if (claimed != nullptr && claiming_ && !note_unsent(*claimed)) {
    connection_.close();
    release_unsent();  // in case the connection is closed already
    return;
  }
  connection_.guard([&] { hand_over(std::move(reply)); });
}

void Session::hand_over(HeldReply reply) {
  Result<core::Reply>& result = reply.result();
  if (!result) {
    if (!core::is_away(result.error().code)) context_.engine_suspect = true;
  } else if (check_ == Check::health) {
    context_.engine_suspect = false;
  }
  if (entry_ != nullptr && result) audit::note_reply(*entry_, *result);
  if (closed_) {
    release_unsent();
    const auto code = result ? std::string_view() : to_string(result.error().code);
    record_act(connection_.request_id(), {0, code, {}});
    return;
  }
  if (claiming_ && (client_ended_ || stream_.has_hung_up())) {
    connection_.close();
    return;
  }
  if (const auto refusal = refusal_of(reply)) {
    release_unsent();
    auto* claimed = result ? std::get_if<core::ClaimReply>(&*result) : nullptr;
    if (claimed == nullptr || claimed->settled.empty()) return connection_.on_refused(*refusal);
    // A refusal would say that nothing was done, but the claim has settled.
    claimed->items.clear();
    claimed->claim_error = claim_error_of(*refusal);
  }
  // The request changes nothing, so an unknown outcome means only that the store is unavailable.
  if (!result && reading_ && !claiming_ && core::is_away(result.error().code)) {
    result = Unexpected(ErrorCode::unavailable, std::string(result.error().message));
  }
  connection_.on_reply(reply);
}

// Notes the receipts. Messages can only be released by their receipts, so if memory is short, the
// front must free its own.
bool Session::note_unsent(const core::ClaimReply& reply) {
  try {
    unsent_.note(reply);
    return true;
  } catch (const std::bad_alloc&) {
    connection_.free_memory();
  }
  try {
    unsent_.note(reply);
  } catch (const std::bad_alloc& error) {
    context_.warn_of(error);
  }
  return false;
}

std::optional<Refusal> Session::refusal_of(HeldReply& reply) {
  using Why = Refusal::Why;
  const bool ended =
      claiming_ && identity_ != nullptr && identity_->has_ended(context_.options.token_clock());
  if (std::exchange(revoked_, false) || ended) return Refusal{Why::token_not_valid};
  // The limit is checked again: as JSON the reply may be several times as large, and other replies
  // may have become JSON meanwhile.
  if (reading_) {
    if (auto over = held_.answers_over(reply.bytes())) {
      return refuse_held(*std::move(over));
    }
  }
  if (reply.refused()) {
    return refuse_held({"answers", context_.held.limit()});
  }
  // An empty list would mean that nothing is due, and the client would ask again at once.
  const Result<core::Reply>& result = reply.result();
  const auto* claimed = result ? std::get_if<core::ClaimReply>(&*result) : nullptr;
  if (claiming_ && context_.draining && claimed != nullptr && claimed->items.empty()) {
    return Refusal{Why::closing};
  }
  return std::nullopt;
}

}  // namespace tarry::session
