#include "helpers.h"

#include <stdexcept>

#include "rabbitmq_part.h"

namespace tarry::contract {

void fail(const Error& error, std::source_location where) {
  if (is_on_rabbitmq() && error.code == ErrorCode::unsupported) skip_test(error.message);
  throw std::runtime_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                           ": " + std::string(to_string(error.code)) + ": " + error.message);
}

std::vector<Delivery> claim(const Queue& queue, std::uint32_t max, std::optional<Millis> lease,
                            std::source_location where) {
  return must(queue.claim({.max = max, .lease = lease}), where);
}

Delivery claim_one(const Queue& queue, std::optional<Millis> lease, std::source_location where) {
  std::vector<Delivery> claimed = claim(queue, 2, lease, where);
  if (claimed.size() != 1) {
    fail({ErrorCode::conflict, "claimed " + std::to_string(claimed.size()) + " messages, not 1"},
         where);
  }
  return claimed.front();
}

std::vector<Delivery> claim_all(const Queue& queue) {
  std::vector<Delivery> all;
  for (;;) {
    std::vector<Delivery> some = claim(queue, 100);
    if (some.empty()) return all;
    all.insert(all.end(), some.begin(), some.end());
  }
}

bool nothing_due(const Queue& queue) { return claim(queue, 10).empty(); }

std::vector<std::string> keys_of(const std::vector<Delivery>& deliveries) {
  std::vector<std::string> keys;
  for (const Delivery& delivery : deliveries) keys.emplace_back(delivery.key());
  return keys;
}

std::multiset<std::string> key_set(const std::vector<Delivery>& deliveries) {
  const std::vector<std::string> keys = keys_of(deliveries);
  return {keys.begin(), keys.end()};
}

std::optional<MessageInfo> find(const Queue& queue, std::string_view key,
                                std::source_location where) {
  Result<MessageInfo> info = queue.get(key);
  if (info) return std::move(*info);
  if (info.error().code != ErrorCode::not_found) fail(info.error(), where);
  return std::nullopt;
}

std::vector<MessageInfo> list_all(const Queue& queue, ListOptions options) {
  std::vector<MessageInfo> all;
  for (;;) {
    Page page = must(queue.list(options));
    for (MessageInfo& info : page.messages) all.push_back(std::move(info));
    if (page.next.empty()) return all;
    options.after = page.next;
  }
}

Pending<std::vector<Delivery>> waiting_claim(const Queue& queue, const ClaimOptions& options,
                                             std::source_location where) {
  const std::uint64_t before = must(queue.stats(), where).waiting_claims;
  Pending<std::vector<Delivery>> answer;
  queue.claim(options, answer.callback());
  await_waiting(queue, before + 1);
  return answer;
}

void await_waiting(const Queue& queue, std::uint64_t claims) {
  wait_until("a waiting claim", [&] { return must(queue.stats()).waiting_claims >= claims; });
}

Pending<core::Reply> submit_async(core::Engine& engine, core::Request request,
                                  core::Ticket& ticket) {
  Pending<core::Reply> answer;
  ticket = engine.submit(std::move(request), answer.callback());
  return answer;
}

Result<core::Reply> submit(core::Engine& engine, core::Request request) {
  core::Ticket ticket = 0;
  return submit_async(engine, std::move(request), ticket).get();
}

std::vector<Delivery> deliveries(core::Reply reply) {
  const auto shared =
      std::make_shared<const core::ClaimReply>(std::get<core::ClaimReply>(std::move(reply)));
  std::vector<Delivery> all;
  for (std::size_t i = 0; i < shared->items.size(); ++i) all.emplace_back(shared, i);
  return all;
}

std::string_view to_string(Place place) {
  switch (place) {
    case Place::absent: return "absent";
    case Place::scheduled: return "scheduled";
    case Place::ready: return "ready";
    case Place::leased: return "leased";
    case Place::stopping: return "stopping";
    case Place::dead: return "dead";
    case Place::acked: return "acked";
    case Place::cancelled: return "cancelled";
    case Place::withdrawn: return "withdrawn";
    case Place::discarded: return "discarded";
  }
  return "?";
}

Placed put(const Queue& queue, ManualClock& clock, std::string_view key, Place place) {
  (void)must(queue.configure({.remember = kRemember}));
  if (place == Place::absent) return {};

  Placed placed;
  const Pushed pushed = must(
      queue.push({.key = key, .payload = kOldPayload, .headers = {{"Age", "old"}}, .priority = 7}));
  placed.id = pushed.id;
  const Delivery first = claim_one(queue);
  placed.old_receipts.emplace_back(first.receipt());
  const Millis delay = place == Place::scheduled ? Millis(1h) : Millis(0);
  placed.due_ms = ms(must(queue.retry(first.receipt(), delay)).due.value());
  clock.advance(10s);
  if (place == Place::scheduled || place == Place::ready) return placed;
  if (place == Place::withdrawn) {
    (void)must(queue.cancel(key));
    placed.settled_ms = ms(clock.now());
    clock.advance(1s);
    return placed;
  }

  const Delivery second = claim_one(queue);
  const std::string receipt(second.receipt());
  switch (place) {
    case Place::leased: placed.live = receipt; return placed;
    case Place::stopping:
      (void)must(queue.cancel(key));
      placed.live = receipt;
      return placed;
    case Place::dead: (void)must(queue.bury(receipt, kBuryReason)); break;
    case Place::acked:
      (void)must(queue.ack(receipt));
      placed.acked_by = receipt;
      break;
    case Place::discarded:
      (void)must(queue.bury(receipt, kBuryReason));
      (void)must(queue.cancel(key));
      break;
    default:
      (void)must(queue.cancel(key));
      (void)must(queue.release(receipt));
      break;
  }
  if (place != Place::acked) placed.old_receipts.push_back(receipt);
  if (is_remembered(place)) placed.settled_ms = ms(clock.now());
  clock.advance(1s);
  return placed;
}

}  // namespace tarry::contract
