#include "wire/queue.h"

#include <type_traits>

#include "core/rules/expiry.h"
#include "core/settings/delivery_rate.h"
#include "core/settings/grouping.h"
#include "core/settings/if_exists.h"
#include "core/settings/objective.h"
#include "core/settings/settings_table.h"
#include "wire/parts/items.h"

namespace tarry::wire {
namespace {

void write_setting(JsonWriter& out, const core::DurationSetting& row, Millis value) {
  out.millis_field(row.name, value.count());
}
void write_setting(JsonWriter& out, const core::CountSetting& row, std::uint32_t value) {
  out.field(row.name, std::uint64_t{value});
}
void write_setting(JsonWriter& out, const core::LimitSetting& row, std::uint32_t value) {
  out.field(row.name, std::uint64_t{value});
}
void write_setting(JsonWriter& out, const core::RuleSetting& row, IfExists value) {
  out.field(row.name, to_string(value));
}
void write_setting(JsonWriter& out, const core::OnExpirySetting& row, OnExpiry value) {
  out.field(row.name, to_string(value));
}
void write_setting(JsonWriter& out, const core::RateSetting& row, DeliveryRate value) {
  out.text_field(row.name, core::delivery_rate_text(value));
}
void write_setting(JsonWriter& out, const core::GroupSetting& row, const Grouping& value) {
  out.text_field(row.name, core::grouping_text(value));
}
void write_setting(JsonWriter& out, const core::GroupOrderSetting& row, GroupOrder value) {
  out.field(row.name, to_string(value));
}
void write_setting(JsonWriter& out, const core::ObjectiveSetting& row, Objective value) {
  out.text_field(row.name, core::objective_text(value));
}

// Reads a setting as answers spell it.
std::optional<Millis> read_setting(Fields& fields, const core::DurationSetting& row) {
  const auto ms = fields.millis(row.name_ms);
  return ms ? std::optional(Millis(*ms)) : std::nullopt;
}
std::optional<std::uint32_t> read_setting(Fields& fields, const core::CountSetting& row) {
  return fields.u32(row.name);
}
std::optional<std::uint32_t> read_setting(Fields& fields, const core::LimitSetting& row) {
  return fields.u32(row.name);
}
std::optional<IfExists> read_setting(Fields& fields, const core::RuleSetting& row) {
  return fields.choice(row.name, core::kEveryIfExists);
}
std::optional<OnExpiry> read_setting(Fields& fields, const core::OnExpirySetting& row) {
  return fields.choice(row.name, core::kEveryOnExpiry);
}
std::optional<DeliveryRate> read_setting(Fields& fields, const core::RateSetting& row) {
  const auto text = fields.text(row.name);
  if (!text) return std::nullopt;
  const auto rate = core::parse_delivery_rate(*text);
  if (!rate) fields.fail(rate.error());
  return rate ? std::optional(*rate) : std::nullopt;
}
std::optional<Grouping> read_setting(Fields& fields, const core::GroupSetting& row) {
  const auto text = fields.text(row.name);
  if (!text) return std::nullopt;
  const auto grouping = core::parse_grouping(*text);
  if (!grouping) fields.fail(grouping.error());
  return grouping ? std::optional(*grouping) : std::nullopt;
}
std::optional<GroupOrder> read_setting(Fields& fields, const core::GroupOrderSetting& row) {
  return fields.choice(row.name, core::kEveryGroupOrder);
}
std::optional<Objective> read_setting(Fields& fields, const core::ObjectiveSetting& row) {
  const auto text = fields.text(row.name);
  if (!text) return std::nullopt;
  const auto objective = core::parse_objective(*text);
  if (!objective) fields.fail(objective.error());
  return objective ? std::optional(*objective) : std::nullopt;
}

// Reads a setting in any spelling that requests may use.
std::optional<Millis> ask_setting(Fields& fields, const core::DurationSetting& row) {
  return fields.duration(row.name, row.name_ms);
}
std::optional<std::uint32_t> ask_setting(Fields& fields, const core::CountSetting& row) {
  return fields.u32(row.name, row.min, row.max);
}
std::optional<std::uint32_t> ask_setting(Fields& fields, const core::LimitSetting& row) {
  return fields.u32(row.name, 0, row.max);
}
std::optional<IfExists> ask_setting(Fields& fields, const core::RuleSetting& row) {
  return read_setting(fields, row);
}
std::optional<OnExpiry> ask_setting(Fields& fields, const core::OnExpirySetting& row) {
  return read_setting(fields, row);
}
std::optional<DeliveryRate> ask_setting(Fields& fields, const core::RateSetting& row) {
  return read_setting(fields, row);
}
std::optional<Grouping> ask_setting(Fields& fields, const core::GroupSetting& row) {
  return read_setting(fields, row);
}
std::optional<GroupOrder> ask_setting(Fields& fields, const core::GroupOrderSetting& row) {
  return read_setting(fields, row);
}
std::optional<Objective> ask_setting(Fields& fields, const core::ObjectiveSetting& row) {
  return read_setting(fields, row);
}

std::string_view or_nothing(std::string_view body) noexcept { return body.empty() ? "{}" : body; }

}  // namespace

void write_settings(JsonWriter& out, const QueueSettings& settings) {
  core::each_setting([&](const auto& row) {
    using Row = std::remove_cvref_t<decltype(row)>;
    if constexpr (std::is_same_v<Row, core::ObjectiveSetting> ||
                  std::is_same_v<Row, core::ExpireSetting> ||
                  std::is_same_v<Row, core::OnExpirySetting> ||
                  std::is_same_v<Row, core::LimitSetting> ||
                  std::is_same_v<Row, core::RateSetting> ||
                  std::is_same_v<Row, core::GroupSetting> ||
                  std::is_same_v<Row, core::GroupOrderSetting>) {  // absent in older versions
      if (settings.*row.value == QueueSettings().*row.value) return;
    }
    write_setting(out, row, settings.*row.value);
  });
}

QueueSettings read_settings(Fields& fields) {
  QueueSettings settings;
  core::each_setting([&](const auto& row) {
    settings.*row.value = read_setting(fields, row).value_or(settings.*row.value);
  });
  return settings;
}

void write_changes(JsonWriter& out, const SettingsPatch& patch) {
  core::each_setting([&](const auto& row) {
    if (const auto& change = patch.*row.change) write_setting(out, row, *change);
  });
}

std::string encode_configure(const core::ConfigureRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_changes(out, request.patch);
  out.end_object();
  return text;
}

Result<core::ConfigureRequest> decode_configure(std::string queue, std::string_view body) {
  return decode_body(or_nothing(body), [&](Fields& fields) {
    core::ConfigureRequest request{std::move(queue), {}};
    core::each_setting(
        [&](const auto& row) { request.patch.*row.change = ask_setting(fields, row); });
    return request;
  });
}

std::string encode_configure_reply(const core::ConfigureReply& reply) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_settings(out, reply.settings);
  out.end_object();
  return text;
}

Result<core::ConfigureReply> decode_configure_reply(std::string_view body) {
  return decode_answer(body, [&](Fields& fields) {
    fields.require("lease_ms");
    core::ConfigureReply reply{read_settings(fields)};
    return reply;
  });
}

std::string encode_pause(const core::PauseRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  if (request.until) out.moment_field("until", request.until->time_since_epoch().count());
  out.end_object();
  return text;
}

Result<core::PauseRequest> decode_pause(std::string queue, std::string_view body) {
  return decode_body(or_nothing(body), [&](Fields& fields) {
    core::PauseRequest request{std::move(queue), fields.moment("until", "until_ms")};
    return request;
  });
}

std::string encode_paused(bool paused) {
  return paused ? R"({"paused":true})" : R"({"paused":false})";
}

MaybeError decode_nothing(std::string_view body) {
  body = or_nothing(body);
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return error;
  return Fields(document.root(), "the body", Unknown::refused).finish();
}

std::string encode_revive(const core::ReviveRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  if (request.all) {
    out.field_bool("all", true);
  } else {
    write_keys(out, request.keys, request.bytes);
  }
  out.end_object();
  return text;
}

Result<core::ReviveRequest> decode_revive(std::string queue, std::string_view body) {
  body = or_nothing(body);
  Document document(body.size());
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the body", Unknown::refused);
  core::ReviveRequest request;
  request.queue = std::move(queue);
  const KeyFields keys = take_keys(fields);
  request.all = fields.boolean("all").value_or(false);
  // An empty list counts as no list, because many clients send one for a field that was not set.
  if (request.all ? !keys.empty() : !keys.given()) {
    fields.fail({ErrorCode::invalid_argument, "name the dead by \"keys\", or say \"all\": true"});
  }
  if (MaybeError error = fields.finish()) return *error;
  BadItems bad;
  Keys named = read_keys(keys, bad);
  if (!bad.empty()) return std::move(bad.front().error);
  request.keys = std::move(named.keys);
  request.bytes = std::move(named.bytes);
  return request;
}

std::string encode_reshard(const core::ReshardRequest& request) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().field("shards", std::uint64_t{request.shards});
  if (request.turn != 0) out.id_field("turn", request.turn);
  out.end_object();
  return text;
}

Result<core::ReshardRequest> decode_reshard(std::string queue, std::string_view body) {
  return decode_body(body, [&](Fields& fields) {
    core::ReshardRequest request;
    request.queue = std::move(queue);
    fields.require("shards");
    request.shards = fields.u32("shards", 1, core::kMaxShards).value_or(0);
    request.turn = fields.id("turn").value_or(0);
    return request;
  });
}

std::string encode_reshard_reply(const ReshardStep& step) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().id_field("turn", step.turn);
  out.field("from", std::uint64_t{step.from}).field("to", std::uint64_t{step.to});
  out.field_bool("done", step.done).field_bool("changed", step.changed);
  out.field("moved", step.moved).field("left", step.left).field("leased", step.leased);
  out.text_field("waits_for", step.waits_for).end_object();
  return text;
}

Result<ReshardStep> decode_reshard_reply(std::string_view body) {
  return decode_answer(body, [&](Fields& fields) {
    // Without these fields, any step would be read as the first one (turn 0), and the last step as
    // one after which others follow.
    for (const std::string_view needed : {"turn", "from", "to", "done"}) fields.require(needed);
    ReshardStep step;
    step.turn = fields.id("turn").value_or(0);
    step.from = fields.u32("from").value_or(0);
    step.to = fields.u32("to").value_or(0);
    step.done = fields.boolean("done").value_or(false);
    step.changed = fields.boolean("changed").value_or(false);
    step.moved = fields.u64("moved").value_or(0);
    step.left = fields.u64("left").value_or(0);
    step.leased = fields.u64("leased").value_or(0);
    step.waits_for = fields.text("waits_for").value_or("");
    return step;
  });
}

std::string encode_count(const core::CountReply& reply) {
  std::string text;
  JsonWriter(text).begin_object().field("count", reply.count).end_object();
  return text;
}

Result<core::CountReply> decode_count(std::string_view body) {
  return decode_answer(body, [&](Fields& fields) {
    if (!fields.has("paused")) fields.require("count");
    core::CountReply reply{fields.u64("count").value_or(0)};
    if (fields.boolean("paused").value_or(false)) reply.count = 1;
    return reply;
  });
}

}  // namespace tarry::wire
