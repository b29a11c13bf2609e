// The version that a broker reports, such as "3.10.8"; empty if it reports none.
#pragma once

#include <string>

#include "net/rabbit/link.h"

namespace tarry::rabbitmq {

[[nodiscard]] inline std::string version_of(const net::rabbit::RabbitLink& link) {
  const amqp_table_t* said = amqp_get_server_properties(link.state());
  for (int i = 0; said != nullptr && i < said->num_entries; ++i) {
    const amqp_table_entry_t& entry = said->entries[i];
    if (net::rabbit::view_of(entry.key) == "version" && entry.value.kind == AMQP_FIELD_KIND_UTF8) {
      return std::string(net::rabbit::view_of(entry.value.value.bytes));
    }
  }
  return {};
}

}  // namespace tarry::rabbitmq
