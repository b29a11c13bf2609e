// Splits each kind of request into parts, and prepares its reply before the shards fill it in.
#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include "base/crc32c.h"
#include "base/text.h"
#include "core/validation.h"
#include "engines/embedded/front/front.h"
#include "engines/embedded/records/tokens.h"
#include "engines/embedded/store/key_route.h"

namespace tarry::embedded {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFF'FFFF;
// Reserves the place where the shard will write a generated key.
constexpr std::string_view kPlaceForKey = "                         ";
static_assert(kPlaceForKey.size() == kGeneratedKeySize);

core::PushReply push_reply(const std::string& request_bytes, std::size_t count) {
  core::PushReply reply;
  reply.items.resize(count);
  reply.bytes.reserve(request_bytes.size() / 4 + count * kGeneratedKeySize);
  return reply;
}

}  // namespace

std::uint32_t Front::shard_for_key(std::string_view queue, std::string_view key) const {
  return embedded::shard_for_key(config_.identity, queue, key);
}

std::uint32_t Front::shard_for_receipt(std::string_view text, ClaimName& claim,
                                       core::ItemResult& result) const {
  const auto receipt = parse_receipt(text);
  if (!receipt) {
    result.error = Error{ErrorCode::invalid_argument,
                         "receipt " + base::quoted(text) + " is not one that a claim gave"};
    return kNowhere;
  }
  if (receipt->store_tag != static_cast<std::uint32_t>(config_.identity.store_id) ||
      receipt->shard >= shards()) {
    result.outcome = Outcome::stale;
    return kNowhere;
  }
  claim = {receipt->handle, receipt->claims, receipt->id};
  return receipt->shard;
}

template <typename F>
void Front::split(const OperationPtr& op, std::size_t count, F&& shard_of) {
  std::vector<std::vector<std::uint32_t>> items(shards());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t shard = shard_of(i);
    if (shard != kNowhere) items[shard].push_back(static_cast<std::uint32_t>(i));
  }
  std::uint32_t parts = 0;
  for (const auto& of_shard : items) parts += of_shard.empty() ? 0 : 1;
  if (parts == 0) {  // no item is good: the part that every operation begins with ends here
    finish_later(op);
    return;
  }
  send_all(op, parts, [&](std::uint32_t shard) -> std::optional<Part> {
    if (items[shard].empty()) return std::nullopt;
    Part part;
    part.op = op;
    part.all_items = items[shard].size() == count;
    if (!part.all_items) part.items = std::move(items[shard]);
    return part;
  });
}

void Front::to_all(const OperationPtr& op) {
  send_all(op, shards(), [&](std::uint32_t /*shard*/) {
    std::optional<Part> part(std::in_place);
    part->op = op;
    return part;
  });
}

template <typename F>
void Front::send_all(const OperationPtr& op, std::uint32_t parts, F&& part_of) {
  op->parts.store(parts, std::memory_order_release);
  std::vector<std::pair<std::uint32_t, Part>> all;
  all.reserve(parts);
  for (std::uint32_t shard = 0; shard < shards(); ++shard) {
    if (auto part = part_of(shard)) all.emplace_back(shard, *std::move(part));
  }
  if (all.size() == 1) return send(all.front().first, std::move(all.front().second));
  std::size_t kept = 0;
  try {
    for (; kept < all.size(); ++kept) runners_[all[kept].first]->keep_place();
  } catch (...) {
    while (kept > 0) runners_[all[--kept].first]->give_place_back();
    throw;
  }
  for (auto& [shard, part] : all) {
    if (!runners_[shard]->post_kept(part)) refuse_part(part);
  }
}

template <typename Items>
void Front::split_by_receipts(const OperationPtr& op, const std::string& bytes,
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
void Front::split_pushes(const OperationPtr& op, const std::string& queue, const std::string& bytes,
                         const Items& items, const Pick& pick) {
  auto& reply = std::get<core::PushReply>(op->reply);
  // Messages without a key go to one shard together, the next request's to the next one.
  const std::uint32_t keyless = turn_.fetch_add(1, std::memory_order_relaxed) % shards();
  auto& crcs = op->prepared.payload_crcs;
  crcs.resize(items.size());
  split(op, items.size(), [&](std::size_t i) {
    const std::string_view key = core::view(bytes, pick(items[i]).key);
    // The places are laid out first; then each shard fills in its own.
    if (key.empty()) {
      reply.items[i].key = core::append(reply.bytes, kPlaceForKey);
    } else {
      reply.items[i].key = core::append(reply.bytes, key);
    }
    if (reply.items[i].error) return kNowhere;
    crcs[i] = base::crc32c(core::view(bytes, pick(items[i]).payload));
    return key.empty() ? keyless : shard_for_key(queue, key);
  });
}

void Front::dispatch(const OperationPtr& op, core::PushRequest& request) {
  core::PushReply reply = push_reply(request.bytes, request.items.size());
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i], config_.limits);
  }
  op->reply = std::move(reply);
  split_pushes(op, request.queue, request.bytes, request.items, std::identity());
}

void Front::dispatch(const OperationPtr& op, core::MoveRequest& request) {
  core::PushReply reply = push_reply(request.bytes, request.items.size());
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i], config_.limits);
  }
  op->reply = std::move(reply);
  split_pushes(op, request.queue, request.bytes, request.items,
               [](const core::MoveItem& item) -> const core::PushItem& { return item.push; });
}

void Front::dispatch(const OperationPtr& op, core::CancelRequest& request) {
  core::ItemsReply reply;
  reply.items.resize(request.keys.size());
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    reply.items[i].error = core::check_key(core::view(request.bytes, request.keys[i]));
  }
  op->reply = std::move(reply);
  auto& items = std::get<core::ItemsReply>(op->reply).items;
  split(op, items.size(), [&](std::size_t i) {
    if (items[i].error) return kNowhere;
    return shard_for_key(request.queue, core::view(request.bytes, request.keys[i]));
  });
}

void Front::dispatch(const OperationPtr& op, core::RescheduleRequest& request) {
  core::ItemsReply reply;
  reply.items.resize(request.items.size());
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i]);
  }
  op->reply = std::move(reply);
  auto& items = std::get<core::ItemsReply>(op->reply).items;
  split(op, items.size(), [&](std::size_t i) {
    if (items[i].error) return kNowhere;
    return shard_for_key(request.queue, core::view(request.bytes, request.items[i].key));
  });
}

void Front::dispatch(const OperationPtr& op, core::SettleRequest& request) {
  core::ItemsReply reply;
  reply.items.resize(request.items.size());
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i]);
  }
  op->reply = std::move(reply);
  split_by_receipts(op, request.bytes, request.items);
}

void Front::dispatch(const OperationPtr& op, core::ExtendRequest& request) {
  core::ItemsReply reply;
  reply.items.resize(request.items.size());
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    reply.items[i].error = core::check_item(request, request.items[i]);
  }
  op->reply = std::move(reply);
  split_by_receipts(op, request.bytes, request.items);
}

void Front::dispatch(const OperationPtr& op, core::GetRequest& request) {
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
  split(op, items.size(), [&](std::size_t i) {
    if (items[i].error().code != ErrorCode::not_found) return kNowhere;
    return shard_for_key(request.queue, core::view(request.bytes, request.keys[i]));
  });
}

// A shard that has none of a queue's keys does not know the queue; if the asked shards do not know
// it, another one may.
void Front::end_get(const OperationPtr& op) {
  const auto is_absent = [](const Result<MessageInfo>& item) {
    return !item && item.error().code == ErrorCode::not_found;
  };
  auto& items = std::get<core::GetReply>(op->reply).items;
  if (op->error || op->found || std::ranges::none_of(items, is_absent)) return complete(op);
  if (shards() > 1 && !std::exchange(op->asks_for_queue, true)) {
    try {
      return to_all(op);
    } catch (const std::bad_alloc&) {  // no shard has seen it, so this error is true
      return complete(op);
    }
  }
  const auto& request = std::get<core::GetRequest>(op->request);
  for (auto& item : items) {
    if (is_absent(item)) item = Error{ErrorCode::not_found, "there is no queue " + request.queue};
  }
  complete(op);
}

void Front::dispatch(const OperationPtr& op, core::ClaimRequest& request) {
  op->reply = core::ClaimReply();
  std::uint32_t first = turn_.fetch_add(1, std::memory_order_relaxed) % shards();
  if (!request.keys.empty()) {
    // Keys of several shards are found by visiting all; the first one's shard is the likeliest.
    first = shard_for_key(request.queues.front(), request.keys.front());
  }
  Part part;
  part.op = op;
  send(first, std::move(part));
}

void Front::dispatch(const OperationPtr& op, core::ListRequest& request) {
  op->reply = core::ListReply();
  std::uint32_t shard = 0;
  Part part;
  part.op = op;
  if (!request.after.empty()) {
    const std::size_t dot = request.after.find('.');
    const auto bad = [&] {
      op->fail({ErrorCode::invalid_argument,
                "after " + base::quoted(request.after) + " is not the `next` of a list"});
      finish_later(op);
    };
    if (dot == std::string::npos) return bad();
    auto at =
        base::parse_u64(std::string_view(request.after).substr(0, dot), "after", 0, shards() - 1);
    auto cursor =
        base::parse_u64(std::string_view(request.after).substr(dot + 1), "after", 0, kMaxHandle);
    if (!at || !cursor) return bad();
    shard = static_cast<std::uint32_t>(*at);
    part.cursor = static_cast<Handle>(*cursor);
  }
  send(shard, std::move(part));
}

void Front::dispatch(const OperationPtr& op, core::StatsRequest&) {
  op->reply = StoreStats();
  op->figures.resize(shards());
  to_all(op);
}

void Front::dispatch(const OperationPtr& op, core::ForecastRequest& request) {
  core::ForecastReply reply;
  reply.buckets.resize(request.buckets);
  op->reply = std::move(reply);
  to_all(op);
}

void Front::dispatch(const OperationPtr& op, core::ConfigureRequest&) {
  op->reply = core::ConfigureReply();
  to_all(op);
}
void Front::dispatch(const OperationPtr& op, core::PauseRequest&) {
  op->reply = core::CountReply();
  to_all(op);
}
void Front::dispatch(const OperationPtr& op, core::ResumeRequest&) {
  op->reply = core::CountReply();
  to_all(op);
}
void Front::dispatch(const OperationPtr& op, core::PurgeRequest&) {
  op->reply = core::CountReply();
  to_all(op);
}
void Front::dispatch(const OperationPtr& op, core::RemoveRequest&) {
  op->reply = core::CountReply();
  begin_removal(op);
}
void Front::dispatch(const OperationPtr& op, core::ReshardRequest&) {
  op->reply = ReshardStep();
  op->fail({ErrorCode::unsupported,
            "the shards of this store were fixed when it was made; only a queue in Redis can be "
            "given others"});
  finish_later(op);
}
void Front::dispatch(const OperationPtr& op, core::ReviveRequest& request) {
  op->reply = core::CountReply();
  if (request.all) {
    to_all(op);
    return;
  }
  split(op, request.keys.size(), [&](std::size_t i) {
    return shard_for_key(request.queue, core::view(request.bytes, request.keys[i]));
  });
}

}  // namespace tarry::embedded
