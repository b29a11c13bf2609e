#include "open/handles/questions.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include "base/text/text.h"
#include "core/claimed.h"
#include "core/reply_as.h"
#include "core/rules/headers.h"
#include "core/rules/validation.h"

namespace tarry::detail {
namespace {

using core::MaybeError;

Time moment(std::int64_t ms) noexcept { return Time(Millis(ms)); }

// Remembers which items of a batch were refused, and counts the bytes of the others. `take` is
// called before the item is copied, so that a batch over its limit is not copied further, and no
// Slice of it can overflow.
class BatchFilter {
 public:
  explicit BatchFilter(std::size_t count) : count_(count), whole_(core::check_batch(count, 0)) {}

  /// Returns false if this item must be left out.
  [[nodiscard]] bool take(std::size_t index, MaybeError refused, std::size_t bytes) {
    if (whole_) return false;
    if (refused) {
      refused_.emplace_back(index, *std::move(refused));
      return false;
    }
    bytes_ += bytes;
    if (bytes_ <= core::kMaxBatchBytes) return true;
    whole_ = core::check_batch(count_, bytes_);
    return false;
  }
  [[nodiscard]] const MaybeError& whole() const noexcept { return whole_; }

  /// Returns the answers for the submitted items, with the errors of the refused items in their
  /// places.
  template <typename T, typename Item, typename Read>
  [[nodiscard]] Result<Batch<T>> merge(std::vector<Item>& answers, Read read) {
    if (whole_) return *whole_;
    Batch<T> merged;
    merged.reserve(count_);
    auto refused = refused_.begin();
    auto answer = answers.begin();
    for (std::size_t i = 0; i < count_; ++i) {
      if (refused != refused_.end() && refused->first == i) {
        merged.emplace_back(std::move(refused->second));
        ++refused;
      } else if (answer != answers.end()) {
        merged.push_back(read(*answer));
        ++answer;
      } else {
        // Fewer answers than items can only come from an engine that talks to another program.
        merged.emplace_back(Error{ErrorCode::unknown_outcome,
                                  "the store answered " + std::to_string(answers.size()) +
                                      " items of a batch of " + std::to_string(count_)});
      }
    }
    return merged;
  }

 private:
  std::size_t count_;
  std::uint64_t bytes_ = 0;
  MaybeError whole_;
  std::vector<std::pair<std::size_t, Error>> refused_;
};

template <typename R>
R emptied(R request) {
  request.bytes.clear();
  if constexpr (requires { request.items; }) {
    request.items.clear();
  } else {
    request.keys.clear();
  }
  return request;
}

/// `Reply` has items, each of which `read` turns into a Result<T>; `read` sees the reply too.
template <typename T, typename ReplyKind, typename R, typename Read>
Question<Batch<T>> batch(R request, BatchFilter filter, Read read) {
  if (filter.whole()) request = emptied(std::move(request));
  return {std::move(request), [filter = std::move(filter), read](core::Reply reply) mutable {
            auto kind = core::reply_as<ReplyKind>(std::move(reply));
            return filter.merge<T>(kind.items, [&](auto& item) { return read(kind, item); });
          }};
}

template <typename R>
Question<Batch<Answer>> answers(R request, BatchFilter filter) {
  return batch<Answer, core::ItemsReply>(
      std::move(request), std::move(filter),
      [](core::ItemsReply&, core::ItemResult& item) -> Result<Answer> {
        if (item.error) return *std::move(item.error);
        Answer answer;
        answer.outcome = item.outcome;
        if (item.due_ms) answer.due = moment(*item.due_ms);
        answer.settlement = item.settlement;
        return answer;
      });
}

struct EncodedPush {
  std::string headers;
  MaybeError refused;
};

EncodedPush encode(const Push& message) {
  if (message.key.size() > core::kMaxKey) return {{}, core::check_key(message.key)};
  if (message.payload.size() > core::kMaxMaxPayload) {
    return {{},
            Error{ErrorCode::too_large, "payload of " + std::to_string(message.payload.size()) +
                                            " bytes is over the limit of " +
                                            std::to_string(core::kMaxMaxPayload) + " bytes"}};
  }
  if (message.headers.empty()) return {};
  Result<std::string> headers = core::encode_headers(message.headers);
  if (!headers) return {{}, std::move(headers).error()};
  return {*std::move(headers), {}};
}

/// How many bytes to reserve, so that the buffer is not copied again when it grows. 0 if the batch
/// is too large anyway.
std::size_t room_for(std::span<const Push> messages) {
  std::uint64_t bytes = 0;
  for (const Push& message : messages) {
    bytes += message.key.size() + message.payload.size();
    for (const auto& header : message.headers) {
      bytes += header.name.size() + header.value.size() + 2 * sizeof(std::uint16_t);
    }
  }
  return bytes <= core::kMaxBatchBytes ? static_cast<std::size_t>(bytes) : 0;
}

MaybeError check_reason(std::string_view reason) {
  if (reason.size() <= core::kMaxReason) return {};
  return Error{ErrorCode::too_large, "reason " + base::quoted(reason) + " is over the limit of " +
                                         std::to_string(core::kMaxReason) + " bytes"};
}

// Puts the valid keys into the request.
template <typename Request>
BatchFilter take_keys(Request& request, std::span<const std::string_view> keys) {
  BatchFilter filter(keys.size());
  for (std::size_t i = 0; i < keys.size() && !filter.whole(); ++i) {
    if (!filter.take(i, core::check_key(keys[i]), keys[i].size())) continue;
    request.keys.push_back(core::append(request.bytes, keys[i]));
  }
  return filter;
}

}  // namespace

Question<Batch<Pushed>> ask_push(std::string queue, std::span<const Push> messages) {
  core::PushRequest request;
  request.queue = std::move(queue);
  BatchFilter filter(messages.size());
  if (!filter.whole()) {
    request.items.reserve(messages.size());
    request.bytes.reserve(room_for(messages));
  }
  for (std::size_t i = 0; i < messages.size() && !filter.whole(); ++i) {
    const Push& message = messages[i];
    EncodedPush encoded = encode(message);
    if (!filter.take(i, std::move(encoded.refused),
                     message.key.size() + message.payload.size() + encoded.headers.size())) {
      continue;
    }
    core::PushItem& item = request.items.emplace_back();
    item.key = core::append(request.bytes, message.key);
    item.payload = core::append(request.bytes, message.payload);
    item.headers = core::append(request.bytes, encoded.headers);
    item.due = message.due;
    item.priority = message.priority;
    item.max_attempts = message.max_attempts;
    item.if_exists = message.if_exists;
    item.expire = message.expire;
    item.expire_at = message.expire_at;
    item.spread = message.spread;
  }
  return batch<Pushed, core::PushReply>(
      std::move(request), std::move(filter),
      [](core::PushReply& reply, core::PushResult& item) -> Result<Pushed> {
        if (item.error) return *std::move(item.error);
        return Pushed{item.outcome, item.id, std::string(core::view(reply.bytes, item.key)),
                      moment(item.due_ms)};
      });
}

Question<Batch<Answer>> ask_cancel(std::string queue, std::span<const std::string_view> keys) {
  core::CancelRequest request;
  request.queue = std::move(queue);
  BatchFilter filter = take_keys(request, keys);
  return answers(std::move(request), std::move(filter));
}

Question<Batch<Answer>> ask_reschedule(std::string queue, std::span<const Reschedule> items) {
  core::RescheduleRequest request;
  request.queue = std::move(queue);
  BatchFilter filter(items.size());
  for (std::size_t i = 0; i < items.size() && !filter.whole(); ++i) {
    const Reschedule& item = items[i];
    if (!filter.take(i, core::check_key(item.key), item.key.size())) continue;
    request.items.push_back({core::append(request.bytes, item.key), item.due, item.priority});
  }
  return answers(std::move(request), std::move(filter));
}

Question<Batch<MessageInfo>> ask_get(std::string queue, std::span<const std::string_view> keys) {
  core::GetRequest request;
  request.queue = std::move(queue);
  BatchFilter filter = take_keys(request, keys);
  return batch<MessageInfo, core::GetReply>(
      std::move(request), std::move(filter),
      [](core::GetReply&, Result<MessageInfo>& item) { return std::move(item); });
}

Question<MessageHistory> ask_history(std::string queue, std::string_view key) {
  Question<MessageInfo> get = single(ask_get(std::move(queue), {&key, 1}));
  if (auto* request = std::get_if<core::GetRequest>(&get.request)) {
    request->with_payload = false;
    request->with_history = true;
  }
  return {std::move(get.request),
          [read = std::move(get.read)](core::Reply reply) mutable -> Result<MessageHistory> {
            auto info = read(std::move(reply));
            if (!info) return std::move(info).error();
            return std::move(info->history);
          }};
}

Question<std::vector<Delivery>> ask_claim(std::vector<std::string> queues,
                                          const ClaimOptions& options) {
  core::ClaimRequest request;
  request.queues = std::move(queues);
  request.max = options.max;
  request.max_bytes = options.max_bytes;
  request.lease = options.lease;
  request.wait = options.wait;
  return {std::move(request), [](core::Reply reply) -> Result<std::vector<Delivery>> {
            const auto shared = std::make_shared<const core::ClaimReply>(
                core::reply_as<core::ClaimReply>(std::move(reply)));
            std::vector<Delivery> deliveries;
            deliveries.reserve(shared->items.size());
            for (std::size_t i = 0; i < shared->items.size(); ++i) {
              deliveries.emplace_back(shared, i);
            }
            return deliveries;
          }};
}

namespace {

// The batch, without the items that the filter refuses.
core::SettleRequest settle_of(std::span<const Settle> items, BatchFilter& filter) {
  core::SettleRequest request;
  if (!filter.whole()) request.items.reserve(items.size());
  for (std::size_t i = 0; i < items.size() && !filter.whole(); ++i) {
    const Settle& item = items[i];
    MaybeError refused = core::check_receipt(item.receipt);
    if (!refused) refused = core::check_action(item.action);
    if (!refused) refused = check_reason(item.reason);
    if (!filter.take(i, std::move(refused), item.receipt.size() + item.reason.size())) continue;
    core::SettleItem& sent = request.items.emplace_back();
    sent.receipt = core::append(request.bytes, item.receipt);
    sent.action = core::settle_action(item.action);
    sent.delay = item.delay;
    sent.priority = item.priority;
    sent.reason = core::append(request.bytes, item.reason);
  }
  return request;
}

}  // namespace

Question<Batch<Answer>> ask_settle(std::span<const Settle> items) {
  BatchFilter filter(items.size());
  core::SettleRequest request = settle_of(items, filter);
  return answers(std::move(request), std::move(filter));
}

Question<SettledAndClaimed> ask_settle_and_claim(std::vector<std::string> queues,
                                                 std::span<const Settle> items,
                                                 const ClaimOptions& options) {
  BatchFilter filter(items.size());
  core::SettleRequest request = settle_of(items, filter);
  const bool claims = !filter.whole() && !options.stop.stop_requested();
  Question<Batch<Answer>> settle = answers(std::move(request), std::move(filter));
  if (!claims) {
    return {
        std::move(settle.request),
        [read = std::move(settle.read)](core::Reply reply) mutable -> Result<SettledAndClaimed> {
          Result<Batch<Answer>> settled = read(std::move(reply));
          if (!settled) return std::move(settled).error();
          return SettledAndClaimed{*std::move(settled), std::vector<Delivery>()};
        }};
  }
  Question<std::vector<Delivery>> claim = ask_claim(std::move(queues), options);
  std::get<core::ClaimRequest>(claim.request).settle =
      std::get<core::SettleRequest>(std::move(settle.request));
  return {std::move(claim.request),
          [read_settled = std::move(settle.read), read_claimed = std::move(claim.read)](
              core::Reply reply) mutable -> Result<SettledAndClaimed> {
            auto claimed = core::reply_as<core::ClaimReply>(std::move(reply));
            std::optional<Error> error = std::move(claimed.claim_error);
            Result<Batch<Answer>> settled =
                read_settled(core::ItemsReply{std::exchange(claimed.settled, {})});
            if (!settled) return std::move(settled).error();
            if (error) return SettledAndClaimed{*std::move(settled), *std::move(error)};
            return SettledAndClaimed{*std::move(settled), read_claimed(std::move(claimed))};
          }};
}

Question<Batch<Answer>> ask_extend(std::span<const std::string_view> receipts,
                                   std::optional<Millis> lease) {
  core::ExtendRequest request;
  BatchFilter filter(receipts.size());
  for (std::size_t i = 0; i < receipts.size() && !filter.whole(); ++i) {
    if (!filter.take(i, core::check_receipt(receipts[i]), receipts[i].size())) continue;
    request.items.push_back({core::append(request.bytes, receipts[i]), lease});
  }
  return answers(std::move(request), std::move(filter));
}

Question<Batch<Answer>> ask_extend(std::span<const Delivery> deliveries,
                                   std::optional<Millis> lease) {
  std::vector<std::string_view> receipts;
  receipts.reserve(deliveries.size());
  for (const Delivery& delivery : deliveries) receipts.push_back(delivery.receipt());
  return ask_extend(receipts, lease);
}

Question<StoreStats> ask_store_stats() {
  return {core::StatsRequest{}, [](core::Reply reply) -> Result<StoreStats> {
            return core::reply_as<StoreStats>(std::move(reply));
          }};
}

Question<QueueStats> ask_queue_stats(std::string queue) {
  core::StatsRequest request{queue};
  return {std::move(request), [queue = std::move(queue)](core::Reply reply) -> Result<QueueStats> {
            // For the engine an empty name means all queues, so the name is checked here.
            if (auto error = core::check_queue_name(queue)) return *std::move(error);
            auto stats = core::reply_as<StoreStats>(std::move(reply));
            const auto found = std::ranges::find(stats.queues, queue, &QueueStats::queue);
            if (found != stats.queues.end()) return std::move(*found);
            return Unexpected(ErrorCode::not_found,
                              "queue " + base::quoted(queue) + " does not exist in this store");
          }};
}

Question<Page> ask_list(std::string queue, const ListOptions& options) {
  core::ListRequest request;
  request.queue = std::move(queue);
  request.state = options.state;
  request.after = options.after;
  request.prefix = std::string(options.prefix);
  request.limit = options.limit;
  request.whole = options.whole;
  return {std::move(request), [](core::Reply reply) -> Result<Page> {
            auto list = core::reply_as<core::ListReply>(std::move(reply));
            return Page{std::move(list.messages), std::move(list.next)};
          }};
}

Question<Forecast> ask_forecast(std::string queue, const ForecastOptions& options) {
  return {core::ForecastRequest{std::move(queue), options.width, options.buckets, options.from},
          [width = options.width, from = options.from](core::Reply reply) -> Result<Forecast> {
            auto found = core::reply_as<core::ForecastReply>(std::move(reply));
            return Forecast{width, found.due_now, std::move(found.buckets), found.later, from};
          }};
}

Question<QueueSettings> ask_configure(std::string queue, const SettingsPatch& patch) {
  return {core::ConfigureRequest{std::move(queue), patch},
          [](core::Reply reply) -> Result<QueueSettings> {
            return core::reply_as<core::ConfigureReply>(std::move(reply)).settings;
          }};
}

Question<PauseOutcome> ask_pause(std::string queue, std::optional<Time> until) {
  return {core::PauseRequest{std::move(queue), until},
          [](core::Reply reply) -> Result<PauseOutcome> {
            return core::reply_as<core::CountReply>(std::move(reply)).count > 0
                       ? PauseOutcome::paused
                       : PauseOutcome::already_over;
          }};
}

Question<void> ask_resume(std::string queue) {
  return {core::ResumeRequest{std::move(queue)}, [](const core::Reply&) { return Result<void>(); }};
}

Question<std::uint64_t> ask_purge(std::string queue) {
  return {core::PurgeRequest{std::move(queue)}, [](core::Reply reply) -> Result<std::uint64_t> {
            return core::reply_as<core::CountReply>(std::move(reply)).count;
          }};
}

Question<std::uint64_t> ask_remove(std::string queue, bool force) {
  return {core::RemoveRequest{std::move(queue), force},
          [](core::Reply reply) -> Result<std::uint64_t> {
            return core::reply_as<core::CountReply>(std::move(reply)).count;
          }};
}

Question<ReshardStep> ask_reshard(std::string queue, std::uint32_t shards, std::uint64_t turn) {
  return {core::ReshardRequest{std::move(queue), shards, turn},
          [](core::Reply reply) -> Result<ReshardStep> {
            return core::reply_as<ReshardStep>(std::move(reply));
          }};
}

Question<std::uint64_t> ask_revive(std::string queue, std::span<const std::string_view> keys) {
  core::ReviveRequest request;
  request.queue = std::move(queue);
  request.all = keys.empty();
  MaybeError whole = core::check_batch(keys.size(), 0);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < keys.size() && !whole; ++i) {
    whole = core::check_key(keys[i]);
    bytes += keys[i].size();
    if (!whole) whole = core::check_batch(keys.size(), bytes);
    if (!whole) request.keys.push_back(core::append(request.bytes, keys[i]));
  }
  if (whole) request = emptied(std::move(request));
  return {std::move(request),
          [whole = std::move(whole)](core::Reply reply) -> Result<std::uint64_t> {
            if (whole) return *whole;
            return core::reply_as<core::CountReply>(std::move(reply)).count;
          }};
}

}  // namespace tarry::detail
