// The public verbs as questions to an engine: copies their arguments into requests, and reads
// replies into the public types.
//
// An item that no store can accept is refused here: its key, payload, headers or receipt is over a
// limit that is the same for all stores. The rest of its batch is submitted. A batch over its limit
// is refused as a whole. In both cases the engine is called, so that the answer comes like any
// other: in order, on the executor, and `closed` once the store is closed.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/queue.h>

#include "open/handles/ask.h"

namespace tarry::detail {

template <typename T>
using Batch = std::vector<Result<T>>;

[[nodiscard]] Question<Batch<Pushed>> ask_push(std::string queue, std::span<const Push> messages);
[[nodiscard]] Question<Batch<Answer>> ask_cancel(std::string queue,
                                                 std::span<const std::string_view> keys);
[[nodiscard]] Question<Batch<Answer>> ask_reschedule(std::string queue,
                                                     std::span<const Reschedule> items);
[[nodiscard]] Question<Batch<MessageInfo>> ask_get(std::string queue,
                                                   std::span<const std::string_view> keys);

[[nodiscard]] Question<MessageHistory> ask_history(std::string queue, std::string_view key);

[[nodiscard]] Question<std::vector<Delivery>> ask_claim(std::vector<std::string> queues,
                                                        const ClaimOptions& options);
[[nodiscard]] Question<Batch<Answer>> ask_settle(std::span<const Settle> items);
/// If the batch is refused as a whole, or the stop is requested already, it claims nothing.
[[nodiscard]] Question<SettledAndClaimed> ask_settle_and_claim(std::vector<std::string> queues,
                                                               std::span<const Settle> items,
                                                               const ClaimOptions& options);
[[nodiscard]] Question<Batch<Answer>> ask_extend(std::span<const std::string_view> receipts,
                                                 std::optional<Millis> lease);
[[nodiscard]] Question<Batch<Answer>> ask_extend(std::span<const Delivery> deliveries,
                                                 std::optional<Millis> lease);

[[nodiscard]] Question<StoreStats> ask_store_stats();
[[nodiscard]] Question<QueueStats> ask_queue_stats(std::string queue);
[[nodiscard]] Question<Page> ask_list(std::string queue, const ListOptions& options);
[[nodiscard]] Question<Forecast> ask_forecast(std::string queue, const ForecastOptions& options);
[[nodiscard]] Question<QueueSettings> ask_configure(std::string queue, const SettingsPatch& patch);
[[nodiscard]] Question<PauseOutcome> ask_pause(std::string queue, std::optional<Time> until);
[[nodiscard]] Question<void> ask_resume(std::string queue);
[[nodiscard]] Question<std::uint64_t> ask_purge(std::string queue);
[[nodiscard]] Question<std::uint64_t> ask_remove(std::string queue, bool force);
[[nodiscard]] Question<std::uint64_t> ask_revive(std::string queue,
                                                 std::span<const std::string_view> keys);
[[nodiscard]] Question<ReshardStep> ask_reshard(std::string queue, std::uint32_t shards,
                                                std::uint64_t turn);

}  // namespace tarry::detail
