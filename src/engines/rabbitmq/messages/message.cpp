#include "engines/rabbitmq/messages/message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "core/engine_parts/carried.h"
#include "net/rabbit/link.h"

namespace tarry::rabbitmq {
namespace {

using net::rabbit::amqp_view;
using net::rabbit::number_entry;
using net::rabbit::text_entry;
using net::rabbit::view_of;

constexpr std::array<std::uint32_t Tallies::*, 5> kTallies = {
    &Tallies::claims, &Tallies::run_outs, &Tallies::releases, &Tallies::buries, &Tallies::revives};

std::string text_of(const Tallies& tallies) {
  std::string text;
  for (const auto tally : kTallies) {
    if (!text.empty()) text += ' ';
    text += std::to_string(tallies.*tally);
  }
  return text;
}

Tallies tallies_of(std::string_view text) {
  Tallies tallies;
  for (const auto tally : kTallies) {
    const auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), tallies.*tally);
    if (failed != std::errc()) return core::carried(tallies);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    text.remove_prefix(std::min<std::size_t>(text.size(), 1));
  }
  return core::carried(tallies);
}

const amqp_table_entry_t* find(const amqp_basic_properties_t& properties, std::string_view name) {
  if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0) return nullptr;
  const amqp_table_t& table = properties.headers;
  for (int i = 0; i < table.num_entries; ++i) {
    if (view_of(table.entries[i].key) == name) return &table.entries[i];
  }
  return nullptr;
}

std::string_view text_at(const amqp_basic_properties_t& properties, std::string_view name) {
  const amqp_table_entry_t* entry = find(properties, name);
  if (entry == nullptr ||
      (entry->value.kind != AMQP_FIELD_KIND_UTF8 && entry->value.kind != AMQP_FIELD_KIND_BYTES)) {
    return {};
  }
  return view_of(entry->value.value.bytes);
}

std::optional<std::int64_t> number_at(const amqp_basic_properties_t& properties,
                                      std::string_view name) {
  const amqp_table_entry_t* entry = find(properties, name);
  if (entry == nullptr) return std::nullopt;
  const amqp_field_value_t& value = entry->value;
  switch (value.kind) {
    case AMQP_FIELD_KIND_I8: return value.value.i8;
    case AMQP_FIELD_KIND_U8: return value.value.u8;
    case AMQP_FIELD_KIND_I16: return value.value.i16;
    case AMQP_FIELD_KIND_U16: return value.value.u16;
    case AMQP_FIELD_KIND_I32: return value.value.i32;
    case AMQP_FIELD_KIND_U32: return value.value.u32;
    case AMQP_FIELD_KIND_I64: return value.value.i64;
    default: return std::nullopt;
  }
}

std::uint32_t count_at(const amqp_basic_properties_t& properties, std::string_view name) {
  const std::int64_t number = number_at(properties, name).value_or(0);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(number, 0, core::kMaxTally));
}

}  // namespace

MessageProperties::MessageProperties(const Message& message)
    : id_(std::to_string(message.id)), tallies_(text_of(message.tallies)) {
  entries_ = {text_entry("tarry-queue", message.queue),
              text_entry("tarry-key", message.key),
              number_entry("tarry-due-ms", message.due_ms),
              number_entry("tarry-attempt", message.attempt),
              number_entry("tarry-max-attempts", message.max_attempts),
              text_entry("tarry-tallies", tallies_)};
  if (!message.headers.empty()) entries_.push_back(text_entry("tarry-headers", message.headers));
  if (!message.reason.empty()) entries_.push_back(text_entry("tarry-reason", message.reason));
  properties_._flags =
      AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
  properties_.headers = {static_cast<int>(entries_.size()), entries_.data()};
  properties_.delivery_mode = AMQP_DELIVERY_PERSISTENT;
  properties_.message_id = amqp_view(id_);
}

Arrived arrived_of(const amqp_basic_properties_t& properties, std::string_view queue,
                   bool redelivered) {
  Arrived arrived;
  Message& message = arrived.message;
  message.id = id_of(properties);
  message.queue = queue;
  message.key = text_at(properties, "tarry-key");
  message.headers = text_at(properties, "tarry-headers");
  message.reason = text_at(properties, "tarry-reason");
  const auto due = number_at(properties, "tarry-due-ms");
  arrived.is_foreign = !due;
  message.due_ms = due.value_or(0);
  message.attempt = count_at(properties, "tarry-attempt");
  message.max_attempts = count_at(properties, "tarry-max-attempts");
  message.tallies = tallies_of(text_at(properties, "tarry-tallies"));
  const auto counted = number_at(properties, "x-delivery-count");
  arrived.redeliveries =
      counted ? count_at(properties, "x-delivery-count") : std::uint32_t{redelivered};
  return arrived;
}

std::uint64_t id_of(const amqp_basic_properties_t& properties) {
  if ((properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG) == 0) return 0;
  const std::string_view text = view_of(properties.message_id);
  std::uint64_t id = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), id);
  return failed == std::errc() && end == text.data() + text.size() ? id : 0;
}

}  // namespace tarry::rabbitmq
