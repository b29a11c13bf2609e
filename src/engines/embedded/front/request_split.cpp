#include "engines/embedded/front/request_split.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/crc32c.h"
#include "base/text/text.h"
#include "core/rules/expiry.h"
#include "core/rules/validation.h"
#include "core/settings/queue_limits.h"
#include "engines/embedded/records/tokens.h"

namespace tarry::embedded {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFF'FFFF;
// Reserves the place where the shard will write a generated key.
constexpr std::string_view kPlaceForKey = "                         ";
static_assert(kPlaceForKey.size() == kGeneratedKeySize);

template <typename Request>
core::PushReply checked_pushes(const Request& request, const core::Limits& limits) {
  core::PushReply reply;
  reply.items.resize(request.items.size());
  reply.bytes.reserve(request.bytes.size() / 4 + request.items.size() * kGeneratedKeySize);
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i], limits);
  }
  return reply;
}

template <typename Request>
core::ItemsReply checked_items(const Request& request) {
  core::ItemsReply reply;
  reply.items.resize(request.items.size());
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i]);
  }
  return reply;
}

}  // namespace

void RequestSplit::dispatch(const OperationPtr& op) {
  std::visit([&](auto& request) { dispatch(op, request); }, op->request);
}

std::uint32_t RequestSplit::next_shard() noexcept {
  return turn_.fetch_add(1, std::memory_order_relaxed) % shards_.size();
}

std::uint32_t RequestSplit::shard_for_receipt(std::string_view text, ClaimName& claim,
                                              core::ItemResult& result) const {
  const auto receipt = parse_receipt(text);
  if (!receipt) {
    result.error = Error{ErrorCode::invalid_argument,
                         "receipt " + base::quoted(text) + " is not one that a claim gave"};
    return kNowhere;
  }
  if (receipt->store_tag != static_cast<std::uint32_t>(identity_.store_id) ||
      receipt->shard >= shards_.size()) {
    result.outcome = Outcome::stale;
    return kNowhere;
  }
  claim = {receipt->handle, receipt->claims, receipt->id};
  return receipt->shard;
}

template <typename ShardOf>
void RequestSplit::split(const OperationPtr& op, std::size_t count, ShardOf&& shard_of) {
  std::vector<std::vector<std::uint32_t>> items(shards_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t shard = shard_of(i);
    if (shard != kNowhere) items[shard].push_back(static_cast<std::uint32_t>(i));
  }
  std::uint32_t parts = 0;
  for (const auto& of_shard : items) parts += of_shard.empty() ? 0 : 1;
  if (parts == 0) {  // no item is good: the part that every operation begins with ends here
    shards_.end_later(op);
    return;
  }
  shards_.send_some(op, parts, [&](std::uint32_t shard) -> std::optional<Part> {
    if (items[shard].empty()) return std::nullopt;
    Part part;
    part.op = op;
    part.all_items = items[shard].size() == count;
    if (!part.all_items) part.items = std::move(items[shard]);
    return part;
  });
}

void RequestSplit::ask_all(const OperationPtr& op, core::Reply reply) {
  op->reply = std::move(reply);
  shards_.send_to_all(op);
}

template <typename Items>
void RequestSplit::split_by_receipts(const OperationPtr& op, const std::string& bytes,
                                     const Items& items) {
  auto& results = std::get<core::ItemsReply>(op->reply).items;
  auto& claims = op->prepared.claims;
  claims.resize(items.size());
  split(op, items.size(), [&](std::size_t i) {
    if (results[i].error) return kNowhere;
    return shard_for_receipt(core::view(bytes, items[i].receipt), claims[i], results[i]);
  });
}

template <typename Items, typename Pick>
void RequestSplit::split_pushes(const OperationPtr& op, const std::string& queue,
                                const std::string& bytes, const Items& items, const Pick& pick) {
  auto& reply = std::get<core::PushReply>(op->reply);
  const KeyMap keys = keys_of(queue);
  if (keys.route().changing) {
    for (core::PushResult& item : reply.items) {
      if (!item.error) item.error = changes_order(queue);
    }
  }
  op->prepared.homes_version = keys.route().version;
  op->prepared.at_home = keys.route().at_home;
  // All messages without a key go to one shard; those of the next request go to the next shard.
  const std::uint32_t keyless = keys.route().at_home ? keys.home() : next_shard();
  auto& crcs = op->prepared.payload_crcs;
  crcs.resize(items.size());
  split(op, items.size(), [&](std::size_t i) {
    const std::string_view key = core::view(bytes, pick(items[i]).key);
    // First all places for keys are laid out in the reply; then each shard fills in its generated
    // keys.
    if (key.empty()) {
      reply.items[i].key = core::append(reply.bytes, kPlaceForKey);
    } else {
      reply.items[i].key = core::append(reply.bytes, key);
    }
    if (reply.items[i].error) return kNowhere;
    crcs[i] = base::crc32c(core::view(bytes, pick(items[i]).payload));
    return key.empty() ? keyless : keys.shard_of(key);
  });
}

Error RequestSplit::needs_format(const std::string& what, std::uint32_t version) const {
  return {ErrorCode::unsupported, what + " needs a store of format " + std::to_string(version) +
                                      "; this one has format " + std::to_string(identity_.version) +
                                      ": tarry store upgrade"};
}

template <typename Items, typename Pick>
void RequestSplit::refuse_expiries(core::PushReply& reply, const Items& items,
                                   const Pick& pick) const {
  if (identity_.version >= kExpiryVersion) return;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const core::PushItem& item = pick(items[i]);
    if (!item.expire && !item.expire_at) continue;
    if (!reply.items[i].error) reply.items[i].error = needs_format("an expiry", kExpiryVersion);
  }
}

void RequestSplit::dispatch(const OperationPtr& op, core::PushRequest& request) {
  core::PushReply reply = checked_pushes(request, limits_);
  refuse_expiries(reply, request.items, std::identity());
  op->reply = std::move(reply);
  split_pushes(op, request.queue, request.bytes, request.items, std::identity());
}

void RequestSplit::dispatch(const OperationPtr& op, core::MoveRequest& request) {
  const auto push_of = [](const core::MoveItem& item) -> const core::PushItem& {
    return item.push;
  };
  core::PushReply reply = checked_pushes(request, limits_);
  refuse_expiries(reply, request.items, push_of);
  op->reply = std::move(reply);
  split_pushes(op, request.queue, request.bytes, request.items, push_of);
}

void RequestSplit::dispatch(const OperationPtr& op, core::CancelRequest& request) {
  core::ItemsReply reply;
  reply.items.resize(request.keys.size());
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    reply.items[i].error = core::check_key(core::view(request.bytes, request.keys[i]));
  }
  op->reply = std::move(reply);
  auto& items = std::get<core::ItemsReply>(op->reply).items;
  const KeyMap keys = keys_of(request.queue);
  split(op, items.size(), [&](std::size_t i) {
    if (items[i].error) return kNowhere;
    return keys.shard_of(core::view(request.bytes, request.keys[i]));
  });
}

void RequestSplit::dispatch(const OperationPtr& op, core::RescheduleRequest& request) {
  op->reply = checked_items(request);
  auto& items = std::get<core::ItemsReply>(op->reply).items;
  const KeyMap keys = keys_of(request.queue);
  split(op, items.size(), [&](std::size_t i) {
    if (items[i].error) return kNowhere;
    return keys.shard_of(core::view(request.bytes, request.items[i].key));
  });
}

void RequestSplit::dispatch(const OperationPtr& op, core::SettleRequest& request) {
  op->reply = checked_items(request);
  split_by_receipts(op, request.bytes, request.items);
}

void RequestSplit::dispatch(const OperationPtr& op, core::ExtendRequest& request) {
  op->reply = checked_items(request);
  split_by_receipts(op, request.bytes, request.items);
}

void RequestSplit::dispatch(const OperationPtr& op, core::GetRequest& request) {
  core::GetReply reply;
  reply.items.reserve(request.keys.size());
  for (const core::Slice slice : request.keys) {
    const std::string_view key = core::view(request.bytes, slice);
    if (auto error = core::check_key(key)) {
      reply.items.emplace_back(std::move(*error));
    } else {
      reply.items.emplace_back(
          Error{ErrorCode::not_found,
                "there is no message " + base::quoted(key) + " in queue " + request.queue});
    }
  }
  op->reply = std::move(reply);
  const auto& items = std::get<core::GetReply>(op->reply).items;
  const KeyMap keys = keys_of(request.queue);
  split(op, items.size(), [&](std::size_t i) {
    if (items[i].error().code != ErrorCode::not_found) return kNowhere;
    return keys.shard_of(core::view(request.bytes, request.keys[i]));
  });
}

void RequestSplit::dispatch(const OperationPtr& op, core::ClaimRequest& request) {
  op->reply = core::ClaimReply();
  std::uint32_t first = next_shard();
  const KeyMap keys = keys_of(request.queues.front());
  if (!request.keys.empty()) {
    // The claim begins at the shard of the first key. If the keys belong to several shards, it
    // visits them all.
    first = keys.shard_of(request.keys.front());
  } else if (request.queues.size() == 1 && keys.route().at_home) {
    first = keys.home();
  }
  Part part;
  part.op = op;
  shards_.send(first, std::move(part));
}

void RequestSplit::dispatch(const OperationPtr& op, core::ListRequest& request) {
  op->reply = core::ListReply();
  std::uint32_t shard = 0;
  Part part;
  part.op = op;
  if (!request.after.empty()) {
    const std::size_t dot = request.after.find('.');
    const auto bad = [&] {
      op->fail({ErrorCode::invalid_argument,
                "after " + base::quoted(request.after) + " is not the `next` of a list"});
      shards_.end_later(op);
    };
    if (dot == std::string::npos) return bad();
    auto at = base::parse_u64(std::string_view(request.after).substr(0, dot), "after", 0,
                              shards_.size() - 1);
    auto cursor =
        base::parse_u64(std::string_view(request.after).substr(dot + 1), "after", 0, kMaxHandle);
    if (!at || !cursor) return bad();
    shard = static_cast<std::uint32_t>(*at);
    part.cursor = static_cast<Handle>(*cursor);
  }
  shards_.send(shard, std::move(part));
}

void RequestSplit::dispatch(const OperationPtr& op, core::StatsRequest&) {
  op->figures.resize(shards_.size());
  ask_all(op, StoreStats());
}

void RequestSplit::dispatch(const OperationPtr& op, core::ForecastRequest& request) {
  core::ForecastReply reply;
  reply.buckets.resize(request.buckets);
  ask_all(op, std::move(reply));
}

void RequestSplit::dispatch(const OperationPtr& op, core::ConfigureRequest& request) {
  const Objective objective = request.patch.objective.value_or(Objective());
  std::optional<Error> refused;
  if (objective != Objective() && identity_.version < kObjectiveVersion) {
    refused = needs_format("the setting objective", kObjectiveVersion);
  } else if (identity_.version < kExpiryVersion && core::refuse_expiry("", request.patch)) {
    refused = needs_format("an expiry", kExpiryVersion);
  } else if (identity_.version < kHistoryVersion && request.patch.history.value_or(0) != 0) {
    refused = needs_format("the setting history", kHistoryVersion);
  } else if (identity_.version < kLimitsVersion && core::refuse_limits("", request.patch)) {
    refused = needs_format("a limit of a queue", kLimitsVersion);
  }
  if (refused) {
    op->reply = core::ConfigureReply();
    op->fail(*std::move(refused));
    shards_.end_later(op);
    return;
  }
  if (!orders_.changes(request)) return ask_all(op, core::ConfigureReply());
  op->reply = core::ConfigureReply();
  orders_.begin(op);
}
void RequestSplit::dispatch(const OperationPtr& op, core::PauseRequest&) {
  ask_all(op, core::CountReply());
}
void RequestSplit::dispatch(const OperationPtr& op, core::ResumeRequest&) {
  ask_all(op, core::CountReply());
}
void RequestSplit::dispatch(const OperationPtr& op, core::PurgeRequest&) {
  ask_all(op, core::CountReply());
}
void RequestSplit::dispatch(const OperationPtr& op, core::RemoveRequest&) {
  op->reply = core::CountReply();
  removals_.begin(op);
}
void RequestSplit::dispatch(const OperationPtr& op, core::ReshardRequest&) {
  op->reply = ReshardStep();
  op->fail({ErrorCode::unsupported,
            "the shards of this store were fixed when it was made; only a queue in Redis can be "
            "given others"});
  shards_.end_later(op);
}
void RequestSplit::dispatch(const OperationPtr& op, core::ReviveRequest& request) {
  if (request.all) return ask_all(op, core::CountReply());
  op->reply = core::CountReply();
  const KeyMap keys = keys_of(request.queue);
  split(op, request.keys.size(),
        [&](std::size_t i) { return keys.shard_of(core::view(request.bytes, request.keys[i])); });
}

}  // namespace tarry::embedded
