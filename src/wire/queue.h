// Verbs on a whole queue, and its settings, on the wire.
//
//   configure: {"lease","max_attempts","backoff_min","backoff_max","remember","dead_keep",
//               "if_exists"}, each optional -> the settings, durations as NAME_ms
//   pause:     {} or {"until"}           -> {"paused":true}
//   resume:    {}                        -> {"paused":false}
//   purge:     {}                        -> {"count":N}
//   remove:    ?force=true or nothing    -> {"count":N}
//   revive:    {"keys":[...]} or {"all":true} -> {"count":N}
//   reshard:   {"shards","turn"} -> {"turn","from","to","done","changed","moved","left","leased",
//               "waits_for"}; a first step has no "turn"
//
// An empty body means {}, if {} is allowed.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>
#include <tarry/settings.h>

#include "core/reply.h"
#include "core/request.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::wire {

/// Writes the members of the settings' object.
void write_settings(JsonWriter& out, const QueueSettings& settings);
[[nodiscard]] QueueSettings read_settings(Fields& fields);

/// Writes the members of an object with the settings that change.
void write_changes(JsonWriter& out, const SettingsPatch& patch);

[[nodiscard]] std::string encode_configure(const core::ConfigureRequest& request);
[[nodiscard]] Result<core::ConfigureRequest> decode_configure(std::string queue,
                                                              std::string_view body);
[[nodiscard]] std::string encode_configure_reply(const core::ConfigureReply& reply);
[[nodiscard]] Result<core::ConfigureReply> decode_configure_reply(std::string_view body);

[[nodiscard]] std::string encode_pause(const core::PauseRequest& request);
[[nodiscard]] Result<core::PauseRequest> decode_pause(std::string queue, std::string_view body);
[[nodiscard]] std::string encode_paused(bool paused);

/// Reads the body of resume and purge, which have no fields.
[[nodiscard]] MaybeError decode_nothing(std::string_view body);

/// Errors: `invalid_argument` for neither or both of keys and all. A key that cannot be read is an
/// error of the whole request, because the answer is only one count.
[[nodiscard]] std::string encode_revive(const core::ReviveRequest& request);
[[nodiscard]] Result<core::ReviveRequest> decode_revive(std::string queue, std::string_view body);

[[nodiscard]] std::string encode_reshard(const core::ReshardRequest& request);
[[nodiscard]] Result<core::ReshardRequest> decode_reshard(std::string queue, std::string_view body);
[[nodiscard]] std::string encode_reshard_reply(const ReshardStep& step);
[[nodiscard]] Result<ReshardStep> decode_reshard_reply(std::string_view body);

[[nodiscard]] std::string encode_count(const core::CountReply& reply);
/// Reads {"count"} or {"paused"}; the latter gives a count of 0.
[[nodiscard]] Result<core::CountReply> decode_count(std::string_view body);

}  // namespace tarry::wire
