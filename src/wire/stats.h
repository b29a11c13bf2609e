// Figures on the wire: for one queue, for all queues, for the store.
//
//   queue:  {"queue","settings":{...},"scheduled","ready","leased","dead","remembered",
//            "waiting_claims","paused","paused_until(_ms)","oldest_ready(_ms)",
//            "counters":{...}}
//   queues: {"queues":[queue,...]}
//   store:  {"engine","served","durable","queues":[...],
//            "lateness":{"count","p50_ms",...},"disk_bytes",...}
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>
#include <tarry/settings.h>

#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::wire {

/// Writes one queue as an object.
void write_queue_stats(JsonWriter& out, const QueueStats& stats);
[[nodiscard]] std::string encode_queue_stats(const QueueStats& stats);
[[nodiscard]] std::string encode_queues(const StoreStats& stats);
[[nodiscard]] std::string encode_store_stats(const StoreStats& stats);
[[nodiscard]] Result<StoreStats> decode_store_stats(std::string_view body);

}  // namespace tarry::wire
