#include "relay/rabbit/properties.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/text/base64.h"
#include "base/text/text.h"
#include "core/rules/headers.h"
#include "leases/settlement.h"
#include "net/rabbit/link.h"

namespace tarry::relay::rabbit {

using net::rabbit::amqp_view;
using net::rabbit::number_entry;
using net::rabbit::text_entry;
using net::rabbit::view_of;

namespace {

constexpr std::string_view kOurs = "tarry-";
constexpr std::string_view kAmqp = "amqp-";
constexpr std::string_view kDeliveryMode = "amqp-delivery-mode";
constexpr std::string_view kPriority = "amqp-priority";
constexpr std::string_view kTimestamp = "amqp-timestamp";
constexpr std::string_view kMessageId = "amqp-message-id";
constexpr std::string_view kUserId = "amqp-user-id";
constexpr std::string_view kCopies = "CC";
constexpr std::string_view kBlindCopies = "BCC";
constexpr std::string_view kCopiesAside = "tarry-CC";
constexpr std::string_view kBlindCopiesAside = "tarry-BCC";
constexpr std::size_t kMaxShortText = 255;
constexpr std::size_t kMaxTable = 131'072;  // the size of a frame
constexpr std::uint8_t kPersistent = 2;
constexpr std::string_view kDropped = "tarry-headers-dropped";
constexpr std::size_t kDroppedRoom = 1 + kDropped.size() + 1 + 8;  // bytes of the entry kDropped

struct TextProperty {
  std::string_view header;
  amqp_flags_t flag;
  amqp_bytes_t amqp_basic_properties_t::* field;
};
constexpr std::array<TextProperty, 10> kTextProperties{{
    {"amqp-content-type", AMQP_BASIC_CONTENT_TYPE_FLAG, &amqp_basic_properties_t::content_type},
    {"amqp-content-encoding", AMQP_BASIC_CONTENT_ENCODING_FLAG,
     &amqp_basic_properties_t::content_encoding},
    {"amqp-correlation-id", AMQP_BASIC_CORRELATION_ID_FLAG,
     &amqp_basic_properties_t::correlation_id},
    {"amqp-reply-to", AMQP_BASIC_REPLY_TO_FLAG, &amqp_basic_properties_t::reply_to},
    {kExpirationHeader, AMQP_BASIC_EXPIRATION_FLAG, &amqp_basic_properties_t::expiration},
    {kMessageId, AMQP_BASIC_MESSAGE_ID_FLAG, &amqp_basic_properties_t::message_id},
    {"amqp-type", AMQP_BASIC_TYPE_FLAG, &amqp_basic_properties_t::type},
    {kUserId, AMQP_BASIC_USER_ID_FLAG, &amqp_basic_properties_t::user_id},
    {"amqp-app-id", AMQP_BASIC_APP_ID_FLAG, &amqp_basic_properties_t::app_id},
    {"amqp-cluster-id", AMQP_BASIC_CLUSTER_ID_FLAG, &amqp_basic_properties_t::cluster_id},
}};

bool has(const amqp_basic_properties_t& properties, amqp_flags_t flag) {
  return (properties._flags & flag) != 0;
}

/// Whether this AMQP header can become a header of the message unchanged.
bool is_plain_text(const amqp_table_entry_t& entry) {
  const std::string_view name = view_of(entry.key);
  return entry.value.kind == AMQP_FIELD_KIND_UTF8 && !name.starts_with(kAmqp) &&
         core::encode_headers({{std::string(name), {}}}).has_value();
}

std::string encoded(std::vector<amqp_table_entry_t>& entries) {
  amqp_table_t table{static_cast<int>(entries.size()), entries.data()};
  for (std::size_t room = 1'024; room <= kMaxTable; room *= 2) {
    std::string bytes(room, '\0');
    std::size_t used = 0;
    if (amqp_encode_table({bytes.size(), bytes.data()}, &table, &used) == AMQP_STATUS_OK) {
      return base::base64_encode(std::string_view(bytes).substr(0, used));
    }
  }
  return {};
}

/// How many bytes the entry takes in a table. Writes to `buffer` to find out.
std::size_t encoded_size(amqp_table_entry_t entry, std::string& buffer) {
  constexpr std::size_t kTableHead = 4;
  amqp_table_t table{1, &entry};
  std::size_t used = 0;
  const int status = amqp_encode_table({buffer.size(), buffer.data()}, &table, &used);
  return status == AMQP_STATUS_OK ? used - kTableHead : buffer.size();
}

}  // namespace

Properties::Properties(Headers headers) : headers_(std::move(headers)) {
  properties_._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
  properties_.delivery_mode = kPersistent;
}
Properties::~Properties() {
  if (pool_) empty_amqp_pool(pool_.get());
}

void Properties::add(std::string_view name, std::string value) {
  texts_.push_back(std::move(value));
  entries_.push_back(text_entry(name, texts_.back()));
}
void Properties::add(std::string_view name, std::int64_t value) {
  entries_.push_back(number_entry(name, value));
}
void Properties::set_message_id(std::string id) {
  texts_.push_back(std::move(id));
  properties_._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
  properties_.message_id = amqp_view(texts_.back());
}

Result<void> Properties::restore(std::string_view user, Copies copies) {
  restored_from_ = entries_.size();
  for (const Header& header : headers_) {
    if (header.name.starts_with(kOurs)) continue;
    if (header.name.starts_with(kAmqp)) {
      if (const auto known = restore_property(header, user, copies); !known) return known.error();
      continue;
    }
    if (const auto kept = restore_entry(text_entry(header.name, header.value), copies); !kept) {
      return kept.error();
    }
  }
  return {};
}

Result<void> Properties::restore_entry(amqp_table_entry_t entry, Copies copies) {
  const std::string_view name = view_of(entry.key);
  if (name != kCopies && name != kBlindCopies) {
    entries_.push_back(entry);
    return {};
  }
  const bool is_list = entry.value.kind == AMQP_FIELD_KIND_ARRAY;
  switch (copies) {
    case Copies::set_aside:
      entry.key = amqp_view(name == kCopies ? kCopiesAside : kBlindCopiesAside);
      break;
    case Copies::refused:
      return Unexpected(ErrorCode::invalid_argument,
                        "header " + std::string(name) +
                            " names further routing keys to RabbitMQ; allow_cc=yes lets it");
    case Copies::allowed:
      if (is_list) break;
      return Unexpected(ErrorCode::invalid_argument,
                        "header " + std::string(name) +
                            " is a list of routing keys to RabbitMQ; this one is no list");
  }
  entries_.push_back(entry);
  return {};
}

Result<bool> Properties::restore_property(const Header& header, std::string_view user,
                                          Copies copies) {
  if (header.name == kTableHeader) {
    if (const auto done = restore_table(header.value, copies); !done) return done.error();
    return true;
  }
  const auto number = [&](std::uint64_t least, std::uint64_t most) {
    return base::parse_u64(header.value, "header " + header.name, least, most);
  };
  if (header.name == kDeliveryMode || header.name == kPriority || header.name == kTimestamp) {
    const bool mode = header.name == kDeliveryMode;
    const std::uint64_t most = header.name == kTimestamp ? INT64_MAX : mode ? 2 : 255;
    const auto value = number(mode ? 1 : 0, most);
    if (!value) return value.error();
    if (mode) {
      properties_.delivery_mode = static_cast<std::uint8_t>(*value);
    } else if (header.name == kPriority) {
      properties_._flags |= AMQP_BASIC_PRIORITY_FLAG;
      properties_.priority = static_cast<std::uint8_t>(*value);
    } else {
      properties_._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
      properties_.timestamp = *value;
    }
    return true;
  }
  const auto* known =
      std::ranges::find(kTextProperties, std::string_view(header.name), &TextProperty::header);
  if (known == kTextProperties.end()) return false;
  if (header.name == kUserId && header.value != user) return true;
  if (header.name == kExpirationHeader) {
    if (const auto ms = number(0, UINT32_MAX); !ms) return ms.error();
  }
  if (header.value.size() > kMaxShortText) {
    return Unexpected(ErrorCode::invalid_argument,
                      "header " + header.name + " has " + std::to_string(header.value.size()) +
                          " bytes; as a property of AMQP up to 255 are possible");
  }
  properties_._flags |= known->flag;
  properties_.*(known->field) = amqp_view(header.value);
  return true;
}

Result<void> Properties::restore_table(std::string_view base64, Copies copies) {
  const Unexpected wrong(
      ErrorCode::invalid_argument,
      "header amqp-headers is no AMQP table in base64: " + std::string(base::quoted(base64, 40)));
  if (pool_) return wrong;  // the header occurs twice
  auto bytes = base::base64_decode(base64);
  if (!bytes) return wrong;
  texts_.push_back(*std::move(bytes));
  pool_ = std::make_unique<amqp_pool_t>();
  init_amqp_pool(pool_.get(), 1'024);
  amqp_table_t table{};
  std::size_t used = 0;
  if (amqp_decode_table(amqp_view(texts_.back()), pool_.get(), &table, &used) != AMQP_STATUS_OK ||
      used != texts_.back().size()) {
    return wrong;
  }
  for (int i = 0; i < table.num_entries; ++i) {
    if (view_of(table.entries[i].key).starts_with(kOurs)) continue;
    if (const auto kept = restore_entry(table.entries[i], copies); !kept) return kept.error();
  }
  return {};
}

Properties::Sizes Properties::sizes() const {
  std::string buffer(2 * kMaxTable, '\0');
  Sizes sizes;
  for (const amqp_table_entry_t& entry : entries_) {
    sizes.total += sizes.entries.emplace_back(encoded_size(entry, buffer));
  }
  amqp_basic_properties_t others = properties_;
  others._flags |= AMQP_BASIC_HEADERS_FLAG;
  others.headers = amqp_empty_table;
  const int rest = amqp_encode_properties(AMQP_BASIC_CLASS, &others, amqp_view(buffer));
  sizes.total += static_cast<std::size_t>(std::max(rest, 0));
  return sizes;
}

std::size_t Properties::size() const { return sizes().total; }

void Properties::fit(std::size_t room) {
  auto [sizes, total] = this->sizes();
  if (total <= room) return;
  const std::size_t before = entries_.size();
  for (total += kDroppedRoom; total > room && entries_.size() > restored_from_;) {
    const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(restored_from_);
    const auto largest = std::max_element(first, sizes.end());
    total -= *largest;
    entries_.erase(entries_.begin() + (largest - sizes.begin()));
    sizes.erase(largest);
  }
  add(kDropped, static_cast<std::int64_t>(before - entries_.size()));
}

void Properties::finish() {
  properties_._flags |= AMQP_BASIC_HEADERS_FLAG;
  properties_.headers = {static_cast<int>(entries_.size()), entries_.data()};
}

Result<std::unique_ptr<Properties>> properties_of(const Delivery& delivery, std::string_view user,
                                                  Copies copies) {
  auto properties = std::make_unique<Properties>(delivery.headers());
  properties->add("tarry-queue", std::string(delivery.queue()));
  properties->add("tarry-key", std::string(delivery.key()));
  properties->add("tarry-attempt", std::int64_t{delivery.attempt()});
  properties->add("tarry-due-ms", delivery.due().time_since_epoch().count());
  if (const auto restored = properties->restore(user, copies); !restored) return restored.error();
  if (has(properties->get(), AMQP_BASIC_MESSAGE_ID_FLAG)) {
    properties->add("tarry-id", std::to_string(delivery.id()));
  } else {
    properties->set_message_id(std::to_string(delivery.id()));
  }
  properties->finish();
  return properties;
}

std::unique_ptr<Properties> properties_of_refused(const Headers& headers, std::string_view reason,
                                                  std::size_t room) {
  Headers kept;
  std::vector<std::pair<std::string_view, std::string>> told;
  for (const Header& header : headers) {
    if (header.name == kExchangeHeader) {
      told.emplace_back("tarry-exchange", header.value);
    } else if (header.name == kRoutingKeyHeader) {
      told.emplace_back("tarry-routing-key", header.value);
    } else if (header.name == kExpirationHeader) {
      told.emplace_back("tarry-expiration", header.value);
    } else if (header.name != kDeliveryMode && header.name != kUserId) {
      kept.push_back(header);
    }
  }
  auto properties = std::make_unique<Properties>(std::move(kept));
  properties->add("tarry-reason", leases::fit_reason(reason));
  for (auto& [name, value] : told) properties->add(name, std::move(value));
  // The message came by AMQP, so AMQP can express its headers.
  static_cast<void>(properties->restore({}, Copies::set_aside));
  properties->fit(room);
  properties->finish();
  return properties;
}

std::string id_of(const amqp_basic_properties_t& properties) {
  if (has(properties, AMQP_BASIC_HEADERS_FLAG)) {
    for (int i = 0; i < properties.headers.num_entries; ++i) {
      const amqp_table_entry_t& entry = properties.headers.entries[i];
      if (view_of(entry.key) == "tarry-id" && entry.value.kind == AMQP_FIELD_KIND_UTF8) {
        return std::string(view_of(entry.value.value.bytes));
      }
    }
  }
  if (!has(properties, AMQP_BASIC_MESSAGE_ID_FLAG)) return {};
  return std::string(view_of(properties.message_id));
}

Headers headers_of(const amqp_basic_properties_t& properties, std::string_view exchange,
                   std::string_view routing_key) {
  Headers headers;
  const auto add = [&](std::string_view name, std::string value) {
    headers.push_back({std::string(name), std::move(value)});
  };
  add(kExchangeHeader, std::string(exchange));
  add(kRoutingKeyHeader, std::string(routing_key));
  for (const TextProperty& property : kTextProperties) {
    if (has(properties, property.flag)) {
      add(property.header, std::string(view_of(properties.*(property.field))));
    }
  }
  // The header is set even if the message is not persistent, because a relay's messages are
  // persistent by default.
  const bool persistent =
      has(properties, AMQP_BASIC_DELIVERY_MODE_FLAG) && properties.delivery_mode == kPersistent;
  add(kDeliveryMode, persistent ? "2" : "1");
  if (has(properties, AMQP_BASIC_PRIORITY_FLAG)) {
    add(kPriority, std::to_string(properties.priority));
  }
  if (has(properties, AMQP_BASIC_TIMESTAMP_FLAG)) {
    add(kTimestamp, std::to_string(properties.timestamp));
  }
  if (!has(properties, AMQP_BASIC_HEADERS_FLAG)) return headers;
  std::vector<amqp_table_entry_t> others;
  for (int i = 0; i < properties.headers.num_entries; ++i) {
    const amqp_table_entry_t& entry = properties.headers.entries[i];
    if (view_of(entry.key).starts_with(kOurs)) continue;
    if (is_plain_text(entry)) {
      add(view_of(entry.key), std::string(view_of(entry.value.value.bytes)));
    } else {
      others.push_back(entry);
    }
  }
  if (!others.empty()) add(kTableHeader, encoded(others));
  return headers;
}

}  // namespace tarry::relay::rabbit
