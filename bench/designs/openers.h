// The functions that open the designs of the comparison; `comparison/entries.cpp` lists them. The
// file of each design describes it, and names the source of its idea.
#pragma once

#include <memory>

#include "designs/compared.h"

namespace tarry::bench {

using Opened = std::unique_ptr<Compared>;

Opened open_heap(const Place& place, Role role);
Opened open_plain_wheel(const Place& place, Role role);
Opened open_kafka_wheel(const Place& place, Role role);
Opened open_tarry_embedded(const Place& place, Role role);
Opened open_tarry_on_redis(const Place& place, Role role);
Opened open_tarry_on_rabbitmq(const Place& place, Role role);
Opened open_beanstalkd(const Place& place, Role role);

Opened open_sqlite_polled(const Place& place, Role role);
Opened open_postgres_polled(const Place& place, Role role);

Opened open_zset_scan(const Place& place, Role role);
Opened open_sharded_zsets(const Place& place, Role role);
Opened open_lua_pop_one(const Place& place, Role role);
Opened open_lua_batch(const Place& place, Role role);
Opened open_list_alone(const Place& place, Role role);
Opened open_zset_hash(const Place& place, Role role);
Opened open_leased_zset_hash(const Place& place, Role role);
Opened open_hourly_zsets(const Place& place, Role role);
Opened open_key_expiry(const Place& place, Role role);
Opened open_redisson_scripts(const Place& place, Role role);
Opened open_redisson(const Place& place, Role role);

Opened open_event_processes(const Place& place, Role role);
Opened open_message_ttl(const Place& place, Role role);
Opened open_queue_ttl(const Place& place, Role role);
Opened open_ttl_ladder(const Place& place, Role role);

}  // namespace tarry::bench
